"""The texts that a prompt adds to a chat, of whichever form it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SYSTEMS = ("instructions", "system_instruction", "system")
LISTS = ("messages", "input", "contents")
OURS = "<neve-"
"""Every text that the service puts in front of a message begins so (docs/rules/compile.md#last-turn)."""


def system_of(request: Mapping[str, Any]) -> str:
    """Give what stands in front of the messages: the static prefix, the caller's own, the pack."""
    apart = [text for name in SYSTEMS if (text := _text(request.get(name)))]
    said = [text for one in _messages(request) if one.get("role") == "system" and (text := _text(one))]
    return "\n\n".join([*apart, *said])


def recalled_of(request: Mapping[str, Any]) -> str:
    """Give what stands in front of the user's last words: what was recalled for them, what is new, the time."""
    for one in reversed(_messages(request)):
        parts = one.get("content") or one.get("parts")
        first = parts[0] if one.get("role") == "user" and isinstance(parts, list) and parts else {}
        text = first.get("text") if isinstance(first, Mapping) else None
        if isinstance(text, str) and text.startswith(OURS):
            return text
    return ""


def _messages(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return next((list(request[name]) for name in LISTS if name in request), [])


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return "\n\n".join(text for one in value if (text := _text(one)))
    if isinstance(value, Mapping):
        return _text(value.get("text") or value.get("content") or value.get("parts"))
    return ""
