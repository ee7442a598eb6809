"""A prompt as the keyword arguments of OpenAI's ``chat.completions.create``, less the model. OpenAI caches prefixes by
itself: there is nothing to mark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neve.domain.compile.conversation import Block, Image, Text, ToolResult, ToolUse
from neve.domain.compile.prompt import Prompt
from neve.domain.compile.tool_names import sent_name
from neve.domain.tokens import compact_json

_NO_TEXT = "(an image)"


def for_openai(prompt: Prompt) -> dict[str, Any]:
    """``tools`` only where there are any. The result of a tool is a message of its own; an image in one is named."""
    request: dict[str, Any] = {"tools": [dict(tool) for tool in prompt.tools]} if prompt.tools else {}
    messages: list[dict[str, Any]] = [{"role": "system", "content": text} for text in prompt.system]
    for message in prompt.history:
        if message.role == "assistant":
            messages.append(_assistant(message.blocks))
        else:
            messages += _user(message.blocks)
    return request | {"messages": [*messages, *_user(prompt.last)]}


def _assistant(blocks: Sequence[Block]) -> dict[str, Any]:
    texts = [block.text for block in blocks if isinstance(block, Text)]
    calls = [block for block in blocks if isinstance(block, ToolUse)]
    if any(isinstance(block, Image) for block in blocks):
        texts.append(_NO_TEXT)
    message: dict[str, Any] = {"role": "assistant"}
    if texts:
        message["content"] = "\n\n".join(texts)
    if calls:
        message["tool_calls"] = [_call(call) for call in calls]
    return message


def _call(call: ToolUse) -> dict[str, Any]:
    function = {"name": sent_name(call.name, "openai"), "arguments": compact_json(dict(call.input))}
    return {"id": call.id, "type": "function", "function": function}


def _user(blocks: Sequence[Block]) -> list[dict[str, Any]]:
    results = [block for block in blocks if isinstance(block, ToolResult)]
    messages = [{"role": "tool", "tool_call_id": r.id, "content": _result(r)} for r in results]
    parts = [_part(block) for block in blocks if isinstance(block, Text | Image)]
    return [*messages, {"role": "user", "content": parts}] if parts else messages


def _part(block: Text | Image) -> dict[str, Any]:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    url = block.url or f"data:{block.media_type};base64,{block.data}"
    return {"type": "image_url", "image_url": {"url": url}}


def _result(result: ToolResult) -> str:
    return "\n".join(part.text if isinstance(part, Text) else _NO_TEXT for part in result.content)
