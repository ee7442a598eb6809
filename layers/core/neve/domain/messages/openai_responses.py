"""Items of OpenAI's Responses API: messages, calls, their outputs, and reasoning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neve.domain.messages.anthropic import NOT_TAKEN
from neve.domain.messages.heard import NO_NAME, Builder, as_text
from neve.domain.messages.parts import filled_text, image_of, listed_parts, read_text

CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
OUTPUTS = ("function_call_output", "custom_tool_call_output")
OF_ASSISTANT = (*CALLS, "reasoning")
BESIDE = ("created_at", "metadata")
"""Said of an item by its sender: the provider, whom it goes back to as it was, refuses them."""
_TEXTS = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}


def read_openai_item(item: Mapping[str, Any], builder: Builder) -> None:
    """Read an item with a ``type``, or a message in short form without. Raises NeveError for what cannot be
    understood."""
    kind, at = item.get("type") or "message", builder.at
    if kind == "message":
        _message(item.get("content"), builder)
    elif kind in CALLS:
        builder.call(filled_text(item, "call_id", at), filled_text(item, "name", at), item.get(CALLS[kind]))
    elif kind in OUTPUTS:
        builder.result(filled_text(item, "call_id", at), _output(item, builder), NO_NAME, is_error=False)
    elif kind == "reasoning":
        builder.think({name: value for name, value in item.items() if name not in BESIDE})
    else:
        builder.leave("type", f"{kind} {NOT_TAKEN}", dict(item))


def _message(content: Any, builder: Builder) -> None:
    if content is None or isinstance(content, str):
        builder.text(content or "")
        return
    at = f"{builder.at}.content"
    for n, part in enumerate(listed_parts(content, at)):
        kind = part["type"]
        image = _image(part, f"{at}[{n}]") if kind == "input_image" else None
        if kind in _TEXTS:
            builder.text(read_text(part, _TEXTS[kind], f"{at}[{n}]"))
            if part.get("annotations"):
                builder.leave(f"content[{n}].annotations", "annotations are not kept")
        elif image is not None:
            builder.image(image)
        else:
            builder.leave(f"content[{n}]", f"{kind} {NOT_TAKEN}", part)


def _image(part: Mapping[str, Any], at: str) -> dict[str, Any] | None:
    """Make the block of an image; None of one by a file's id."""
    url = part.get("image_url")
    return image_of(url, None, f"{at}.image_url") if url else None


def _output(item: Mapping[str, Any], builder: Builder) -> str | list[dict[str, Any]]:
    output, at = item.get("output"), f"{builder.at}.output"
    if output is None or not isinstance(output, list):
        return as_text(output) if output is not None else ""
    blocks: list[dict[str, Any]] = []
    for n, part in enumerate(listed_parts(output, at)):
        kind = part["type"]
        image = _image(part, f"{at}[{n}]") if kind == "input_image" else None
        if kind in _TEXTS:
            text = read_text(part, _TEXTS[kind], f"{at}[{n}]")
            blocks += [{"type": "text", "text": text}] if text.strip() else []
        elif image is not None:
            blocks.append(image)
        else:
            builder.leave(f"output[{n}]", f"{kind} {NOT_TAKEN}", part)
    return (blocks[0]["text"] if len(blocks) == 1 and blocks[0]["type"] == "text" else blocks) or ""
