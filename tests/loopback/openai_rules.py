"""The rules by which OpenAI's ``POST /v1/chat/completions`` refuses a request."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from tests.loopback.refusal import Json, Refused, array, between, closed, distinct, matching, one_of, text

FIELDS = {
    "model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stream", "stream_options", "temperature",
    "top_p", "n", "stop", "max_tokens", "max_completion_tokens", "presence_penalty", "frequency_penalty", "logit_bias",
    "logprobs", "top_logprobs", "user", "seed", "response_format", "reasoning_effort", "metadata", "store",
    "service_tier", "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "verbosity", "modalities",
}  # fmt: skip
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
SPEAKER = re.compile(r"[^\s<|\\/>]{1,64}")
ID = re.compile(r"[^\s]{1,40}")
"""Of a call: OpenAI takes 40 characters."""
TOOLS = 128
MESSAGES: dict[str, set[str]] = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "tool_calls", "refusal", "audio", "annotations", "function_call"},
    "tool": {"role", "content", "tool_call_id"},
}
PARTS: dict[str, dict[str, set[str]]] = {
    "user": {"text": {"type", "text"}, "image_url": {"type", "image_url"}, "input_audio": {"type", "input_audio"},
             "file": {"type", "file"}},
    "assistant": {"text": {"type", "text"}, "refusal": {"type", "refusal"}},
}  # fmt: skip
TEXT_ALONE = {"text": {"type", "text"}}


def check(body: object) -> Json:
    """The body, when OpenAI would take it. Raises Refused."""
    found = closed(body, "body", FIELDS, ("model", "messages"))
    text(found["model"], "model")
    between(found, "temperature", 0, 2)
    between(found, "top_p", 0, 1)
    if "stream_options" in found and not found.get("stream"):
        raise Refused("stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
    declared = tools(found)
    messages = array(found["messages"], "messages")
    for at, message in enumerate(messages):
        _message(message, f"messages[{at}]")
    _pairs(messages)
    _declared(messages, declared)
    if "tool_choice" in found and not declared:
        raise Refused("tool_choice", "'tool_choice' is only allowed when 'tools' are specified.")
    return found


def tools(body: Json) -> set[str]:
    """The names of what is declared. Raises Refused."""
    if "tools" not in body:
        return set()
    names = []
    for at, tool in enumerate(array(body["tools"], "tools", most=TOOLS)):
        where = f"tools[{at}]"
        closed(tool, where, {"type", "function"}, ("type", "function"))
        one_of(tool["type"], f"{where}.type", ("function",))
        function = closed(
            tool["function"], f"{where}.function", {"name", "description", "parameters", "strict"}, ("name",)
        )
        names.append(matching(function["name"], f"{where}.function.name", NAME))
        parameters = function.get("parameters", {"type": "object"})
        if not isinstance(parameters, dict) or parameters.get("type") != "object":
            raise Refused(f"{where}.function.parameters", "schema must be a JSON Schema of 'type: \"object\"'")
    distinct(names, "tools", "Tool names")
    return set(names)


def _message(message: object, where: str) -> None:
    if not isinstance(message, dict):
        raise Refused(where, "expected an object")
    role = one_of(message.get("role"), f"{where}.role", tuple(MESSAGES))
    closed(message, where, MESSAGES[role], ("role",) if role == "assistant" else ("role", "content"))
    if "name" in message:
        matching(message["name"], f"{where}.name", SPEAKER)
    if role == "tool":
        if "tool_call_id" not in message:
            raise Refused(f"{where}.tool_call_id", f"Missing required parameter: '{where}.tool_call_id'.")
        matching(message["tool_call_id"], f"{where}.tool_call_id", ID)
    calls = message.get("tool_calls")
    if calls is not None:
        _calls(calls, where)
    content = message.get("content")
    if content is None and role == "assistant" and calls:
        return
    _content(content, f"{where}.content", PARTS.get(role, TEXT_ALONE), blank=role == "tool" or bool(calls))


def _content(content: object, where: str, parts: dict[str, set[str]], *, blank: bool) -> None:
    if isinstance(content, str):
        text(content, where, blank=blank)
        return
    if content is None:
        raise Refused(where, "Invalid value: expected a string or an array of objects, got null.")
    for at, part in enumerate(array(content, where)):
        kind = part.get("type") if isinstance(part, dict) else None
        one_of(kind, f"{where}[{at}].type", tuple(parts))
        closed(part, f"{where}[{at}]", parts[str(kind)], sorted(parts[str(kind)]))
        if kind == "text":
            text(part["text"], f"{where}[{at}].text")
        if kind == "image_url":
            image = closed(part["image_url"], f"{where}[{at}].image_url", {"url", "detail"}, ("url",))
            if not str(image["url"]).startswith(("https://", "http://", "data:image/")):
                raise Refused(f"{where}[{at}].image_url.url", "Invalid image URL.")


def _calls(calls: object, where: str) -> None:
    for at, call in enumerate(array(calls, f"{where}.tool_calls", most=TOOLS)):
        place = f"{where}.tool_calls[{at}]"
        closed(call, place, {"id", "type", "function"}, ("id", "type", "function"))
        matching(call["id"], f"{place}.id", ID)
        one_of(call["type"], f"{place}.type", ("function",))
        function = closed(call["function"], f"{place}.function", {"name", "arguments"}, ("name", "arguments"))
        matching(function["name"], f"{place}.function.name", NAME)
        arguments(function["arguments"], f"{place}.function.arguments")


def arguments(value: object, where: str) -> None:
    """Refuse arguments that are no object in a text of JSON."""
    try:
        found = json.loads(text(value, where))
    except ValueError:
        raise Refused(where, "Invalid JSON") from None
    if not isinstance(found, dict):
        raise Refused(where, "Invalid type: expected an object")


def _pairs(messages: list[Json]) -> None:
    """Refuse calls that the tool messages right behind do not answer, and tool messages without a call."""
    waiting: list[str] = []
    seen: list[str] = []
    for at, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                raise Refused(
                    f"messages[{at}].role",
                    "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
                )
            waiting.remove(message["tool_call_id"])
            continue
        _answered(waiting, at)
        waiting = [call["id"] for call in message.get("tool_calls") or ()]
        seen += waiting
    _answered(waiting, len(messages))
    distinct(seen, "messages", "tool call ids")


def _answered(waiting: Iterable[str], at: int) -> None:
    if missing := list(waiting):
        raise Refused(
            f"messages[{at}]",
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(missing)}",
        )


def _declared(messages: list[Json], declared: set[str]) -> None:
    for at, message in enumerate(messages):
        for call in message.get("tool_calls") or ():
            if call["function"]["name"] not in declared:
                raise Refused(
                    f"messages[{at}]", f"tool {call['function']['name']!r} is used and not declared in 'tools'"
                )
