"""Messages that only the service knows of: those of another process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .messages import Message, Spoken, parts_of


def in_the_log(*seqs: int) -> Spoken:
    """A message that is known by its place in the log alone: by its events, or one of them."""
    return Spoken(None, {}, "", 0, 0, "appended", tuple(sorted(seqs)))


def is_event_of(event: Mapping[str, Any], wanted: str | Message | None) -> bool:
    """Whether an event is of the message with this id, or of these words; None: whether it begins a turn."""
    if wanted is None:
        return bool(event["event_type"] == "user_message")
    if isinstance(wanted, str):
        return event.get("client_id") == wanted
    role = "user_message" if wanted.get("role") == "user" else "assistant_response"
    return bool(event["event_type"] == role and _text(event["content"]) == _text(wanted.get("content")))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    texts = [str(part.get("text", "")) for part in parts_of({"content": content}) if isinstance(part, Mapping)]
    return "\n".join(text for text in texts if text)
