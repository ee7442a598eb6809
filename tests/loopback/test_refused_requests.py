"""What the providers refuse is refused, in their form; what they take is taken."""

from __future__ import annotations

from typing import Any

import pytest

from tests.loopback import anthropic_rules, openai_rules, responses_rules
from tests.loopback.anthropic_rules import signature_of
from tests.loopback.refusal import Json, Refused

TOOL = {"name": "weather", "input_schema": {"type": "object"}}
FUNCTION = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
RESPONSES_TOOL = {"type": "function", "name": "weather", "parameters": {"type": "object"}}
USE = {"type": "tool_use", "id": "t1", "name": "weather", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "sun"}
THOUGHT = {"type": "thinking", "thinking": "The weather, then.", "signature": signature_of("The weather, then.")}
MARK = {"type": "ephemeral"}


def user(content: Any) -> Json:
    return {"role": "user", "content": content}


def said(content: Any) -> Json:
    return {"role": "assistant", "content": content}


def text(value: str, **more: Any) -> Json:
    return {"type": "text", "text": value, **more}


def asked(*messages: Json, **more: Any) -> Json:
    return {"model": "claude-x", "max_tokens": 2000, "messages": list(messages), **more}


LOOP = (user("weather?"), said([USE]), user([RESULT]))
ENABLED = {"type": "enabled", "budget_tokens": 1024}
TAKEN_BY_ANTHROPIC = {
    "a text": asked(user("hi")),
    "a round of tools": asked(*LOOP, tools=[TOOL]),
    "thinking first in the loop": asked(
        user("?"), said([THOUGHT, USE]), user([RESULT]), tools=[TOOL], thinking=ENABLED
    ),
    "a closed loop without thinking": asked(*LOOP, said("Sun."), user("ok"), tools=[TOOL], thinking=ENABLED),
    "text behind results": asked(*LOOP[:2], user([RESULT, text("and?")]), tools=[TOOL]),
    "four marks": asked(user([text(str(n), cache_control=MARK) for n in range(4)])),
}
REFUSED_BY_ANTHROPIC = {
    "an unknown field": (asked(user("hi"), message_id="m1"), "body.message_id"),
    "a field of ours in a message": (asked({**user("hi"), "id": "m1"}), "messages.0.id"),
    "an assistant first": (asked(said("hi")), "first message"),
    "two users": (asked(user("a"), user("b")), "alternate"),
    "an assistant last": (asked(user("a"), said("b")), "prefill"),
    "a system message in the list": (asked({"role": "system", "content": "x"}), "messages.0.role"),
    "a blank text": (asked(user(" ")), "non-whitespace"),
    "a blank block": (asked(user([text("")])), "non-whitespace"),
    "no block": (asked(user([])), "at least 1"),
    "a result without a call": (asked(user([RESULT]), tools=[TOOL]), "unexpected `tool_use_id`"),
    "a call without a result": (asked(*LOOP[:2], user("and?"), tools=[TOOL]), "without `tool_result`"),
    "a result behind text": (asked(*LOOP[:2], user([text("so"), RESULT]), tools=[TOOL]), "before all other"),
    "the same id twice": (asked(*LOOP, said([USE]), user([RESULT]), tools=[TOOL]), "must be unique"),
    "an undeclared tool": (asked(*LOOP), "not declared"),
    "a name with a blank": (asked(user("hi"), tools=[{**TOOL, "name": "the weather"}]), "tools.0.name"),
    "a name of 129": (asked(user("hi"), tools=[{**TOOL, "name": "w" * 129}]), "tools.0.name"),
    "a tool twice": (asked(user("hi"), tools=[TOOL, TOOL]), "unique"),
    "a schema that is no object's": (asked(user("hi"), tools=[{"name": "w", "input_schema": {}}]), "input_schema"),
    "five marks": (asked(user([text(str(n), cache_control=MARK) for n in range(5)])), "maximum of 4"),
    "a mark on thinking": (asked(user("?"), said([{**THOUGHT, "cache_control": MARK}]), user("x")), "cache_control"),
    "a forged signature": (asked(user("?"), said([{**THOUGHT, "signature": "x"}]), user("x")), "Invalid `signature`"),
    "edited thinking": (asked(user("?"), said([{**THOUGHT, "thinking": "x"}]), user("x")), "Invalid `signature`"),
    "a loop without thinking": (asked(*LOOP, tools=[TOOL], thinking=ENABLED), "must start with a thinking block"),
    "a budget above the answer": (asked(user("x"), thinking={**ENABLED, "budget_tokens": 2000}), "budget_tokens"),
    "an image by http": (
        asked(user([{"type": "image", "source": {"type": "url", "url": "http://x/a.png"}}])),
        "HTTPS",
    ),
    "no tokens": ({"model": "claude-x", "messages": [user("hi")]}, "max_tokens"),
    "a choice without tools": (asked(user("hi"), tool_choice={"type": "auto"}), "tool_choice"),
    "half of a surrogate pair": (asked(user("\ud800")), "surrogate"),
}
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
TOLD = {"role": "tool", "tool_call_id": "c1", "content": "sun"}


