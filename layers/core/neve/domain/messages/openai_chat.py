"""Messages of OpenAI's chat completions, and of the many servers that speak like it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neve.domain.errors import invalid
from neve.domain.messages.anthropic import NOT_TAKEN
from neve.domain.messages.heard import NO_NAME, Builder
from neve.domain.messages.parts import filled_text, image_of, listed_parts, read_text

ROLES = ("user", "assistant", "tool", "system", "developer", "function")
_THOUGHT = ("reasoning_content", "reasoning", "reasoning_details")
_LEGACY = "function:"
"""The prefix of the name of a function that was called without an id."""


def read_openai_chat(message: Mapping[str, Any], builder: Builder) -> None:
    """Read a message of any of the form's roles. Raises NeveError for what cannot be understood."""
    role, at = message.get("role"), builder.at
    if role == "tool":
        identifier = filled_text(message, "tool_call_id", at)
        _result(message, builder, identifier, str(message.get("name") or NO_NAME))
        return
    if role == "function":
        name = filled_text(message, "name", at)
        _result(message, builder, f"{_LEGACY}{name}"[:256], name)
        return
    _content(message.get("content"), builder)
    if role != "assistant":
        return
    if isinstance(message.get("refusal"), str):
        builder.text(message["refusal"])
    _calls(message, builder)
    if message.get("audio"):
        builder.leave("audio", f"audio {NOT_TAKEN}", message["audio"])
    if message.get("annotations"):
        builder.leave("annotations", "annotations are not kept")
    for name in _THOUGHT:
        if message.get(name):
            builder.leave(name, "is not kept: it is no part of OpenAI's messages")


def _content(content: Any, builder: Builder) -> None:
    if content is None:
        return
    if isinstance(content, str):
        builder.text(content)
        return
    at = f"{builder.at}.content"
    for n, part in enumerate(listed_parts(content, at)):
        _part(part, builder, f"{at}[{n}]", f"content[{n}]")


def _part(part: Mapping[str, Any], builder: Builder, at: str, place: str) -> None:
    kind = part["type"]
    if kind == "text":
        builder.text(read_text(part, "text", at))
    elif kind == "refusal":
        builder.text(read_text(part, "refusal", at))
    elif kind == "image_url" and (image := _image(part, at)) is not None:
        builder.image(image)
    else:
        builder.leave(place, f"{kind} {NOT_TAKEN}", part)


def _image(part: Mapping[str, Any], at: str) -> dict[str, Any] | None:
    given = part.get("image_url")
    url = given.get("url") if isinstance(given, Mapping) else given
    return image_of(url, None, f"{at}.image_url.url")


def _calls(message: Mapping[str, Any], builder: Builder) -> None:
    calls, at = message.get("tool_calls") or [], f"{builder.at}.tool_calls"
    if not isinstance(calls, list):
        raise invalid(at, "must be a list of calls")
    for n, call in enumerate(calls):
        if not isinstance(call, Mapping):
            raise invalid(f"{at}[{n}]", "must be an object")
        form = "custom" if isinstance(call.get("custom"), Mapping) else "function"
        called = call.get(form)
        if not isinstance(called, Mapping):
            raise invalid(f"{at}[{n}].function", "is required: its name and arguments")
        identifier, name = filled_text(call, "id", f"{at}[{n}]"), filled_text(called, "name", f"{at}[{n}].{form}")
        builder.call(identifier, name, called.get("input" if form == "custom" else "arguments"))
    legacy = message.get("function_call")
    if isinstance(legacy, Mapping):
        name = filled_text(legacy, "name", f"{builder.at}.function_call")
        builder.call(f"{_LEGACY}{name}"[:256], name, legacy.get("arguments"))


def _result(message: Mapping[str, Any], builder: Builder, identifier: str, name: str) -> None:
    content, at = message.get("content"), f"{builder.at}.content"
    if content is None or isinstance(content, str):
        builder.result(identifier, content or "", name, is_error=False)
        return
    blocks: list[dict[str, Any]] = []
    for n, part in enumerate(listed_parts(content, at)):
        image = _image(part, f"{at}[{n}]") if part["type"] == "image_url" else None
        if part["type"] == "text":
            blocks.append({"type": "text", "text": read_text(part, "text", f"{at}[{n}]")})
        elif image is not None:
            blocks.append(image)
        else:
            builder.leave(f"content[{n}]", f"{part['type']} {NOT_TAKEN}", part)
    blocks = [block for block in blocks if block["type"] != "text" or block["text"].strip()]
    alone = len(blocks) == 1 and blocks[0]["type"] == "text"
    builder.result(identifier, (blocks[0]["text"] if alone else blocks) or "", name, is_error=False)
