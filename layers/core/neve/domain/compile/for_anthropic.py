"""A prompt as the keyword arguments of Anthropic's ``messages.create``, less the model and the length of its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neve.domain.compile.conversation import Block, Image, Text, ToolResult, ToolUse, not_shown
from neve.domain.compile.prompt import Prompt
from neve.domain.compile.tool_names import sent_name

_MARK = {"cache_control": {"type": "ephemeral"}}


def for_anthropic(prompt: Prompt) -> dict[str, Any]:
    """``tools`` and ``system`` only where there are any. The marks are no part of what the provider compares: they move
    on with the conversation, the bytes before them stay."""
    marks = prompt.breakpoints()
    request: dict[str, Any] = {}
    if prompt.tools:
        request["tools"] = [dict(tool) for tool in prompt.tools]
    system: list[dict[str, Any]] = [{"type": "text", "text": text} for text in prompt.system]
    if "static" in marks:
        system[0] |= _MARK
    if "system" in marks:
        system[-1] |= _MARK
    if system:
        request["system"] = system
    messages = [_message(message.role, message.blocks) for message in prompt.history]
    ends = [prompt.previous, len(messages)] if prompt.previous is not None else [len(messages)]
    for end in ends:
        if end:
            messages[end - 1]["content"][-1] |= _MARK
    request["messages"] = [*messages, _message("user", prompt.last)]
    return request


def _message(role: str, blocks: Sequence[Block]) -> dict[str, Any]:
    return {"role": role, "content": [_block(block) for block in blocks]}


def _block(block: Block) -> dict[str, Any]:
    if isinstance(block, ToolUse):
        return {
            "type": "tool_use",
            "id": block.id,
            "name": sent_name(block.name, "anthropic"),
            "input": dict(block.input),
        }
    if isinstance(block, ToolResult):
        result: dict[str, Any] = {"type": "tool_result", "tool_use_id": block.id}
        if block.content:
            result["content"] = [_content_block(part) for part in block.content]
        return result | {"is_error": True} if block.is_error else result
    return _content_block(block)


def _content_block(block: Text | Image) -> dict[str, Any]:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    if block.url is not None and not block.url.startswith("https:"):  # the whole request would be a 400
        return _content_block(not_shown(block.media_type))
    if block.url is not None:
        return {"type": "image", "source": {"type": "url", "url": block.url}}
    return {"type": "image", "source": {"type": "base64", "media_type": block.media_type, "data": block.data}}
