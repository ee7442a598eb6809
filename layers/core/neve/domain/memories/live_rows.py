"""Which memories stand in the live list of their session, and the refusal of those that have no room there
(docs/rules/memories.md#live-list)."""

from __future__ import annotations

from neve.domain.errors import FieldError, NeveError
from neve.domain.records.markers import LiveRow
from neve.domain.records.memories import Memory, Scope, Status

NO_ROOM = "has no room for more memories of its own: write this one without a session, or with the scope global"


def live_row(memory: Memory) -> LiveRow:
    return LiveRow(memory.id, memory.kind, memory.tokens)


def lives(memory: Memory) -> bool:
    """Whether it joins the list of its session."""
    return memory.scope is Scope.SESSION and memory.status is not Status.SUPERSEDED


def no_live_room(field: str) -> NeveError:
    """422 that names the session's field."""
    return NeveError(
        "validation_failed",
        f"{field}: {NO_ROOM}",
        errors=[FieldError(field, NO_ROOM)],
        metrics={"LiveRowsRefused": 1},
    )
