"""Makes lines of messages of conversations as ChatGPT exports them (docs/integrating.md#conversations).

One has ``conversation_id`` or ``id``, ``title``, ``create_time``, ``current_node`` and ``mapping``: nodes by id, each
with ``parent`` and ``message`` (``author.role``, ``content.content_type`` and ``parts``, ``create_time``,
``recipient``, ``metadata``). Its maker does not document such a file: what is not known here is
counted, never guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from neve_cli.importing.branches import OTHER, shown_path
from neve_cli.importing.reading import LeftOut, Malformed, Record, first_of, time_of
from neve_cli.importing.said import MAX_TITLE, identifier, joined, short

_CITED = re.compile("\ue200[^\ue201]*\ue201")
"""Where a page is cited: the place is marked by characters of the private use area, and means nothing outside."""
_TEXTS = ("text", "multimodal_text", "code")
_PARTS = {
    "image_asset_pointer": "images",
    "audio_asset_pointer": "recordings",
    "real_time_user_audio_video_asset_pointer": "recordings",
}
_THINKING = ("thoughts", "reasoning_recap")


def chatgpt_lines(record: Record, left_out: LeftOut) -> Iterator[Record]:
    """Makes the lines of one conversation: what a person sees of it, in its order. Raises Malformed."""
    mapping = record.get("mapping")
    if not isinstance(mapping, dict):
        raise Malformed("mapping must be an object: this is no conversation as ChatGPT exports it")
    conversation = identifier(first_of(record, "conversation_id", "id"), "conversation_id")
    if record.get("is_do_not_remember") or record.get("is_temporary_chat"):
        left_out["conversations that are not to be remembered"] += 1
        return
    nodes = {name: node for name, node in mapping.items() if isinstance(node, dict)}
    newest = sorted(nodes, key=lambda name: -_seconds(nodes[name]))
    path = shown_path({name: node.get("parent") for name, node in nodes.items()}, newest, record.get("current_node"))
    last = record.get("create_time")
    for name in path:
        message = nodes[name].get("message")
        if not isinstance(message, dict):
            continue
        text = _shown(message, left_out)
        last = message.get("create_time") or last
        if text:
            line = {
                "conversation": conversation,
                "title": short(record.get("title"), MAX_TITLE),
                "id": identifier(str(message.get("id") or name), "id"),
                "role": message["author"]["role"],
                "content": text,
                "created_at": time_of(last, "create_time"),
            }
            yield {key: value for key, value in line.items() if value is not None}
    left_out[OTHER] += sum(bool(_said(nodes[name])) for name in nodes.keys() - set(path))


def _said(node: Record) -> str:
    message = node.get("message")
    return _shown(message, LeftOut()) if isinstance(message, dict) else ""


def _shown(message: Record, left_out: LeftOut) -> str:
    """The words of a message of a person or the assistant; empty for any other, and for a blank one."""
    author, content = message.get("author"), message.get("content")
    role = author.get("role") if isinstance(author, dict) else None
    kind = content.get("content_type") if isinstance(content, dict) else None
    if not isinstance(content, dict) or not isinstance(kind, str) or not isinstance(role, str):
        raise Malformed("a message must have author.role and content.content_type")
    found = message.get("metadata")
    metadata: Record = found if isinstance(found, dict) else {}
    words = _words(content, LeftOut())
    if role == "tool":
        left_out["results of tools"] += 1
    elif kind in ("user_editable_context", "model_editable_context"):
        left_out["custom instructions and memories of ChatGPT"] += bool(content)
    elif role not in ("user", "assistant") or metadata.get("is_visually_hidden_from_conversation"):
        left_out[f"messages of the role {role[:40]}, or hidden ones"] += bool(words)
    elif message.get("recipient") not in (None, "all"):
        left_out["calls of tools"] += 1
    elif kind in _THINKING:
        left_out["thinking of the model"] += 1
    elif kind not in _TEXTS:
        left_out[f"messages of the kind {kind[:40]}"] += 1
    else:
        left_out["attached files"] += len(metadata.get("attachments") or ()) * (kind == "text")
        return _CITED.sub("", _words(content, left_out)).strip()
    return ""


def _words(content: Record, left_out: LeftOut) -> str:
    parts: list[Any] = content.get("parts") or ([content["text"]] if isinstance(content.get("text"), str) else [])
    words: list[str] = []
    for part in parts if isinstance(parts, list) else []:
        kind = part.get("content_type") if isinstance(part, dict) else None
        if isinstance(part, str):
            words.append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            words.append(part["text"])  # of a recording
        else:
            left_out[_PARTS.get(str(kind), f"parts of messages ({str(kind)[:40]})")] += 1
    return joined(words)


def _seconds(node: Record) -> float:
    message = node.get("message")
    at = message.get("create_time") if isinstance(message, dict) else None
    return at if isinstance(at, int | float) else 0.0
