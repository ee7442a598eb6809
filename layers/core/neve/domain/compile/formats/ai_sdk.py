"""A prompt as what ``streamText`` and the agents of Vercel's AI SDK take (``ModelMessage``, ai 6), less the model:
``instructions`` in front and no system message among the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from neve.domain.compile.conversation import Block, Image, PromptMessage, Text, Thinking, ToolResult, ToolUse
from neve.domain.compile.formats.format import Format, WrongTool
from neve.domain.compile.formats.openai_chat import image_url, no_image_in_a_result, result_text
from neve.domain.compile.formats.tool_names import sent_name
from neve.domain.compile.prompt import Breakpoint, Prompt, Tool

_MARK = {"providerOptions": {"anthropic": {"cacheControl": {"type": "ephemeral"}}}}


def render_ai_sdk(prompt: Prompt, marks: Collection[Breakpoint] = ()) -> dict[str, Any]:
    """Render the arguments for the AI SDK. ``instructions`` is a text, or where something is to be marked the system
    messages of it. ``tools`` is by name: ``{description, inputSchema}``, the schema as JSON (the SDK's ``jsonSchema``
    reads it)."""
    request: dict[str, Any] = {}
    if prompt.tools:
        request["tools"] = {name: tool.declared for tool in prompt.tools for name in _sent(tool)}
    if prompt.system:
        request["instructions"] = _instructions(prompt, marks)
    at: dict[int, int] = {}
    messages: list[dict[str, Any]] = []
    for n, message in enumerate([*prompt.history, PromptMessage("user", tuple(prompt.last))], start=1):
        messages += _messages(message, _names_of(prompt))
        at[n] = len(messages)
    for end in prompt.ends(marks):
        messages[at[end] - 1] |= _MARK
    return request | {"messages": messages}


def _instructions(prompt: Prompt, marks: Collection[Breakpoint]) -> Any:
    if not {"static", "system"} & set(marks) and prompt.callers_mark is None:
        return "\n\n".join(prompt.system)
    messages: list[dict[str, Any]] = [{"role": "system", "content": text} for text in prompt.system]
    if "static" in marks or prompt.callers_mark is not None:
        messages[prompt.static_texts - 1] |= _MARK
    if "system" in marks:
        messages[-1] |= _MARK
    return messages


def _names_of(prompt: Prompt) -> dict[str, str]:
    """Return the name of the called tool by the id of the call: a result names its tool."""
    blocks = (block for message in prompt.history for block in message.blocks)
    return {block.id: sent_name(block.name, "ai_sdk") for block in blocks if isinstance(block, ToolUse)}


def _messages(message: PromptMessage, names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Render a message: the results of tools are a message of their own, in front of what the user says."""
    if message.role == "assistant":
        parts = [part for block in message.blocks if (part := _part(block))]
        return [{"role": "assistant", "content": parts}]
    results = [_result(block, names) for block in message.blocks if isinstance(block, ToolResult)]
    said = [_part(block) for block in message.blocks if isinstance(block, Text | Image)]
    found = [{"role": "tool", "content": results}] if results else []
    return [*found, {"role": "user", "content": said}] if said else found


def _part(block: Block) -> dict[str, Any]:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    if isinstance(block, Image):
        return {"type": "image", "image": block.data or image_url(block), "mediaType": block.media_type}
    if isinstance(block, Thinking):
        return _reasoning(block.block)
    if isinstance(block, ToolUse):
        name = sent_name(block.name, "ai_sdk")
        return {"type": "tool-call", "toolCallId": block.id, "toolName": name, "input": dict(block.input)}
    return {}


def _reasoning(thought: Mapping[str, Any]) -> dict[str, Any]:
    """Render a thought: Anthropic's blocks in the SDK's form; empty for what it has no form for."""
    if thought.get("type") == "reasoning" and "text" in thought:
        return dict(thought)
    if thought.get("type") == "thinking":
        signed = {"providerOptions": {"anthropic": {"signature": thought.get("signature", "")}}}
        return {"type": "reasoning", "text": thought.get("thinking", ""), **signed}
    if thought.get("type") == "redacted_thinking":
        return {
            "type": "reasoning",
            "text": "",
            "providerOptions": {"anthropic": {"redactedData": thought.get("data", "")}},
        }
    return {}


def _result(result: ToolResult, names: Mapping[str, str]) -> dict[str, Any]:
    output = {"type": "error-text" if result.is_error else "text", "value": result_text(result)}
    return {"type": "tool-result", "toolCallId": result.id, "toolName": names.get(result.id, ""), "output": output}


def _own(schemas: Sequence[Mapping[str, Any]]) -> list[Tool]:
    return [
        Tool((schema["name"],), {"description": schema["description"], "inputSchema": schema["input_schema"]})
        for schema in schemas
    ]


def _given(tools: Any) -> list[Tool]:
    if not isinstance(tools, dict):
        raise WrongTool("tools", "must be an object: name -> {description, inputSchema}")
    for name, tool in tools.items():
        if not name.strip() or not isinstance(tool, dict):
            raise WrongTool(f"tools.{name}", "must be an object: {description, inputSchema}")
    return [Tool((name,), tool) for name, tool in tools.items()]


def _sent(tool: Tool) -> list[str]:
    return [sent_name(name, "ai_sdk") for name in tool.names]


def _own_marks(tools: Sequence[Tool]) -> int:
    return sum("cacheControl" in tool.declared.get("providerOptions", {}).get("anthropic", {}) for tool in tools)


AI_SDK = Format(render_ai_sdk, _own, _given, no_image_in_a_result, marks=True, own_marks=_own_marks)
