"""Says which memories stand in the live list of their session and where, and refuses those that have no room there
(docs/rules/memories.md#live-list)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from neve.domain.errors import FieldError, NeveError
from neve.domain.ids import is_own_memory_id, ulid_time
from neve.domain.records.markers import LiveRow
from neve.domain.records.memories import Kind, Memory, Scope, Status
from neve.domain.times import parse

_CHRONICLE = (Kind.OBSERVATION, Kind.REFLECTION)
"""Kinds that a pack tells in the order of the conversation."""
NO_ROOM = "has no room for more memories of its own: write this one without a session, or with the scope global"


def live_row(memory: Memory) -> LiveRow:
    return LiveRow(memory.id, memory.kind, memory.tokens)


def lives(memory: Memory) -> bool:
    """Say whether it joins the live list of its session."""
    return memory.scope is Scope.SESSION and memory.status is not Status.SUPERSEDED


def no_live_room(field: str) -> NeveError:
    """Make the 422 that names the session's field."""
    return NeveError(
        "validation_failed",
        f"{field}: {NO_ROOM}",
        errors=[FieldError(field, NO_ROOM)],
        metrics={"LiveRowsRefused": 1},
    )


# --- where they stand -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LivePlace:
    """The place of a row in its conversation. ``seq``: where in the log it begins; 0 for one that was not made from the
    log: what a call noted, or evolved. ``at``: when it was observed, in stored form."""

    seq: int
    at: str

    def is_behind(self, other: LivePlace) -> bool:
        """Say whether it comes after another: by the log for what was made from it, by the time for anything else."""
        return self.seq > other.seq if self.seq and other.seq else self.at > other.at


NOWHERE = LivePlace(0, "")
"""The place of a row that is gone: behind nothing."""


def live_places(memories: Iterable[Memory]) -> dict[str, LivePlace]:
    return {m.id: LivePlace(m.provenance.seq_from or 0, m.observed_at) for m in memories}


def joined_since(live: Sequence[LiveRow], at: str) -> list[str]:
    """Give the ids of observations and reflections (which a pack tells in the order of the list) that were made after a
    time in stored form, the last one first. Ids begin with the time; what an import brought under ids of its own is not
    among them."""
    since = f"mem_{ulid_time(parse(at))}"
    told = (row.id for row in reversed(live) if row.kind in _CHRONICLE)
    return [row_id for row_id in told if row_id >= since and is_own_memory_id(row_id)]


def in_place(live: tuple[LiveRow, ...], row: LiveRow, order: Mapping[str, LivePlace]) -> tuple[LiveRow, ...]:
    """Insert the row into the list before the first one that begins behind it, but behind all that do not. ``order``:
    places of those that are known. A fact is no measure: it need not stand where it was said last."""
    places, own = [order.get(other.id, NOWHERE) for other in live], order.get(row.id, NOWHERE)
    measures = (i for i, other in enumerate(live) if other.kind is not Kind.FACT)
    least = max((i for i in measures if 0 < places[i].seq <= own.seq), default=-1) + 1
    place = next((i for i in range(least, len(live)) if places[i].is_behind(own)), len(live))
    return (*live[:place], row, *live[place:])
