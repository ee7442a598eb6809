"""An event before it is stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from neve.domain.records.sessions import EventType

Content = str | list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class NewEvent:
    """One event as the caller sent it. Image blocks hold exactly one of ``data`` (base64), ``url``, ``upload_id``.
    ``thinking``: what the model thought before it, as the provider's blocks. ``participant``: the id of who said it."""

    event_type: EventType
    content: Content
    client_id: str | None = None
    name: str | None = None
    event_data: dict[str, Any] = field(default_factory=dict)
    created_at: str | None = None
    thinking: tuple[dict[str, Any], ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)
    participant: str | None = None
