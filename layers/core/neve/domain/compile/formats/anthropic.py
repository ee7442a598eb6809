"""A prompt as the keyword arguments of Anthropic's ``messages.create``, less the model and the length of its answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from neve.domain.compile.conversation import Block, Image, Text, Thinking, ToolResult, ToolUse, not_shown
from neve.domain.compile.formats.format import Format, listed, name_in
from neve.domain.compile.formats.tool_names import sent_name
from neve.domain.compile.prompt import Breakpoint, Prompt, Tool

_MARK = {"cache_control": {"type": "ephemeral"}}
THINKING = ("thinking", "redacted_thinking")
_WITHOUT_NAME = "mcp_toolset"


def render_anthropic(prompt: Prompt, marks: Collection[Breakpoint] = ()) -> dict[str, Any]:
    """Render the arguments for Anthropic, ``tools`` and ``system`` only where there are any. The marks are no part of
    what the provider compares: they move on with the conversation, the bytes before them stay."""
    request: dict[str, Any] = {}
    if prompt.tools:
        request["tools"] = [tool.declared for tool in prompt.tools]
    system: list[dict[str, Any]] = [{"type": "text", "text": text} for text in prompt.system]
    if prompt.callers_mark is not None:
        system[prompt.static_texts - 1]["cache_control"] = prompt.callers_mark
    if "static" in marks:
        system[prompt.static_texts - 1] |= _MARK
    if "system" in marks:
        system[-1] |= _MARK
    if system:
        request["system"] = system
    messages = [_message(message.role, message.blocks) for message in prompt.history]
    messages.append(_message("user", prompt.last))
    for end in prompt.ends(marks):
        messages[end - 1]["content"][-1] |= _MARK
    return request | {"messages": messages}


def _message(role: str, blocks: Sequence[Block]) -> dict[str, Any]:
    return {"role": role, "content": [shown for block in blocks if (shown := _block(block))]}


def _block(block: Block) -> dict[str, Any]:
    """Render a block; empty for what another provider's model has thought."""
    if isinstance(block, Thinking):
        return dict(block.block) if block.block.get("type") in THINKING else {}
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


def _own(schemas: Sequence[Mapping[str, Any]]) -> list[Tool]:
    return [Tool((schema["name"],), dict(schema)) for schema in schemas]


def _given(tools: Any) -> list[Tool]:
    """Return the caller's tools. Tools of the provider have names, too; a set of an MCP server's has none."""
    found = []
    for n, tool in enumerate(listed(tools)):
        if tool.get("type") == _WITHOUT_NAME:
            found.append(Tool((), dict(tool)))
            continue
        name = name_in(tool, f"tools[{n}]")
        found.append(Tool((name,), {**tool, "name": sent_name(name, "anthropic")}))
    return found


def _takes(image: Mapping[str, Any], _in_result: bool) -> bool:
    return str(image.get("url", "https:")).startswith("https:")


def _own_marks(tools: Sequence[Tool]) -> int:
    return sum(bool(tool.declared.get("cache_control")) for tool in tools)


ANTHROPIC = Format(render_anthropic, _own, _given, _takes, marks=True, own_marks=_own_marks)
