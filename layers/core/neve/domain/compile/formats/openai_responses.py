"""A prompt as the keyword arguments of OpenAI's ``responses.create``, less the model: items in place of messages.
OpenAI caches prefixes by itself: there is nothing to mark."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from neve.domain.compile.conversation import Block, Image, PromptMessage, Text, Thinking, ToolResult, ToolUse
from neve.domain.compile.formats.format import Format, WrongTool, listed, name_in
from neve.domain.compile.formats.openai_chat import image_url
from neve.domain.compile.formats.tool_names import sent_name
from neve.domain.compile.prompt import Breakpoint, Prompt, Tool
from neve.domain.tokens import compact_json

_NAMED = ("function", "custom")
"""Types of tools that the caller runs, which have a name; the provider's own have none."""


def render_openai_responses(prompt: Prompt, _: Collection[Breakpoint] = ()) -> dict[str, Any]:
    """Render the arguments for OpenAI's responses, ``instructions`` and ``tools`` only where there are any. What the
    model has thought comes back as the items that it was."""
    request: dict[str, Any] = {"tools": [tool.declared for tool in prompt.tools]} if prompt.tools else {}
    if prompt.system:
        request["instructions"] = "\n\n".join(prompt.system)
    messages = [*prompt.history, PromptMessage("user", tuple(prompt.last))]
    return request | {"input": [item for message in messages for item in _items(message)]}


def _items(message: PromptMessage) -> list[dict[str, Any]]:
    """Return the items of a message in order: text that stands together is one item, and so is each call, result and
    thought."""
    items: list[dict[str, Any]] = []
    said: list[Text | Image] = []

    def close() -> None:
        if said:
            items.append({"role": message.role, "content": _content(message.role, said)})
            said.clear()

    for block in message.blocks:
        if isinstance(block, Text | Image):
            said.append(block)
        elif item := _item(block):
            close()
            items.append(item)
    close()
    return items


def _item(block: Block) -> dict[str, Any]:
    """Render a block; empty for what another provider's model has thought."""
    if isinstance(block, Thinking):
        return dict(block.block) if is_item(block.block) else {}
    if isinstance(block, ToolUse):
        name = sent_name(block.name, "openai_responses")
        return {
            "type": "function_call",
            "call_id": block.id,
            "name": name,
            "arguments": compact_json(dict(block.input)),
        }
    if isinstance(block, ToolResult):
        return {"type": "function_call_output", "call_id": block.id, "output": _output(block)}
    return {}


def _output(result: ToolResult) -> Any:
    texts = [part.text for part in result.content if isinstance(part, Text)]
    return "\n".join(texts) if len(texts) == len(result.content) else [_part(part) for part in result.content]


def is_item(thought: Mapping[str, Any]) -> bool:
    """Say whether a thought is a ``reasoning`` item: the AI SDK's part of the same type has a text of its own."""
    return thought.get("type") == "reasoning" and "text" not in thought


def _content(role: str, blocks: Sequence[Text | Image]) -> Any:
    if role == "assistant":
        return "\n\n".join(block.text for block in blocks if isinstance(block, Text))
    return [_part(block) for block in blocks]


def _part(block: Text | Image) -> dict[str, Any]:
    if isinstance(block, Text):
        return {"type": "input_text", "text": block.text}
    return {"type": "input_image", "image_url": image_url(block), "detail": "auto"}


def _own(schemas: Sequence[Mapping[str, Any]]) -> list[Tool]:
    return [
        Tool(
            (schema["name"],),
            {
                "type": "function",
                "name": schema["name"],
                "description": schema["description"],
                "parameters": schema["input_schema"],
                "strict": False,
            },
        )
        for schema in schemas
    ]


def _given(tools: Any) -> list[Tool]:
    found = []
    for n, tool in enumerate(listed(tools)):
        kind = tool.get("type")
        if not isinstance(kind, str):
            raise WrongTool(f"tools[{n}].type", "is required")
        if kind not in _NAMED:
            found.append(Tool((), dict(tool)))
            continue
        name = name_in(tool, f"tools[{n}]")
        found.append(Tool((name,), {**tool, "name": sent_name(name, "openai_responses")}))
    return found


OPENAI_RESPONSES = Format(render_openai_responses, _own, _given, lambda _image, _in_result: True)
