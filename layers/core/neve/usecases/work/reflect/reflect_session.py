"""In-session reflection: when a session's live observations and reflections reach their trigger, fold all of them into
fewer rows (docs/rules/reflect.md#trigger). Behind a pass the pack is rebuilt, too; a compaction rebuilds it itself."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import accumulate
from typing import Protocol

from neve.domain.memories.live_rows import live_row
from neve.domain.memories.text import fingerprint, observed_date, referenced_date, time_of_day
from neve.domain.observe.defaults import BASE_TAG
from neve.domain.observe.trust import lowest
from neve.domain.records.markers import LiveRow, SessionMarker
from neve.domain.records.memories import Kind, Memory, Priority, Provenance, Scope, Status, Tier
from neve.domain.reflect.inherited import Sources, inherited
from neve.domain.sessions.participants import SESSION_ONLY
from neve.domain.times import iso, parse
from neve.domain.validity import is_bounded
from neve.observing import Reflected, ReflectGroup, ReflectInput, SecondsLeft, for_ever
from neve.ports.errors import ContentRefused, ModelUnavailable, StoreUnavailable
from neve.ports.table import WriteOp
from neve.scope import SessionScope
from neve.store import rows
from neve.store.memories import active_memories
from neve.store.transact import transact
from neve.usecases.core.lag.note_model import noting_the_model
from neve.usecases.core.memories.replace_rows import (
    CostBeside,
    Replacement,
    ReplacementBusy,
    SourcesReplaced,
    replace_rows,
)
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.core.privacy.screen_answers import screen_reflected
from neve.usecases.core.tenants.usage import answer_cost, usage_put
from neve.usecases.tell.tenants.paid_in_vain import count_in_vain, counting_failures, note_cost

FOLDED = (Kind.OBSERVATION, Kind.REFLECTION)
"""The kinds of rows that a reflection replaces; note, manual and fact rows stay, and so does every row that a person
has corrected."""
TAGS = (BASE_TAG, "reflection")
REASON = "folded into an in-session reflection"
NOTHING = "the observer answered with nothing"
ASKED_AGAIN_AFTER = timedelta(minutes=10)
"""*Chosen*: of a session whose reflection got no usable answer, a refusal or nothing included, or did not bring it
below its trigger. The model has to read much for it, and may give none the next time either."""
ASKED_LATELY = "a reflection was tried less than ten minutes ago"
EARLY_ROWS = 200
"""*Chosen*: of so many a session whose live list is full is folded before its trigger."""
OVERTAKEN = "while the observer thought, another worker folded the rows, or somebody changed one"


class ReflectionNotes(Protocol):
    """The notes that a reflection makes beside its rows (``usecases/work/observe/report.py``)."""

    not_reflected: str | None
    reflection_left_out: int
    reflection_over_target: int


class NoTimeToReflect(Exception):
    """A reflection is due, and less time is left than it may take."""


def reflect_session(
    scope: SessionScope,
    incarnation: int,
    seconds_left: SecondsLeft = for_ever,
    notes: ReflectionNotes | None = None,
    begins: Callable[[], None] | None = None,
) -> list[str]:
    """Fold a session that has reached its trigger, and return the ids of the new reflections; empty when the trigger is
    not reached, the observer gave no usable answer, or another worker was faster. ``begins`` is called before the
    observer is asked, which may take long.

    Raises as ``fold_session`` does. A pack that could not be rebuilt keeps ``rebuild_due`` and is left to the sweep."""
    ids = fold_session(scope, incarnation, seconds_left, notes, begins)
    if ids:
        with contextlib.suppress(StoreUnavailable):  # build_pack has noted it; the sweep tries again
            build_pack(scope, "reflection")
    return ids


def fold_session(
    scope: SessionScope,
    incarnation: int,
    seconds_left: SecondsLeft = for_ever,
    notes: ReflectionNotes | None = None,
    begins: Callable[[], None] | None = None,
) -> list[str]:
    """Fold the session as ``reflect_session`` does, without the pack, which is marked ``rebuild_due``. ``notes`` is
    told what of the answer had no room, and why there is none. The trigger stays reached then, and the worker that
    observes the session next asks again, after ten minutes at the earliest: nothing waits for a reflection.

    Raises NoTimeToReflect, ModelRefused, ReplacementBusy, UserErased, StoreUnavailable."""
    due = _due(scope)
    if due is None:
        return []
    notes = notes or _UnreadNotes()
    if due.asked_in_vain_since(scope.ports.clock.now() - ASKED_AGAIN_AFTER):
        notes.not_reflected = ASKED_LATELY
        return []
    if seconds_left() < scope.ports.observer.longest_s:
        raise NoTimeToReflect
    if begins is not None:
        begins()
    given = ReflectInput(scope.session, [_group(memory) for memory in due.sources], due.target, seconds_left)
    try:
        with noting_the_model(scope.ports), counting_failures(scope, incarnation):
            answer = scope.ports.observer.reflect(given)
    except ModelUnavailable as failure:
        transact(scope.ports, lambda: _note_failure(scope))
        notes.not_reflected = f"the language model gave no usable answer: {failure}"
        return []
    except ContentRefused:
        transact(scope.ports, lambda: _note_failure(scope))
        raise
    return _folded(scope, incarnation, due, screen_reflected(scope, answer), notes)


@dataclass(slots=True)
class _UnreadNotes:
    """The ``ReflectionNotes`` of a caller that does not ask for them."""

    not_reflected: str | None = None
    reflection_left_out: int = 0
    reflection_over_target: int = 0


@dataclass(frozen=True, slots=True)
class _Due:
    """A reflection that is due. ``sources``: chronological. ``target``: tokens that the result may have."""

    marker: SessionMarker
    sources: Sequence[Memory]
    target: int
    timezone: str

    def asked_in_vain_since(self, then: datetime) -> bool:
        failed_at = self.marker.reflection_failed_at
        return failed_at is not None and parse(failed_at) > then


def _due(scope: SessionScope) -> _Due | None:
    keys, policy = scope.keys, scope.policy
    found = scope.ports.table.get_many([keys.head, keys.session_head, keys.marker])
    if keys.marker not in found:
        return None
    marker = rows.read_marker(found[keys.marker])
    early = rows.live_bytes(found[keys.marker]) > rows.LIVE_BYTES
    if not _is_due(marker.live, policy.reflection_trigger, early=early):
        return None
    head = rows.read_head(found.get(keys.head))
    folded = [row.id for row in marker.live if row.kind in FOLDED]
    active = active_memories(
        scope.ports.table, keys, folded, head.gen, iso(scope.ports.clock.now())
    )  # chronological, as the live list is
    sources = [memory for memory in active if not (memory.corrected or is_bounded(memory))]
    if not _is_due(list(map(live_row, sources)), policy.reflection_trigger, early=early):
        return None
    parts = [[memory for memory in sources if memory.audience == audience] for audience in (None, SESSION_ONLY)]
    sources = max(parts, key=lambda part: sum(memory.tokens for memory in part))  # apart: one goes on to other sessions
    tokens = sum(memory.tokens for memory in sources)
    target = policy.reflection_target
    if tokens < policy.reflection_trigger:  # else few rows would be made into as many
        target = min(target, max(1, tokens // 2))
    return _Due(marker, sources, target, rows.read_session(found[keys.session_head]).timezone)


def _note_failure(scope: SessionScope) -> None:
    """Note on the marker that the observer gave no answer now. Raises Conflict, StoreUnavailable."""
    item = scope.ports.table.get(scope.keys.marker)
    if item is not None:
        noted = replace(rows.read_marker(item), reflection_failed_at=iso(scope.ports.clock.now()))
        scope.ports.table.write([rows.put_marker(scope.keys, noted)])


def _folded(
    scope: SessionScope, incarnation: int, due: _Due, reflected: Reflected, notes: ReflectionNotes
) -> list[str]:
    new = _new_rows(scope, reflected, due.sources, due.target, due.timezone)
    cost = answer_cost(reflected.calls, reflected.usage)
    usage = CostBeside(partial(_usage, scope, cost))
    wanted = Replacement(tuple(new), tuple(due.sources), REASON, scope.session, usage)
    try:
        ids, reason = _replaced(scope, incarnation, wanted)
    except ReplacementBusy:
        if not usage.asked_for:
            count_in_vain(scope, incarnation, cost)
        raise
    if reason == NOTHING or (ids and sum(row.tokens for row in new) >= scope.policy.reflection_trigger):
        transact(scope.ports, lambda: _note_failure(scope))  # else every turn would fold, and rebuild the pack
    if reason is not None:
        note_cost(scope, incarnation, cost)
    answered = sum(bool(row.text.strip()) for row in reflected.rows)
    notes.reflection_left_out = reflected.left_out + answered - len(new) if ids else 0
    notes.reflection_over_target = reflected.over_target or 0 if ids else 0
    notes.not_reflected = reason
    return ids


def _group(memory: Memory) -> ReflectGroup:
    said = memory.provenance
    return ReflectGroup(
        memory.id, memory.text, said.seq_from, said.seq_to, memory.observed_at, day=memory.observed_date
    )


def _replaced(scope: SessionScope, incarnation: int, wanted: Replacement) -> tuple[list[str], str | None]:
    """Replace the sources, and return the ids of the new rows, or why there are none."""
    if not wanted.new:
        return [], NOTHING
    try:
        return replace_rows(scope, incarnation, wanted), None
    except SourcesReplaced:
        return [], OVERTAKEN


def _usage(scope: SessionScope, cost: Mapping[str, int]) -> list[WriteOp]:
    return [usage_put(scope.keys, scope.ports.table.get(scope.keys.usage), cost)] if cost else []


def _is_due(live: Sequence[LiveRow], trigger: int, *, early: bool) -> bool:
    """Say whether the live rows have reached the trigger. ``early``: the session's live list is full, so many small
    rows are folded, too."""
    folded = [row.tokens for row in live if row.kind in FOLDED]
    return sum(folded) >= trigger or (early and len(folded) >= EARLY_ROWS)


def _new_rows(
    scope: SessionScope, reflected: Reflected, sources: Sequence[Memory], target: int, timezone: str
) -> list[Memory]:
    """Make memories of the observer's rows within the target: trailing ones are dropped, the first is always kept. An
    observer by rules has fitted its rows already."""
    count = scope.count
    texts = [row for row in reflected.rows if row.text.strip()]
    totals = accumulate(count(row.text) for row in texts)
    fitting = [row for i, (row, total) in enumerate(zip(texts, totals, strict=True)) if i == 0 or total <= target]
    fitting = fitting if reflected.over_target is None else texts
    shown = Sources(sources)
    return [
        _reflection(scope, row.text.strip(), shown.of(row.text, row.group_ids), reflected.model, timezone)
        for row in fitting
    ]


def _reflection(scope: SessionScope, text: str, named: Sequence[Memory], model: str, timezone: str) -> Memory:
    """Make the memory of one reflection. Its range is the union of the ranges of the groups it names."""
    clock_now = scope.ports.clock.now()
    now = iso(clock_now)
    observed_at = max(memory.observed_at for memory in named)
    firsts = [m.provenance.seq_from for m in named if m.provenance.seq_from is not None]
    lasts = [m.provenance.seq_to for m in named if m.provenance.seq_to is not None]
    taken = inherited(named, TAGS)
    return Memory(
        id=f"mem_{scope.ports.ids.ulid(clock_now)}",
        kind=Kind.REFLECTION,
        tier=Tier.EPISODIC,
        scope=Scope.SESSION,
        session_id=scope.session,
        text=text,
        priority=Priority.HIGH,
        importance=taken.importance,
        confidence=taken.confidence,
        group=taken.group,
        label=taken.label,
        fingerprint=fingerprint(text),
        status=Status.ACTIVE,
        tags=taken.tags,
        about=taken.about,
        audience=taken.audience,
        provenance=Provenance(
            by=named[-1].provenance.by,
            session_id=scope.session,
            seq_from=min(firsts) if firsts else None,
            seq_to=max(lasts) if lasts else None,
            model=model,
            trust=lowest(memory.provenance.trusted for memory in named),
        ),
        supersedes=tuple(memory.id for memory in named),
        observed_date=observed_date(observed_at, timezone),
        time_of_day=time_of_day(observed_at, timezone),
        referenced_date=referenced_date(text),
        created_at=now,
        observed_at=observed_at,
        last_used_at=max(memory.last_used_at for memory in named),
        tokens=scope.count(text),
        rev=1,
        rev_at=now,
        born_gen=0,
    )
