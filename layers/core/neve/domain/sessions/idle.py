"""Tells when a session is over although no caller ended it (docs/rules/librarian.md#idle)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from neve.domain.records.sessions import SessionHead
from neve.domain.times import parse

IDLE_AFTER = timedelta(minutes=30)
"""No event for so long: the session is closed (*inherited*)."""
ORPHAN_AFTER = timedelta(hours=1)
"""No event for so long, and never ended: it is extracted (*inherited*)."""

Due = Literal["wait", "close", "end", "over"]


def due_of(head: SessionHead, now: datetime) -> Due:
    """Say what is to be done about a session. ``over``: nothing any more, a caller ended it."""
    if head.status == "extracted":
        return "over"
    idle = now - heard_at(head)
    if idle >= ORPHAN_AFTER:
        return "end"
    return "close" if idle >= IDLE_AFTER and head.status == "open" else "wait"


def looked_at_next(head: SessionHead) -> datetime:
    """Give the time when the sweep has to look again at a session about which nothing is to be done now."""
    return heard_at(head) + (IDLE_AFTER if head.status == "open" else ORPHAN_AFTER)


def heard_at(head: SessionHead) -> datetime:
    """Give the time when a session's last event came; of a session without any, when it was opened."""
    return parse(head.last_event_at or head.started_at)
