"""Model messages of the Vercel AI SDK (5 and later; results and calls of version 4 as well)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neve.domain.errors import invalid
from neve.domain.messages.anthropic import NOT_TAKEN
from neve.domain.messages.heard import Builder, as_text
from neve.domain.messages.parts import filled_text, image_of, listed_parts, read_text

_ERRORS = ("error-text", "error-json")


def read_ai_sdk(message: Mapping[str, Any], builder: Builder) -> None:
    """Read a message of role ``user``, ``assistant`` or ``tool``. Raises NeveError for what cannot be understood."""
    content, at = message.get("content"), f"{builder.at}.content"
    if isinstance(content, str):
        builder.text(content)
        return
    for n, part in enumerate(listed_parts([] if content is None else content, at)):
        _part(part, builder, f"{at}[{n}]", f"content[{n}]")


def _part(part: Mapping[str, Any], builder: Builder, at: str, place: str) -> None:
    kind = part["type"]
    image = _image(part, at) if kind in ("image", "file") else None
    if kind == "text":
        builder.text(read_text(part, "text", at))
    elif image is not None:
        builder.image(image)
    elif kind == "reasoning":
        builder.think(part)
    elif kind == "tool-call" and not part.get("providerExecuted"):
        given = part.get("input", part.get("args"))
        builder.call(filled_text(part, "toolCallId", at), filled_text(part, "toolName", at), given)
    elif kind == "tool-result" and builder.role == "user":
        content, is_error = _output(part, builder, at, place)
        name = filled_text(part, "toolName", at)
        builder.result(filled_text(part, "toolCallId", at), content, name, is_error=is_error)
    else:
        builder.leave(place, f"{kind} {NOT_TAKEN}", part)


def _image(part: Mapping[str, Any], at: str) -> dict[str, Any] | None:
    """Make the block of an image; None of a file that is no image."""
    media_type = part.get("mediaType", part.get("mimeType"))
    if part["type"] == "file" and not str(media_type or "").startswith("image/"):
        return None
    member = "image" if part["type"] == "image" else "data"
    source = part.get(member)
    if isinstance(source, Mapping) and source.get("type") == "url":
        source = source.get("url")
    elif isinstance(source, Mapping) and source.get("type") == "data":
        source = source.get("data")
    if not isinstance(source, str):
        raise invalid(f"{at}.{member}", "must be an https address, a data: URL, or base64: JSON has no bytes")
    return image_of(source, media_type, f"{at}.{member}")


def _output(part: Mapping[str, Any], builder: Builder, at: str, place: str) -> tuple[str | list[dict[str, Any]], bool]:
    """Give what a tool returned, and whether it failed."""
    output = part.get("output")
    if not isinstance(output, Mapping):  # version 4
        given = part.get("result", output)
        return ("" if given is None else as_text(given)), part.get("isError") is True
    kind, value = output.get("type"), output.get("value")
    if kind == "content":
        return _contents(value, builder, f"{at}.output.value", f"{place}.output.value"), False
    if kind == "execution-denied":
        reason = output.get("reason")
        return (f"[not run: {reason}]" if reason else "[not run: the user said no]"), True
    return ("" if value is None else as_text(value)), kind in _ERRORS


def _contents(value: Any, builder: Builder, at: str, place: str) -> str | list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for n, part in enumerate(listed_parts(value, at)):
        media_type = str(part.get("mediaType", ""))
        source = part.get("data") or part.get("url")
        is_image = part["type"].startswith("image-") or media_type.startswith("image/")
        image = image_of(source, media_type or None, f"{at}[{n}]") if is_image and isinstance(source, str) else None
        if part["type"] == "text":
            text = read_text(part, "text", f"{at}[{n}]")
            blocks += [{"type": "text", "text": text}] if text.strip() else []
        elif image is not None:
            blocks.append(image)
        else:
            builder.leave(f"{place}[{n}]", f"{part['type']} {NOT_TAKEN}", part)
    return (blocks[0]["text"] if len(blocks) == 1 and blocks[0]["type"] == "text" else blocks) or ""