def completed(*messages: Json, **more: Any) -> Json:
    return {"model": "gpt-x", "messages": list(messages), **more}


TAKEN_BY_OPENAI = {
    "a text": completed({"role": "system", "content": "x"}, user("hi")),
    "a round of tools": completed(user("?"), CALLS, TOLD, tools=[FUNCTION]),
    "two users": completed(user("a"), user("b")),
}
REFUSED_BY_OPENAI = {
    "an unknown field": (completed(user("hi"), system="x"), "body.system"),
    "a field of ours in a message": (completed({**user("hi"), "id": "m1"}), "messages[0].id"),
    "a call without a result": (completed(user("?"), CALLS, user("so?"), tools=[FUNCTION]), "did not have response"),
    "a call at the end": (completed(user("?"), CALLS, tools=[FUNCTION]), "did not have response"),
    "a result without a call": (completed(user("?"), TOLD), "preceeding"),
    "an undeclared tool": (completed(user("?"), CALLS, TOLD), "not declared"),
    "a name of 65": (
        completed(user("?"), tools=[{"type": "function", "function": {"name": "w" * 65}}]),
        "tools[0].function.name",
    ),
    "an id of 41": (completed(user("?"), {**CALLS, "tool_calls": [{**CALL, "id": "c" * 41}]}), "id"),
    "arguments that are no JSON": (
        completed(user("?"), {**CALLS, "tool_calls": [{**CALL, "function": {"name": "weather", "arguments": "{"}}]}),
        "Invalid JSON",
    ),
    "nothing said": (completed(said(None)), "got null"),
    "a blank text": (completed(user("")), "non-whitespace"),
    "usage of no stream": (completed(user("a"), stream_options={"include_usage": True}), "stream_options"),
}
ITEM_CALL = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"}
ITEM_OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "sun"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}


def responded(*items: Json, **more: Any) -> Json:
    return {"model": "gpt-x", "input": list(items), **more}


TAKEN_BY_RESPONSES = {
    "a text": {"model": "gpt-x", "input": "hi", "instructions": "x"},
    "a round of tools": responded(user("?"), REASONING, ITEM_CALL, ITEM_OUTPUT, tools=[RESPONSES_TOOL]),
}
REFUSED_BY_RESPONSES = {
    "messages": ({"model": "gpt-x", "messages": [user("hi")]}, "body.input"),
    "a call without an output": (responded(user("?"), ITEM_CALL, tools=[RESPONSES_TOOL]), "No tool output found"),
    "an output without a call": (responded(user("?"), ITEM_OUTPUT), "No tool call found"),
    "reasoning without what follows": (responded(user("?"), REASONING), "required following item"),
    "an undeclared tool": (responded(user("?"), ITEM_CALL, ITEM_OUTPUT), "not declared"),
    "input text of an assistant": (responded(said([{"type": "input_text", "text": "x"}])), "type"),
}
CHECKS = {"anthropic": anthropic_rules.check, "openai": openai_rules.check, "responses": responses_rules.check}
TAKEN = [
    (name, body)
    for name, table in (
        ("anthropic", TAKEN_BY_ANTHROPIC),
        ("openai", TAKEN_BY_OPENAI),
        ("responses", TAKEN_BY_RESPONSES),
    )
    for body in table.values()
]
REFUSED = [
    pytest.param(name, body, why, id=f"{name}: {case}")
    for name, table in (
        ("anthropic", REFUSED_BY_ANTHROPIC),
        ("openai", REFUSED_BY_OPENAI),
        ("responses", REFUSED_BY_RESPONSES),
    )
    for case, (body, why) in table.items()
]


@pytest.mark.parametrize(("provider", "body"), TAKEN)
def test_what_the_provider_takes_is_taken(provider: str, body: Json) -> None:
    assert CHECKS[provider](body) == body


@pytest.mark.parametrize(("provider", "body", "why"), REFUSED)
def test_what_the_provider_refuses_is_refused(provider: str, body: Json, why: str) -> None:
    with pytest.raises(Refused) as refused:
        CHECKS[provider](body)
    assert why in str(refused.value)
