"""Sends a message whose work is not done to its queue once more (docs/rules/jobs.md#postponed)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neve.ports.queue import Message


def again(body: Mapping[str, Any], group: str | None = None, dedup_id: str | None = None) -> Message:
    """Return a message of the same work for another worker: it stands behind what came in meanwhile. To be sent before
    the received copy is acknowledged: a crash between the two leaves both, and every work may be repeated. ``group``
    None: the user, of a queue that is fair between users."""
    return Message(dict(body), group=group or f"{body['tenant']}#{body['user']}", dedup_id=dedup_id)
