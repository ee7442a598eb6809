"""Tells when the sweep sends a pass (docs/rules/observe.md#when)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from neve.domain.records.sessions import SessionHead
from neve.domain.sessions.idle import heard_at

LOST_AFTER = timedelta(minutes=10)
"""A pass that an append asked for so long ago has lost its message (docs/rules/indexing.md#sweep)."""
Due = Literal["lost", "silent"]


def pass_due(head: SessionHead, read_to: int, idle_s: int, now: datetime) -> Due | None:
    """Say why a pass over what is behind ``read_to`` is to be sent now. ``lost``: an append asked for it, and nobody
    did it. ``silent``: what was said is too little for an append to ask, and nothing came for ``idle_s``. None: it is
    on its way, or waits for more; or no turn is complete."""
    if head.complete_seq <= read_to:
        return None
    if head.pass_asked is not None and head.pass_asked[0] > read_to:
        waited = now.timestamp() - head.pass_asked[1]
        return "lost" if waited >= LOST_AFTER.total_seconds() else None
    return "silent" if now - heard_at(head) >= timedelta(seconds=idle_s) else None
