"""Reads one message of a conversation as a line of JSON, which is what every importer of conversations makes of its
file: ``conversation``, ``role``, ``content`` and, where they are known, ``id``, ``created_at``, ``name``, ``title``.
Such a file may also be written by hand (docs/integrating.md#conversations)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from neve_cli.ids import NAME, NAME_RULE
from neve_cli.importing.reading import LeftOut, Malformed, Record, first_of, time_of

ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "model": "assistant"}
KNOWN = {
    *("conversation", "conversation_id", "session_id", "thread_id", "role", "content", "text", "id", "message_id"),
    *("created_at", "timestamp", "time", "name", "title"),
}
MAX_NAME, MAX_TITLE = 200, 200
_WORDS = ("text", "input_text", "output_text")


def message_lines(record: Record, left_out: LeftOut) -> Iterator[Record]:
    """Makes the line of one message. What is of another role than a person's or the assistant's, what in it is no
    text, and members that a line does not have are counted. Raises Malformed."""
    role = first_of(record, "role")
    if not isinstance(role, str):
        raise Malformed("role must be user or assistant")
    if role not in ROLES:
        left_out[f"messages of the role {role[:40]}"] += 1
        return
    conversation = identifier(
        first_of(record, "conversation", "conversation_id", "session_id", "thread_id"), "conversation"
    )
    text = text_within(first_of(record, "content", "text"), left_out)
    left_out.update(f"members of messages ({name})" for name, value in record.items() if value and name not in KNOWN)
    if not text:
        return
    given = first_of(record, "id", "message_id")
    line = {
        "conversation": conversation,
        "title": short(record.get("title"), MAX_TITLE),
        "id": None if given is None else identifier(str(given), "id"),
        "role": ROLES[role],
        "name": short(record.get("name"), MAX_NAME),
        "content": text,
        "created_at": time_of(first_of(record, "created_at", "timestamp", "time"), "created_at"),
    }
    yield {name: value for name, value in line.items() if value is not None}


def text_within(content: Any, left_out: LeftOut) -> str:
    """The words of a message: a text, or a list of texts and blocks, of which every other kind is counted. Empty where
    nothing was said. Raises Malformed."""
    if isinstance(content, str):
        return content if content.strip() else ""
    if content is None:
        return ""
    if not isinstance(content, list):
        raise Malformed("content must be text or a list of blocks")
    words: list[str] = []
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(block, str):
            words.append(block)
        elif isinstance(block, dict) and kind in _WORDS and isinstance(block.get("text"), str):
            words.append(block["text"])
        else:
            left_out[f"parts of messages ({str(kind)[:40]})"] += 1
    return joined(words)


def joined(words: Iterable[str]) -> str:
    return "\n\n".join(word.strip("\n") for word in words if word.strip())


def identifier(value: Any, name: str) -> str:
    """Raises Malformed for what is no id of a session or an event."""
    if not isinstance(value, str) or not re.fullmatch(NAME, value):
        raise Malformed(f"{name} {NAME_RULE}")
    return value


def short(value: Any, most: int) -> str | None:
    """On one line and at most so long; None for what is no text or a blank one."""
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return text[:most].strip() or None
