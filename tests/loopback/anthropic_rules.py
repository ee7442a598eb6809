"""The rules by which Anthropic's ``POST /v1/messages`` refuses a request."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from tests.loopback.refusal import Json, Refused, array, between, closed, distinct, matching, one_of, text

FIELDS = {
    "model", "messages", "max_tokens", "system", "tools", "tool_choice", "stream", "temperature", "top_p", "top_k",
    "stop_sequences", "metadata", "thinking", "service_tier", "output_config", "container", "inference_geo",
}  # fmt: skip
ID = re.compile(r"[a-zA-Z0-9_-]+")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
BUILT_IN = re.compile(r"(memory|bash|text_editor|web_search|web_fetch|code_execution|computer)_\d{8}")
MARKS = 4
MEDIA = ("image/jpeg", "image/png", "image/gif", "image/webp")
IN_USER = {"text", "image", "document", "tool_result", "search_result"}
IN_ASSISTANT = {"text", "thinking", "redacted_thinking", "tool_use"}
IN_RESULT = {"text", "image", "document", "search_result"}
THINKING = ("thinking", "redacted_thinking")
BLOCKS: dict[str, tuple[set[str], set[str]]] = {
    "text": ({"type", "text"}, {"citations", "cache_control"}),
    "image": ({"type", "source"}, {"cache_control"}),
    "document": ({"type", "source"}, {"title", "context", "citations", "cache_control"}),
    "search_result": ({"type", "source", "title", "content"}, {"citations", "cache_control"}),
    "tool_use": ({"type", "id", "name", "input"}, {"caller", "cache_control"}),
    "tool_result": ({"type", "tool_use_id"}, {"content", "is_error", "cache_control"}),
    "thinking": ({"type", "thinking", "signature"}, set()),
    "redacted_thinking": ({"type", "data"}, set()),
}
"""Fields that a block has, and those that it may have."""


def check(body: object) -> Json:
    """The body, when Anthropic would take it. Raises Refused."""
    found = closed(body, "body", FIELDS, ("model", "messages", "max_tokens"))
    text(found["model"], "model")
    between(found, "max_tokens", 1, 128_000)
    between(found, "temperature", 0, 1)
    between(found, "top_p", 0, 1)
    declared = _tools(found)
    _system(found)
    messages = _roles(found)
    for at, message in enumerate(messages):
        _content(message, f"messages.{at}")
    _pairs(messages)
    _declared(messages, declared)
    _thinking(found, messages)
    _choice(found, declared)
    _marks(found)
    return found


def blocks_of(message: Json) -> list[Json]:
    """A message's content as blocks."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def signature_of(thinking: str) -> str:
    """By which the provider knows its own words again."""
    return b64encode(sha256(f"loopback:{thinking}".encode()).digest()).decode()


def _tools(body: Json) -> set[str]:
    if "tools" not in body:
        return set()
    names = []
    if not isinstance(body["tools"], list):
        raise Refused("tools", "Input should be a valid list")
    for at, tool in enumerate(body["tools"]):
        where = f"tools.{at}"
        if isinstance(tool, dict) and BUILT_IN.fullmatch(str(tool.get("type"))):
            names.append(matching(tool.get("name"), f"{where}.name", NAME))
            continue
        allowed = {"name", "description", "input_schema", "cache_control", "type", "strict", "input_examples"}
        closed(tool, where, allowed, ("name", "input_schema"))
        if tool.get("type", "custom") != "custom":
            raise Refused(f"{where}.type", f"unknown tool type {tool['type']!r}")
        names.append(matching(tool["name"], f"{where}.name", NAME))
        if not isinstance(tool["input_schema"], dict) or tool["input_schema"].get("type") != "object":
            raise Refused(f"{where}.input_schema.type", "Input should be 'object'")
    distinct(names, "tools", "Tool names")
    return set(names)


def _system(body: Json) -> None:
    system = body.get("system")
    if isinstance(system, str):
        text(system, "system")
    elif "system" in body:
        for at, block in enumerate(array(system, "system")):
            where = f"system.{at}"
            closed(block, where, {"type", "text", "cache_control", "citations"}, ("type", "text"))
            one_of(block["type"], f"{where}.type", ("text",))
            text(block["text"], f"{where}.text")


