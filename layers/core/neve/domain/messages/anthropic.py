"""Messages of Anthropic's API: blocks of text, images, calls, results and thinking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neve.domain.messages.heard import NO_NAME, Builder
from neve.domain.messages.parts import filled_text, image_of, listed_parts, read_text

NOT_TAKEN = "has no place in memory: kept as a neutral event"


def read_anthropic(message: Mapping[str, Any], builder: Builder) -> None:
    """Read a message of role ``user`` or ``assistant``. Raises NeveError for what cannot be understood."""
    content, at = message.get("content"), f"{builder.at}.content"
    if isinstance(content, str):
        builder.text(content)
        return
    for n, block in enumerate(listed_parts([] if content is None else content, at, "blocks")):
        _block(block, builder, f"{at}[{n}]", f"content[{n}]")


def _block(block: Mapping[str, Any], builder: Builder, at: str, part: str) -> None:
    kind = block["type"]
    if kind == "text":
        builder.text(read_text(block, "text", at))
        if block.get("citations"):
            builder.leave(f"{part}.citations", "citations are not kept")
    elif kind == "image" and (image := _image(block, at)) is not None:
        builder.image(image)
    elif kind == "tool_use" and builder.role == "assistant":
        builder.call(filled_text(block, "id", at), filled_text(block, "name", at), block.get("input"))
    elif kind == "tool_result" and builder.role == "user":
        content = _result(block.get("content"), builder, f"{at}.content", f"{part}.content")
        identifier = filled_text(block, "tool_use_id", at)
        builder.result(identifier, content, NO_NAME, is_error=block.get("is_error") is True)
    elif kind in ("thinking", "redacted_thinking") and builder.role == "assistant":
        builder.think(block)
    else:
        builder.leave(part, f"{kind} {NOT_TAKEN}", block)


def _image(block: Mapping[str, Any], at: str) -> dict[str, Any] | None:
    """Make the block of an image; None of one in a form that no other provider has, such as a file's id."""
    source = block.get("source")
    if not isinstance(source, Mapping) or source.get("type") not in ("base64", "url"):
        return None
    if source["type"] == "url":
        return image_of(source.get("url"), source.get("media_type"), f"{at}.source.url")
    return image_of(source.get("data"), source.get("media_type"), f"{at}.source.data")


def _result(content: Any, builder: Builder, at: str, part: str) -> str | list[dict[str, Any]]:
    """Give what a tool returned, as text or blocks."""
    if content is None or isinstance(content, str):
        return content or ""
    blocks: list[dict[str, Any]] = []
    for n, block in enumerate(listed_parts(content, at, "blocks")):
        image = _image(block, f"{at}[{n}]") if block["type"] == "image" else None
        if block["type"] == "text":
            text = read_text(block, "text", f"{at}[{n}]")
            blocks += [{"type": "text", "text": text}] if text.strip() else []
        elif image is not None:
            blocks.append(image)
        else:
            builder.leave(f"{part}[{n}]", f"{block['type']} {NOT_TAKEN}", block)
    if not blocks:
        return ""
    return str(blocks[0]["text"]) if len(blocks) == 1 and blocks[0]["type"] == "text" else blocks
