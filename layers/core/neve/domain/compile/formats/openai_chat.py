"""A prompt as the keyword arguments of OpenAI's ``chat.completions.create``, less the model. OpenAI caches prefixes by
itself: there is nothing to mark."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from neve.domain.compile.conversation import Block, Image, Text, ToolResult, ToolUse
from neve.domain.compile.formats.format import Format, WrongTool, listed, name_in
from neve.domain.compile.formats.tool_names import sent_name
from neve.domain.compile.prompt import Breakpoint, Prompt, Tool
from neve.domain.tokens import compact_json

_NO_TEXT = "(an image)"


def render_openai_chat(prompt: Prompt, _: Collection[Breakpoint] = ()) -> dict[str, Any]:
    """Render the arguments for OpenAI's chat completions, ``tools`` only where there are any. The result of a tool is a
    message of its own; an image in one is named. What a model has thought has no place here."""
    request: dict[str, Any] = {"tools": [tool.declared for tool in prompt.tools]} if prompt.tools else {}
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
    messages = [{"role": "tool", "tool_call_id": r.id, "content": result_text(r)} for r in results]
    parts = [_part(block) for block in blocks if isinstance(block, Text | Image)]
    return [*messages, {"role": "user", "content": parts}] if parts else messages


def _part(block: Text | Image) -> dict[str, Any]:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    return {"type": "image_url", "image_url": {"url": image_url(block)}}


def image_url(image: Image) -> str:
    """Return the image's address, or its bytes as a data address."""
    return image.url or f"data:{image.media_type};base64,{image.data}"


def result_text(result: ToolResult) -> str:
    """Return a result as text; its images are named."""
    return "\n".join(part.text if isinstance(part, Text) else _NO_TEXT for part in result.content)


def _own(schemas: Sequence[Mapping[str, Any]]) -> list[Tool]:
    return [
        Tool(
            (schema["name"],),
            {
                "type": "function",
                "function": {
                    "name": schema["name"],
                    "description": schema["description"],
                    "parameters": schema["input_schema"],
                },
            },
        )
        for schema in schemas
    ]


def _given(tools: Any) -> list[Tool]:
    """Return the caller's tools: functions, and custom tools; the name stands in what the type names."""
    found = []
    for n, tool in enumerate(listed(tools)):
        kind = str(tool.get("type"))
        inner = tool.get(kind)
        if not isinstance(inner, dict):
            raise WrongTool(f"tools[{n}]", 'must be {"type": "function", "function": {"name": …}}')
        name = name_in(inner, f"tools[{n}].{kind}")
        found.append(Tool((name,), {**tool, kind: {**inner, "name": sent_name(name, "openai")}}))
    return found


def no_image_in_a_result(_: Mapping[str, Any], in_result: bool) -> bool:
    """Say whether the image is shown: one in a tool's result is only named."""
    return not in_result


OPENAI = Format(render_openai_chat, _own, _given, no_image_in_a_result)
