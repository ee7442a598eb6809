"""Chooses the existing memories that a pass is shown, so that it repeats nothing: at most 50 rows and the policy's cap,
local rows at least half of it. The rest are facts of other conversations that share words with the events, and some
that tell of a state, so that they can be corrected, then global rows of the frozen pack
(docs/rules/observe.md#prior-memories)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from neve.domain.memories.live_rows import live_row
from neve.domain.memories.marks import words_of_trust
from neve.domain.records.markers import LiveRow, SessionMarker
from neve.domain.records.memories import Category, Kind, Memory, Scope
from neve.domain.records.packs import PackEntry
from neve.domain.records.sessions import Event, SessionHead, Span, Spans
from neve.domain.retract.derived import goes_with, left_of
from neve.domain.sessions.transcript import event_text
from neve.domain.sessions.voices import THE_USER, Voice
from neve.domain.tails.told import UTTERED
from neve.domain.times import iso
from neve.domain.words import content_words
from neve.observing import PriorMemory
from neve.ports.table import Index, Item
from neve.scope import SessionScope
from neve.store import rows
from neve.store.incarnation import UserErased
from neve.store.memories import active_memories, memories_of

MAX_ROWS = 50
MAX_FACTS = 100
"""Facts of the user that are compared with the events, those that were used last."""
RANKED = 400
"""Rows of the rank index among which they are looked for."""
STATES: tuple[Category, ...] = ("PLACE", "BIOGRAPHY", "PREFERENCE")
"""Categories of facts that another statement may end without a word of them: "I moved to Rome" ends that the user lived
in Paris; "I'm a vegan now", that they were a vegetarian. Where there are many, preferences come last."""
MAX_STATES = 10
"""The most states that are shown which share no word with the events (*chosen*)."""
_SUBJECT = frozenset({"user"})
"""The words that every statement shares, as its subject."""


def facts_elsewhere(scope: SessionScope) -> list[Memory]:
    """Read facts of other conversations, those that were used last, as they are now."""
    page = scope.ports.table.query(scope.keys.partition, index=Index.RANK, limit=RANKED)
    ids = [str(item["id"]) for item in page.items if item["kind"] == Kind.FACT and not _own(scope, item)][:MAX_FACTS]
    return memories_of(scope.ports.table, scope.keys, ids, eventual=True)


def prior_memories(
    scope: SessionScope,
    marker: SessionMarker,
    events: Sequence[Event],
    facts: Sequence[Memory],
    voice: Voice = THE_USER,
) -> list[PriorMemory]:
    """Return the memories that a pass is shown: global rows, facts first, each kind in its order, then local ones,
    oldest first. Newest local rows are preferred when not all fit. ``facts``: ``facts_elsewhere``, be it of a while
    ago. ``voice``: whose words they are; nobody else's memories are among them. What was made of events that are taken
    back is not among them, whether or not it has been superseded yet, but for what a person last wrote
    (docs/rules/retract.md#corrected). Raises UserErased for a session that is gone, StoreUnavailable."""
    table, keys, cap = scope.ports.table, scope.keys, scope.policy.prior_memory_cap
    wanted = [keys.head, keys.epoch, *([keys.session_head] if marker.retracted else ())]
    found = table.get_many(wanted)
    if any(key not in found for key in wanted[1:]):
        raise UserErased
    gen = rows.read_head(found.get(keys.head)).gen
    epoch = rows.read_epoch(found[keys.epoch])
    entries: Sequence[PackEntry] = ()
    if epoch.pack:
        own = keys.pack(epoch.pack.pack_version)
        manifest = table.get_many([own], eventual=True).get(own) or table.get(own)
        layers = rows.read_manifest(manifest).layers if manifest else {}
        listed_there = [entry for layer in ("global", "local") for entry in layers.get(layer, ())]
        entries = [entry for entry in listed_there if entry.kind != UTTERED]
    known = _rank_by_shared_words([one for one in facts if voice.may_be_shown(one, scope.session)], events)
    elsewhere = {row.id for row in (*known, *marker.live)}  # a row may have come to the session behind its pack
    listed: list[PackEntry | LiveRow] = [*known, *(entry for entry in entries if entry.id not in elsewhere)]
    item = found.get(keys.session_head)
    log = replace(rows.read_session(item), retracted=marker.retracted) if item else None
    read = partial(_still_meant, scope, log, gen, voice)
    shown_global = _fit(read, listed, cap // 2, MAX_ROWS // 2)
    room = cap - sum(memory.tokens for memory in shown_global)
    newest = tuple(reversed(marker.live))
    shown_local = _fit(read, newest, room, MAX_ROWS - len(shown_global))
    return [_shown(scope, m, marker.retracted, local=False) for m in shown_global] + [
        _shown(scope, m, marker.retracted, local=True) for m in reversed(shown_local)
    ]


def _rank_by_shared_words(facts: Sequence[Memory], events: Sequence[Event]) -> list[LiveRow]:
    """Return the facts that share a content word with what was said, first those that share most of their words; then
    states, as they come."""
    uttered = content_words(" ".join(event_text(event) for event in events)) - _SUBJECT
    about = [(content_words(fact.text), fact) for fact in facts]
    alike = [(len(words & uttered) / len(words), fact) for words, fact in about if words & uttered]
    best = [fact for _, fact in sorted(alike, key=lambda one: (-one[0], one[1].id))]
    states = [fact for words, fact in about if fact.category in STATES and not words & uttered]
    states.sort(key=lambda fact: fact.category == "PREFERENCE")
    return [live_row(fact) for fact in (*best, *states[:MAX_STATES])]


def _own(scope: SessionScope, item: Item) -> bool:
    """Say whether a row is of this session, and so among its live rows."""
    return item["scope"] == Scope.SESSION and item.get("session_id") == scope.session


def _still_meant(
    scope: SessionScope, log: SessionHead | None, gen: int, voice: Voice, ids: Sequence[str]
) -> list[Memory]:
    now = iso(scope.ports.clock.now())
    found = active_memories(scope.ports.table, scope.keys, ids, gen, now, eventual=True)  # its commit reads again
    own = [memory for memory in found if voice.may_be_shown(memory, scope.session)]
    return [replace(one, text=voice.as_the_user(one.text)) for one in own if log is None or not goes_with(one, log)]


def _range_here(scope: SessionScope, memory: Memory) -> Span | None:
    """Return a memory's range in this session's log; None for a memory that was not made from it."""
    origin = memory.provenance
    if origin.session_id != scope.session or origin.seq_from is None or origin.seq_to is None:
        return None
    return origin.seq_from, origin.seq_to


def _shown(scope: SessionScope, memory: Memory, retracted: Spans, *, local: bool) -> PriorMemory:
    return PriorMemory(
        memory.id,
        memory.text,
        local,
        memory.kind,
        _range_here(scope, memory),
        left_of(memory, scope.session, retracted),
        memory.observed_at,
        words_of_trust(memory, "tool"),
        words_of_trust(memory, "user"),
    )


def _fit(
    read: Callable[[Sequence[str]], list[Memory]], listed: Sequence[PackEntry | LiveRow], budget: int, most: int
) -> list[Memory]:
    """Return the first ``most`` memories that fit, among as many again: rows that are listed and not active any more
    leave room for others. Rows that cannot fit are not read."""
    fitting: list[Memory] = []
    left = [row for row in listed[:MAX_ROWS] if row.tokens <= budget]
    while left and len(fitting) < most:
        part, left = left[: most - len(fitting)], left[most - len(fitting) :]
        for memory in read([row.id for row in part]):
            if memory.tokens <= budget:
                fitting.append(memory)
                budget -= memory.tokens
        left = [row for row in left if row.tokens <= budget]
    return fitting
