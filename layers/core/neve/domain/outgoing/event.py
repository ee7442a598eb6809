"""Says what leaves Neve by itself: the outgoing events, which name what changed and hold nothing of what was said
(docs/rules/events.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

OutgoingType = Literal[
    "memory.written",
    "memory.superseded",
    "memory.forgotten",
    "pack.version",
    "reflection.done",
    "session.extracted",
    "erasure.done",
    "export.done",
    "job.failed",
    "inbox.waiting",
]
TEST: Literal["webhook.test"] = "webhook.test"
"""The type of what a caller sends to a webhook to see whether it arrives."""
TYPES: tuple[OutgoingType, ...] = get_args(OutgoingType)


@dataclass(frozen=True, slots=True)
class OutgoingEvent:
    """One event. ``id``: follows from what changed, so that a repeat has the same. ``at``: when the outbox saw the
    change. ``user_id`` None: of the tenant as a whole. ``subject``: the id of what changed."""

    id: str
    type: OutgoingType | Literal["webhook.test"]
    at: str
    user_id: str | None
    subject: str
    data: Mapping[str, Any]

    def stored(self) -> dict[str, Any]:
        """Encode the event as a row and a message hold it."""
        whose = {"user_id": self.user_id} if self.user_id is not None else {}
        return {"id": self.id, "type": self.type, "at": self.at, **whose, "subject": self.subject, "data": self.data}

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> OutgoingEvent:
        return cls(
            stored["id"], stored["type"], stored["at"], stored.get("user_id"), stored["subject"], dict(stored["data"])
        )


def event_body(tenant: str, event: OutgoingEvent) -> bytes:
    """Write the event as a webhook is sent it."""
    stored = event.stored()
    told = {name: stored[name] for name in ("id", "type", "at")} | {"tenant": tenant}
    return json.dumps(told | stored, ensure_ascii=False, separators=(",", ":")).encode()
