"""Decides which memories a reader may see: the one predicate of docs/rules/memories.md#visibility. A reader takes the
user's ``gen`` strongly, reads rows, and applies it to each; replacements become visible by one flip of ``gen``."""

from __future__ import annotations

from neve.domain.records.memories import Memory, Status
from neve.domain.validity import holds_at, was_there


def born(born_gen: int, gen: int) -> bool:
    """Say whether generation ``gen`` knows the row at all: it may have been replaced by then. For a reader, a row that
    is not born yet is not there."""
    return born_gen <= gen


def visible(born_gen: int, died_gen: int | None, gen: int) -> bool:
    """Say whether the row is born and has not died at ``gen``."""
    return born(born_gen, gen) and (died_gen is None or gen < died_gen)


def may_be_told(row: Memory, session: str | None) -> bool:
    """Say whether a session is told of the row; None: any other one (docs/rules/sessions.md#participants)."""
    return row.audience is None or row.session_id == session


def being_replaced(row: Memory) -> bool:
    """Say whether something has taken its place in some generation, or is about to in the coming one: then no writer
    changes it any more, whatever its status says."""
    return row.died_gen is not None


def status_at(row: Memory, gen: int) -> Status:
    """Give the row's status as generation ``gen`` sees it: a replaced row counts as superseded from the flip on, and as
    what it was before until then, whether or not the sweep has reached it."""
    if row.died_gen is None:
        return row.status
    if gen >= row.died_gen:
        return Status.SUPERSEDED
    return Status.ACTIVE if row.status is Status.SUPERSEDED else row.status


def active(row: Memory, gen: int, at: str) -> bool:
    """Say whether generation ``gen`` sees the row, as an active one that may be shown at a time, in stored form."""
    seen = visible(row.born_gen, row.died_gen, gen) and status_at(row, gen) is Status.ACTIVE
    return seen and not row.never_recall and holds_at(row, at)


def in_force(row: Memory, gen: int, at: str) -> bool:
    """Say whether a row was active at a time in the past: it is now, or has been superseded since."""
    status = status_at(row, gen)
    was_active = status is Status.ACTIVE or (status is Status.SUPERSEDED and row.superseded_at and row.was is None)
    return bool(was_active) and was_there(row.created_at, row.superseded_at, at) and holds_at(row, at)
