"""Which memories a reader may see: the one predicate of docs/rules/memories.md#visibility. A reader takes the user's
``gen`` strongly, reads rows, and applies it to each; replacements become visible by one flip of ``gen``."""

from __future__ import annotations

from neve.domain.records import Memory, Status


def visible(born_gen: int, died_gen: int | None, gen: int) -> bool:
    """True iff ``born_gen <= gen`` and the row has not died at ``gen``."""
    return born_gen <= gen and (died_gen is None or gen < died_gen)


def status_at(row: Memory, gen: int) -> Status:
    """The row's status as generation ``gen`` sees it: a replaced row counts as superseded from the flip on, and as
    what it was before until then, whether or not the sweep has reached it."""
    if row.died_gen is None:
        return row.status
    if gen >= row.died_gen:
        return Status.SUPERSEDED
    return Status.ACTIVE if row.status is Status.SUPERSEDED else row.status


def active(row: Memory, gen: int) -> bool:
    """Whether generation ``gen`` sees the row, as an active one."""
    return visible(row.born_gen, row.died_gen, gen) and status_at(row, gen) is Status.ACTIVE
