"""Whatever was said, the prompt that the SDK makes by itself is one that the provider takes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdk.python.neve import Format, Session
from tests.loopback import anthropic_rules, openai_rules, responses_rules
from tests.unit.sdk.fake_service import FakeService, chat

Json = dict[str, Any]
TOOL = {"name": "weather", "input_schema": {"type": "object"}}
FUNCTION = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
ITEM = {"type": "function", "name": "weather", "parameters": {"type": "object"}}
TURNS = st.lists(st.integers(0, 3), min_size=1, max_size=6)
"""Rounds of tools of each turn."""
FORMS: list[tuple[Format, str, str]] = [
    ("anthropic", "messages", "system"),
    ("openai", "messages", "messages"),
    ("openai_responses", "input", "instructions"),
    ("ai-sdk", "messages", "instructions"),
    ("gemini", "contents", "system_instruction"),
]
DOWN_FROM = st.integers(0, 4)


def down(after: int) -> Iterator[str]:
    yield from repeat("", after)
    yield from repeat("down")


def session(after: int) -> Session:
    found = chat(FakeService(faults=down(after)))
    found.conversation.pack = ("# Memory\nAda bakes.", '"e"')
    return found


@given(TURNS, DOWN_FROM)
def test_anthropic_takes_it(turns: list[int], after: int) -> None:
    s = session(after)
    for turn, rounds in enumerate(turns):
        request = s.turn(f"question {turn}", tools=[TOOL], system="Be brief.")
        for n in range(rounds):
            checked_by_anthropic(request)
            call = {"type": "tool_use", "id": f"toolu_{turn}_{n}", "name": "weather", "input": {"n": n}}
            result = {"type": "tool_result", "tool_use_id": call["id"], "content": "sun"}
            told = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
            request = s.turn(told, tools=[TOOL], system="Be brief.")
        checked_by_anthropic(request)
        s.append({"role": "assistant", "content": f"answer {turn}"})


@given(TURNS, DOWN_FROM)
def test_openai_takes_it(turns: list[int], after: int) -> None:
    s = session(after)
    for turn, rounds in enumerate(turns):
        request = s.turn(f"question {turn}", format="openai", tools=[FUNCTION])
        for n in range(rounds):
            checked_by_openai(request)
            function = {"name": "weather", "arguments": "{}"}
            call = {"id": f"call_{turn}_{n}", "type": "function", "function": function}
            asked = {"role": "assistant", "content": None, "tool_calls": [call]}
            told = [asked, {"role": "tool", "tool_call_id": call["id"], "content": "sun"}]
            request = s.turn(told, format="openai", tools=[FUNCTION])
        checked_by_openai(request)
        s.append({"role": "assistant", "content": f"answer {turn}"})


@given(TURNS)
def test_responses_take_it(turns: list[int]) -> None:
    s = session(0)
    for turn, rounds in enumerate(turns):
        request = s.turn(f"question {turn}", format="openai_responses", tools=[ITEM])
        for n in range(rounds):
            responses_rules.check({"model": "gpt-x", **request})
            call = {"type": "function_call", "call_id": f"call_{turn}_{n}", "name": "weather", "arguments": "{}"}
            told = [call, {"type": "function_call_output", "call_id": call["call_id"], "output": "sun"}]
            request = s.turn(told, format="openai_responses", tools=[ITEM])
        responses_rules.check({"model": "gpt-x", **request})
        s.append({"role": "assistant", "content": f"answer {turn}"})


def test_an_answer_of_asking_by_context_is_not_said_twice() -> None:
    s = session(1)
    s.context("one")
    s.append(["one", {"role": "assistant", "content": "first answer"}])
    request = s.context("two")
    texts = [text_of(message) for message in request["messages"]]
    assert texts == ["one", "first answer", "two"]


@pytest.mark.parametrize(("form", "list_name", "system"), FORMS)
def test_every_form_has_its_pack_and_its_messages(form: Format, list_name: str, system: str) -> None:
    s = session(0)
    s.append(["one", {"role": "assistant", "content": "two"}])
    request = s.turn("three", format=form)
    assert "Ada bakes." in str(request.get(system, request.get("messages")))
    assert [
        str(one).count(text) for one, text in zip(request[list_name][-3:], ("one", "two", "three"), strict=True)
    ] == [1] * 3
    if form == "gemini":
        assert request["contents"][1] == {"role": "model", "parts": [{"text": "two"}]}


def text_of(message: Json) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def checked_by_anthropic(request: Json) -> None:
    anthropic_rules.check({"model": "claude-x", "max_tokens": 99, **request})


def checked_by_openai(request: Json) -> None:
    openai_rules.check({"model": "gpt-x", **request})
