"""Messages of Strands as those of Anthropic, which the service reads. A block of an unknown kind goes as it is: the
service keeps it as a neutral event."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

Block = dict[str, Any]
MARK = "cachePoint"
"""A block that says nothing: where a provider's cache ends."""


def message_of(message: Mapping[str, Any], own_id: str | None) -> dict[str, Any]:
    """One message, with the id that makes a repeat of it known."""
    content = [_block(block) for block in message["content"] if MARK not in block]
    return {"role": message["role"], "content": content} | ({} if own_id is None else {"id": own_id})


def text_of(message: Mapping[str, Any]) -> str:
    """Give the text of a message."""
    return "\n".join(str(block["text"]) for block in message["content"] if "text" in block).strip()


def _block(block: Mapping[str, Any]) -> Block:
    kind, said = next(iter(block.items()))
    if kind == "text":
        return {"type": "text", "text": said}
    if kind == "toolUse":
        return {"type": "tool_use", "id": said["toolUseId"], "name": said["name"], "input": _json(said["input"])}
    if kind == "toolResult":
        return {
            "type": "tool_result",
            "tool_use_id": said["toolUseId"],
            "content": _results(said["content"]),
            "is_error": said.get("status") == "error",
        }
    if kind == "image" and "bytes" in said.get("source", {}):
        return _image(said)
    if kind == "reasoningContent" and "reasoningText" in said:
        thought = said["reasoningText"]
        return {"type": "thinking", "thinking": thought["text"], "signature": thought.get("signature") or ""}
    if kind == "citationsContent" and said.get("content"):
        return {"type": "text", "text": "".join(str(part.get("text", "")) for part in said["content"])}
    return {"type": kind, kind: _json(said)}


def _results(content: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Texts and images; what is neither is a text, as JSON."""
    found: list[Block] = []
    for part in content:
        if "text" in part:
            found.append({"type": "text", "text": part["text"]})
        elif "bytes" in part.get("image", {}).get("source", {}):
            found.append(_image(part["image"]))
        else:
            said = part.get("json", part)
            found.append({"type": "text", "text": json.dumps(_json(said), ensure_ascii=False)})
    return found


def _image(image: Mapping[str, Any]) -> Block:
    data = b64encode(image["source"]["bytes"]).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": f"image/{image['format']}", "data": data}}


def _json(value: Any) -> Any:
    """Write bytes as base64, at any depth."""
    if isinstance(value, bytes | bytearray):
        return b64encode(value).decode()
    if isinstance(value, Mapping):
        return {str(name): _json(one) for name, one in value.items()}
    return [_json(one) for one in value] if isinstance(value, list | tuple) else value
