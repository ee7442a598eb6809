"""A row of a night's answer as a memory (docs/rules/reflect.md#condensed)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from neve.domain.memories.text import fingerprint, priority_of, referenced_date
from neve.domain.observe.defaults import BASE_TAG
from neve.domain.observe.trust import lowest
from neve.domain.records.memories import Kind, Memory, Priority, Provenance, Scope, Status, Tier
from neve.domain.reflect.inherited import Sources, inherited
from neve.domain.times import iso
from neve.observing import CondensedRow
from neve.scope import UserScope

TAGS = (BASE_TAG, "reflection", "global-prune")
_MARKS = "🔴🟡🟢✅"
_RANKED = (Priority.HIGH, Priority.MEDIUM, Priority.LOW)


def condensed_memories(
    scope: UserScope, fitted: Sequence[tuple[CondensedRow, str]], model: str, batch: Sequence[Memory]
) -> list[Memory]:
    """Make memories of the rows that are kept of a model's answer to a batch, with the texts that are stored."""
    sources = Sources(batch)
    trust = lowest(memory.provenance.trusted for memory in batch)  # of all that was read, whatever the row names
    made = []
    for row, text in fitted:
        named = sources.of(text, row.group_ids)
        made.append(_memory(scope, row, text, named, replace(_origin(named), model=model, trust=trust)))
    return made


def _memory(scope: UserScope, row: CondensedRow, text: str, named: Sequence[Memory], origin: Provenance) -> Memory:
    clock_now = scope.ports.clock.now()
    now, latest = iso(clock_now), max(named, key=lambda memory: memory.observed_at)
    taken = inherited(named, TAGS)
    return Memory(
        id=f"mem_{scope.ports.ids.ulid(clock_now)}",
        kind=Kind.REFLECTION,
        tier=Tier.EPISODIC,
        scope=Scope.GLOBAL,
        text=text,
        priority=_priority(row, text, named),
        importance=taken.importance,
        confidence=taken.confidence,
        group=taken.group,
        label=taken.label,
        fingerprint=fingerprint(text),
        status=Status.ACTIVE,
        tags=taken.tags,
        about=taken.about,
        audience=taken.audience,
        provenance=origin,
        supersedes=tuple(memory.id for memory in named),
        observed_date=_day(row, named) or latest.observed_date,
        time_of_day=latest.time_of_day,
        referenced_date=referenced_date(text),
        created_at=now,
        observed_at=latest.observed_at,
        last_used_at=max(memory.last_used_at for memory in named),
        tokens=scope.count(text),
        rev=1,
        rev_at=now,
        born_gen=0,
    )


def _origin(named: Sequence[Memory]) -> Provenance:
    """Return the origin of a row. A range is of one session: rows made of several sessions have none."""
    origins = [memory.provenance for memory in named]
    sessions = {origin.session_id for origin in origins}
    if len(sessions) != 1 or None in sessions:
        return Provenance(origins[-1].by)
    firsts = [origin.seq_from for origin in origins if origin.seq_from is not None]
    lasts = [origin.seq_to for origin in origins if origin.seq_to is not None]
    return Provenance(origins[-1].by, sessions.pop(), min(firsts, default=None), max(lasts, default=None))


def _priority(row: CondensedRow, text: str, named: Sequence[Memory]) -> Priority:
    """Return the priority that the row names, else that of its marks, else the highest of its sources."""
    if row.priority is not None:
        return row.priority
    if any(mark in text for mark in _MARKS):
        return priority_of(text)
    return min((memory.priority for memory in named), key=_RANKED.index)


def _day(row: CondensedRow, named: Sequence[Memory]) -> str | None:
    """Return the day that the row names, if one of its sources can be about it: a date that the model made up is
    dropped."""
    days = [memory.observed_date for memory in named if memory.observed_date is not None]
    if row.observed_date is None or not days:
        return None
    return row.observed_date if min(days) <= row.observed_date <= max(days) else None