def _roles(body: Json) -> list[Json]:
    messages = array(body["messages"], "messages", most=100_000)
    for at, message in enumerate(messages):
        where = f"messages.{at}"
        closed(message, where, {"role", "content"}, ("role", "content"))
        one_of(message["role"], f"{where}.role", ("user", "assistant"))
        expected = ("user", "assistant")[at % 2]
        if message["role"] != expected:
            raise Refused("messages", 'first message must use the "user" role' if at == 0 else _twice(message["role"]))
    if messages[-1]["role"] != "user":
        raise Refused(
            "messages",
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        )
    return messages


def _twice(role: str) -> str:
    return f'roles must alternate between "user" and "assistant", but found multiple "{role}" roles in a row'


def _content(message: Json, where: str) -> None:
    content = message["content"]
    if isinstance(content, str):
        text(content, f"{where}.content")
        return
    allowed = IN_USER if message["role"] == "user" else IN_ASSISTANT
    for at, block in enumerate(array(content, f"{where}.content")):
        _block(block, f"{where}.content.{at}", allowed)


def _block(block: object, where: str, allowed: set[str]) -> None:
    if not isinstance(block, dict) or block.get("type") not in allowed:
        found = block.get("type") if isinstance(block, dict) else block
        raise Refused(
            f"{where}.type", f"Input tag {found!r} found using 'type' does not match any of the expected tags"
        )
    kind = block["type"]
    required, optional = BLOCKS[kind]
    closed(block, where, required | optional, sorted(required))
    if kind == "text":
        text(block["text"], f"{where}.text")
    elif kind == "image":
        _image(block["source"], f"{where}.source")
    elif kind == "tool_use":
        matching(block["id"], f"{where}.id", ID)
        matching(block["name"], f"{where}.name", NAME)
        if not isinstance(block["input"], dict):
            raise Refused(f"{where}.input", "Input should be a valid dictionary")
    elif kind == "tool_result":
        _result(block, where)
    elif kind == "thinking" and block["signature"] != signature_of(text(block["thinking"], f"{where}.thinking")):
        raise Refused(f"{where}.signature", "Invalid `signature` in `thinking` block")


def _image(source: object, where: str) -> None:
    kind = source.get("type") if isinstance(source, dict) else None
    if kind == "url":
        found = closed(source, where, {"type", "url"}, ("url",))
        if not str(found["url"]).startswith("https://"):
            raise Refused(f"{where}.url", "Only HTTPS URLs are supported.")
        return
    one_of(kind, f"{where}.type", ("base64", "url"))
    found = closed(source, where, {"type", "media_type", "data"}, ("media_type", "data"))
    one_of(found["media_type"], f"{where}.media_type", MEDIA)
    text(found["data"], f"{where}.data")


def _result(block: Json, where: str) -> None:
    matching(block["tool_use_id"], f"{where}.tool_use_id", ID)
    content = block.get("content", "")
    if isinstance(content, str):
        text(content, f"{where}.content", blank=not block.get("is_error"))
        return
    for at, part in enumerate(array(content, f"{where}.content")):
        _block(part, f"{where}.content.{at}", IN_RESULT)
        if block.get("is_error") and part["type"] != "text":
            raise Refused(f"{where}.content", "all content must be type `text` if `is_error` is true")


def _pairs(messages: list[Json]) -> None:
    """Refuse calls whose results do not stand at the beginning of the next message, and results without a call."""
    open_calls: list[str] = []
    seen: list[str] = []
    for at, message in enumerate(messages):
        blocks = blocks_of(message)
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        missing = [one for one in open_calls if one not in results]
        if missing:
            raise Refused(
                f"messages.{at - 1}",
                "`tool_use` ids were found without `tool_result` blocks immediately after: " + ", ".join(missing) + ". "
                "Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
            )
        for one in results:
            if one not in open_calls:
                raise Refused(
                    f"messages.{at}.content",
                    f"unexpected `tool_use_id` found in `tool_result` blocks: {one}. Each `tool_result` block must "
                    "have a corresponding `tool_use` block in the previous message.",
                )
        distinct(results, f"messages.{at}.content", "each tool_use must have a single result;")
        kinds = [block["type"] == "tool_result" for block in blocks]
        if kinds != sorted(kinds, reverse=True):
            raise Refused(f"messages.{at}.content", "`tool_result` blocks must stand before all other content")
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        seen += open_calls
    distinct(seen, "messages", "`tool_use` ids")


