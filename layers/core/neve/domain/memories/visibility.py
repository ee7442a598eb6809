"""Decides which memories a reader may see: the one predicate of docs/rules/memories.md#visibility. A reader takes the
user's ``gen`` strongly, reads rows, and applies it to each; replacements become visible by one flip of ``gen``."""

from __future__ import annotations

from neve.domain.records.memories import Memory, Status


def born(born_gen: int, gen: int) -> bool:
    """Say whether generation ``gen`` knows the row at all: it may have been replaced by then. For a reader, a row that
    is not born yet is not there."""
    return born_gen <= gen


def visible(born_gen: int, died_gen: int | None, gen: int) -> bool:
    """Say whether the row is born and has not died at ``gen``."""
    return born(born_gen, gen) and (died_gen is None or gen < died_gen)


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


def active(row: Memory, gen: int) -> bool:
    """Say whether generation ``gen`` sees the row, as an active one that may be shown."""
    return not row.never_recall and visible(row.born_gen, row.died_gen, gen) and status_at(row, gen) is Status.ACTIVE
