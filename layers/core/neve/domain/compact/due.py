"""Tells when a log has grown enough for a compaction (docs/rules/compact.md#triggers)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.sessions import Event, EventType, SessionHead

STEPS = 4
"""A log that outgrows the trigger is looked at again after each further quarter of it: what had nothing to cover may
have by then, and a compaction that failed is asked for again (*chosen*)."""


def after_horizon(head: SessionHead, epoch: SessionEpoch) -> int:
    """Count the tokens of the log that no compaction has put away."""
    return max(0, head.total_tokens - epoch.settled_tokens)


def outgrows(before: int, after: int, compaction_at: int) -> bool:
    """Say whether a log that grew from ``before`` to ``after`` tokens behind its horizon has reached the trigger, or
    another quarter of it above."""
    return after >= compaction_at and quarters(after, compaction_at) > max(quarters(before, compaction_at), STEPS - 1)


def quarters(tokens: int, compaction_at: int) -> int:
    """Count how many quarters of the trigger these tokens are."""
    return STEPS * tokens // compaction_at


def boundary_reason(appended: Sequence[Event]) -> Literal["task", "topic"] | None:
    """Read from the last ``task_boundary`` among these events, by its ``kind``, what has ended; one that names none
    ends a task. None where there is no boundary."""
    for event in reversed(appended):
        if event.event_type is EventType.TASK_BOUNDARY:
            return "topic" if event.event_data.get("kind") == "topic" else "task"
    return None
