"""A prompt as what Gemini's ``generateContent`` takes, less the model. It caches prefixes by itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from neve.domain.compile.conversation import Block, Image, PromptMessage, Text, ToolResult, ToolUse, not_shown
from neve.domain.compile.formats.format import Format, WrongTool, listed, name_in
from neve.domain.compile.formats.openai_chat import result_text
from neve.domain.compile.formats.tool_names import sent_name
from neve.domain.compile.prompt import Breakpoint, Prompt, Tool

_IMAGES = ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")
"""The types of images as the provider lists them; it opens no address that it does not know."""
_DECLARATIONS = ("function_declarations", "functionDeclarations")


def render_gemini(prompt: Prompt, _: Collection[Breakpoint] = ()) -> dict[str, Any]:
    """Render ``system_instruction``, ``contents`` and ``tools`` for Gemini: those of the first and the last belong into
    ``config`` of Google's own package. What a model has thought has no place here."""
    request: dict[str, Any] = {"tools": [tool.declared for tool in prompt.tools]} if prompt.tools else {}
    if prompt.system:
        request["system_instruction"] = {"parts": [{"text": text} for text in prompt.system]}
    blocks = (block for message in prompt.history for block in message.blocks)
    names = {block.id: sent_name(block.name, "gemini") for block in blocks if isinstance(block, ToolUse)}
    messages = [*prompt.history, PromptMessage("user", tuple(prompt.last))]
    return request | {"contents": [content for message in messages for content in _contents(message, names)]}


def _contents(message: PromptMessage, names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Render a message: the answers to calls are a content of their own, directly behind the calls."""
    role = "model" if message.role == "assistant" else "user"
    answers = [_answer(block, names) for block in message.blocks if isinstance(block, ToolResult)]
    others = [part for block in message.blocks if not isinstance(block, ToolResult) and (part := _part(block))]
    return [{"role": role, "parts": parts} for parts in (answers, others) if parts]


def _part(block: Block) -> dict[str, Any]:
    if isinstance(block, Text):
        return {"text": block.text}
    if isinstance(block, Image):
        if not _takes_bytes(block.media_type, block.url):
            return {"text": not_shown(block.media_type).text}
        return {"inline_data": {"mime_type": block.media_type, "data": block.data}}
    if isinstance(block, ToolUse):
        return {"function_call": {"id": block.id, "name": sent_name(block.name, "gemini"), "args": dict(block.input)}}
    return {}


def _answer(result: ToolResult, names: Mapping[str, str]) -> dict[str, Any]:
    said = {"error" if result.is_error else "output": result_text(result)}
    return {"function_response": {"id": result.id, "name": names.get(result.id, ""), "response": said}}


def _takes_bytes(media_type: str, url: str | None) -> bool:
    return url is None and media_type in _IMAGES


def _own(schemas: Sequence[Mapping[str, Any]]) -> list[Tool]:
    declared = [
        {
            "name": schema["name"],
            "description": schema["description"],
            "parameters_json_schema": schema["input_schema"],
        }
        for schema in schemas
    ]
    names = tuple(schema["name"] for schema in schemas)
    return [Tool(names, {_DECLARATIONS[0]: declared})] if declared else []


def _given(tools: Any) -> list[Tool]:
    """Return the caller's tools: lists of functions, and the provider's own, which have no names."""
    found = []
    for n, tool in enumerate(listed(tools)):
        key = next((key for key in _DECLARATIONS if key in tool), None)
        if key is None and "name" in tool:
            raise WrongTool(f"tools[{n}]", "must be {function_declarations: [{name, …}]}")
        if key is None:
            found.append(Tool((), dict(tool)))
            continue
        field = f"tools[{n}].{key}"
        declared = tool[key]
        if not isinstance(declared, list) or not all(isinstance(one, dict) for one in declared):
            raise WrongTool(field, "must be a list of objects")
        names = tuple(name_in(one, f"{field}[{m}]") for m, one in enumerate(declared))
        sent = [{**one, "name": sent_name(name, "gemini")} for one, name in zip(declared, names, strict=True)]
        found.append(Tool(names, {**tool, key: sent}))
    return found


def _takes(image: Mapping[str, Any], in_result: bool) -> bool:
    return not in_result and _takes_bytes(image["media_type"], image.get("url"))


GEMINI = Format(render_gemini, _own, _given, _takes)
