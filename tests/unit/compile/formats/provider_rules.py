"""What each provider asks of a request, beyond the types of its package: each check raises AssertionError."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

NAME = {"anthropic": r"[A-Za-z0-9_-]{1,128}", "gemini": r"[A-Za-z_][A-Za-z0-9_.-]{0,63}"}
OTHER_NAME = r"[A-Za-z0-9_-]{1,64}"


def _named(name: str, form: str) -> str:
    assert re.fullmatch(NAME.get(form, OTHER_NAME), name), name
    return name


def _said(text: str) -> None:
    assert text.strip(), "a text that says nothing"


def _paired(calls: Sequence[str], results: Sequence[str]) -> None:
    """Each call has its result directly behind it, and no result is alone."""
    assert sorted(calls) == sorted(results)


def _once(ids: Sequence[str]) -> None:
    assert len(ids) == len(set(ids)), "an id that is used twice"
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,40}", one) for one in ids)


def anthropic(request: Mapping[str, Any]) -> None:
    messages = request["messages"]
    assert [m["role"] for m in messages] == ["user" if n % 2 == 0 else "assistant" for n in range(len(messages))]
    assert messages[-1]["role"] == "user"
    open_calls: list[str] = []
    used: list[str] = []
    for message in messages:
        blocks = message["content"]
        assert blocks
        kinds = [block["type"] for block in blocks]
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert kinds[: len(results)] == ["tool_result"] * len(results), "results come first"
        _paired(open_calls, results)
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        used += open_calls
        thoughts = [kind in ("thinking", "redacted_thinking") for kind in kinds]
        assert thoughts == sorted(thoughts, reverse=True) and not all(thoughts)
        for block in blocks:
            if block["type"] == "text":
                _said(block["text"])
            if block["type"] == "tool_use":
                assert isinstance(block["input"], dict) and _named(block["name"], "anthropic")
            if block.get("is_error"):
                assert block["content"] and all(part["type"] == "text" for part in block["content"])
    _once(used)
    for text in request.get("system", ()):
        _said(text["text"])
    declared = [_named(tool["name"], "anthropic") for tool in request.get("tools", ())]
    _once_declared(declared, used)
    assert json.dumps(request).count('"cache_control"') <= 4


def _once_declared(declared: Sequence[str], used: Sequence[str]) -> None:
    assert len(declared) == len(set(declared))
    assert declared or not used, "calls in the history, and no tools"


def openai(request: Mapping[str, Any]) -> None:
    open_calls: list[str] = []
    used: list[str] = []
    spoken = [m["role"] for m in request["messages"] if m["role"] != "system"]
    assert spoken[-1] in ("user", "tool")
    for message in request["messages"]:
        if message["role"] == "tool":
            open_calls.remove(message["tool_call_id"])
            assert isinstance(message["content"], str)
            continue
        assert not open_calls, "a call without its result"
        assert message.get("content") or message.get("tool_calls")
        for part in message["content"] if isinstance(message.get("content"), list) else ():
            if part["type"] == "text":
                _said(part["text"])
        for call in message.get("tool_calls", ()):
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            _named(call["function"]["name"], "openai")
            open_calls.append(call["id"])
            used.append(call["id"])
    assert not open_calls
    _once(used)
    _once_declared([_named(tool["function"]["name"], "openai") for tool in request.get("tools", ())], used)


def openai_responses(request: Mapping[str, Any]) -> None:
    open_calls: list[str] = []
    used: list[str] = []
    for item in request["input"]:
        kind = item.get("type", "message")
        if kind == "function_call_output":
            open_calls.remove(item["call_id"])
        elif kind == "function_call":
            assert isinstance(json.loads(item["arguments"]), dict)
            _named(item["name"], "openai_responses")
            open_calls.append(item["call_id"])
            used.append(item["call_id"])
        elif kind == "message" and item["role"] == "user":
            assert not open_calls, "a call without its result"
            assert item["content"]
            for part in item["content"]:
                if part["type"] == "input_text":
                    _said(part["text"])
        elif kind == "message":
            assert item["role"] == "assistant"
            _said(item["content"])
        else:
            assert kind == "reasoning"
    assert not open_calls
    _once(used)
    named = [tool["name"] for tool in request.get("tools", ()) if "name" in tool]
    _once_declared([_named(name, "openai_responses") for name in named], used)


def ai_sdk(request: Mapping[str, Any]) -> None:
    open_calls: dict[str, str] = {}
    used: list[str] = []
    assert request["messages"][-1]["role"] in ("user", "tool")
    for message in request["messages"]:
        assert message["role"] in ("user", "assistant", "tool") and message["content"]
        if message["role"] == "tool":
            for part in message["content"]:
                assert part["type"] == "tool-result" and open_calls.pop(part["toolCallId"]) == part["toolName"]
                assert isinstance(part["output"]["value"], str)
            continue
        assert not open_calls, "a call without its result"
        for part in message["content"]:
            if part["type"] == "text":
                _said(part["text"])
            if part["type"] == "tool-call":
                assert message["role"] == "assistant" and isinstance(part["input"], dict)
                open_calls[part["toolCallId"]] = _named(part["toolName"], "ai_sdk")
                used.append(part["toolCallId"])
    assert not open_calls
    _once(used)
    tools = request.get("tools", {})
    assert all(_named(name, "ai_sdk") and isinstance(tool["inputSchema"], dict) for name, tool in tools.items())
    assert tools or not used


def gemini(request: Mapping[str, Any]) -> None:
    open_calls: list[tuple[str, str]] = []
    used: list[str] = []
    assert request["contents"][-1]["role"] == "user" and request["contents"][0]["role"] == "user"
    for content in request["contents"]:
        assert content["role"] in ("user", "model") and content["parts"]
        answers = [part["function_response"] for part in content["parts"] if "function_response" in part]
        assert len(answers) in (0, len(content["parts"])), "answers stand alone"
        assert sorted(open_calls) == sorted((one["id"], one["name"]) for one in answers)
        calls = [part["function_call"] for part in content["parts"] if "function_call" in part]
        assert not calls or content["role"] == "model"
        open_calls = [(call["id"], _named(call["name"], "gemini")) for call in calls]
        used += [call["id"] for call in calls]
        for part in content["parts"]:
            assert len(part) == 1
            if "text" in part:
                _said(part["text"])
    assert not open_calls
    _once(used)
    declared = [one["name"] for tool in request.get("tools", ()) for one in tool["function_declarations"]]
    _once_declared([_named(name, "gemini") for name in declared], used)


RULES: Mapping[str, Callable[[Mapping[str, Any]], None]] = {
    "anthropic": anthropic,
    "openai": openai,
    "openai_responses": openai_responses,
    "ai_sdk": ai_sdk,
    "gemini": gemini,
}
