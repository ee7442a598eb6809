"""Makes lines of messages of conversations as Claude exports them (docs/integrating.md#conversations).

One has ``uuid``, ``name``, ``created_at`` and ``chat_messages``, each with ``uuid``, ``sender`` (human or assistant),
``text``, ``content`` (blocks), ``created_at``, ``attachments``, ``files`` and, where the file tells of branches,
``parent_message_uuid``. Its maker does not document such a file: what is not known here is counted, never guessed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from neve_cli.importing.branches import OTHER, shown_path
from neve_cli.importing.reading import LeftOut, Malformed, Record, first_of, time_of
from neve_cli.importing.said import MAX_TITLE, ROLES, identifier, short, text_within


def claude_lines(record: Record, left_out: LeftOut) -> Iterator[Record]:
    """Makes the lines of one conversation: what a person sees of it, in its order. Raises Malformed."""
    messages = record.get("chat_messages")
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        raise Malformed("chat_messages must be a list: this is no conversation as Claude exports it")
    conversation = identifier(record.get("uuid"), "uuid")
    shown = _shown(messages, record.get("current_leaf_message_uuid"))
    last = record.get("created_at")
    for message in shown:
        role = ROLES.get(str(message.get("sender")))
        if role is None:
            raise Malformed("sender must be human or assistant")
        last = message.get("created_at") or last
        if text := _words(message, left_out):
            line = {
                "conversation": conversation,
                "title": short(record.get("name"), MAX_TITLE),
                "id": identifier(message.get("uuid"), "chat_messages.uuid"),
                "role": role,
                "content": text,
                "created_at": time_of(last, "created_at"),
            }
            yield {key: value for key, value in line.items() if value is not None}
    left_out[OTHER] += len(messages) - len(shown)


def _shown(messages: list[Record], leaf: Any) -> list[Record]:
    """All of them, in the file's order, where it tells of no branches."""
    if not any(message.get("parent_message_uuid") for message in messages):
        return messages
    by_id = {str(message.get("uuid")): message for message in messages}
    # of messages of one moment the later in the file is the newer
    newest = sorted(by_id, key=lambda name: str(by_id[name].get("created_at") or ""))[::-1]
    parents = {name: message.get("parent_message_uuid") for name, message in by_id.items()}
    return [by_id[name] for name in shown_path(parents, newest, leaf)]


def _words(message: Record, left_out: LeftOut) -> str:
    left_out["attachments"] += len(first_of(message, "attachments") or ())
    left_out["files and images"] += len(first_of(message, "files_v2", "files") or ())
    blocks = message.get("content")
    return text_within(blocks, left_out) if blocks else text_within(message.get("text"), left_out)
