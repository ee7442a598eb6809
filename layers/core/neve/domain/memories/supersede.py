"""A memory that another one took the place of."""

from __future__ import annotations

from dataclasses import replace

from neve.domain.records.memories import Memory, Status


def superseded(old: Memory, *, by: str | None, reason: str, at: str) -> Memory:
    """Mark a memory as superseded: it stays readable by its id, and is not recalled any more. ``by``: the id of what
    holds instead; ``at``: stored form."""
    return replace(
        old,
        status=Status.SUPERSEDED,
        was=None if old.status is Status.ACTIVE else old.status,
        superseded_by=by,
        superseded_at=at,
        superseded_reason=reason,
        rev=old.rev + 1,
        rev_at=at,
        words_at=None,
    )