def _declared(messages: list[Json], declared: set[str]) -> None:
    for at, message in enumerate(messages):
        for block in blocks_of(message):
            if block["type"] == "tool_use" and block["name"] not in declared:
                raise Refused(
                    f"messages.{at}", f"tool {block['name']!r} is used in the history and not declared in `tools`"
                )


def _thinking(body: Json, messages: list[Json]) -> None:
    wanted = body.get("thinking")
    if wanted is None:
        return
    found = closed(wanted, "thinking", {"type", "budget_tokens", "display"}, ("type",))
    if one_of(found["type"], "thinking.type", ("enabled", "disabled", "adaptive")) == "disabled":
        return
    if found["type"] == "enabled":
        between(found, "budget_tokens", 1024, body["max_tokens"] - 1)
        if "budget_tokens" not in found:
            raise Refused("thinking.enabled.budget_tokens", "Field required")
    if body.get("temperature", 1) != 1:
        raise Refused("temperature", "`temperature` may only be set to 1 when thinking is enabled")
    if found["type"] == "enabled":
        _open_loop(messages)


def _open_loop(messages: list[Json]) -> None:
    """Refuse an assistant's message in the open loop of tools that does not begin with its thinking."""
    for at in range(len(messages) - 1, 0, -2):
        if not any(block["type"] == "tool_result" for block in blocks_of(messages[at])):
            return
        first = blocks_of(messages[at - 1])[0]["type"]
        if first not in THINKING:
            raise Refused(
                f"messages.{at - 1}.content.0.type",
                f"Expected `thinking` or `redacted_thinking`, but found `{first}`. When `thinking` is enabled, a final "
                "`assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and "
                "`tool_result` blocks).",
            )


def _choice(body: Json, declared: set[str]) -> None:
    choice = body.get("tool_choice")
    if choice is None:
        return
    closed(choice, "tool_choice", {"type", "name", "disable_parallel_tool_use"}, ("type",))
    kind = one_of(choice["type"], "tool_choice.type", ("auto", "any", "tool", "none"))
    if not declared:
        raise Refused("tool_choice", "may only be specified while providing tools.")
    if kind == "tool" and choice.get("name") not in declared:
        raise Refused("tool_choice.name", f"Tool '{choice.get('name')}' not found in provided tools")
    if kind in ("any", "tool") and body.get("thinking", {}).get("type") in ("enabled", "adaptive"):
        raise Refused("tool_choice", "Thinking may not be enabled when tool_choice forces tool use.")


def marked(body: Json) -> Iterator[tuple[str, Json]]:
    """What may bear a mark, in the order in which it is cached: where it stands, and the block."""
    for at, tool in enumerate(body.get("tools") or ()):
        yield f"tools.{at}", tool
    if isinstance(body.get("system"), list):
        for at, block in enumerate(body["system"]):
            yield f"system.{at}", block
    for at, message in enumerate(body["messages"]):
        for place, block in enumerate(blocks_of(message)):
            yield f"messages.{at}.content.{place}", block


def _marks(body: Json) -> None:
    marks: list[tuple[str, Any]] = [(at, b["cache_control"]) for at, b in marked(body) if "cache_control" in b]
    short = False
    for at, mark in marks:
        closed(mark, f"{at}.cache_control", {"type", "ttl"}, ("type",))
        one_of(mark["type"], f"{at}.cache_control.type", ("ephemeral",))
        if one_of(mark.get("ttl", "5m"), f"{at}.cache_control.ttl", ("5m", "1h")) == "5m":
            short = True
        elif short:
            raise Refused(f"{at}.cache_control.ttl", "a ttl='1h' block must not come after a ttl='5m' block")
    if len(marks) > MARKS:
        raise Refused("body", f"A maximum of {MARKS} blocks with cache_control may be provided. Found {len(marks)}.")
