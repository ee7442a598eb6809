"""Every form of a request keeps its provider's rules, whatever the log holds, and what was sent stays its beginning."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neve.domain.compile.conversation import Text
from neve.domain.compile.formats.declared_tools import OfferedTools, callers_tools
from neve.domain.compile.formats.every import FORMATS
from neve.domain.compile.formats.format import WrongTool
from neve.domain.compile.plan import Limits, PromptInput, make_plan
from neve.domain.compile.prompt import Prompt
from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.rendered_blocks import OWN_TOOLS
from neve.domain.tenants.budgets import Budget
from neve.usecases.ask.recall.tool import TOOLS_VERSION, VERSIONS
from tests.unit.compile.formats.provider_rules import RULES
from tests.unit.compile.logs import answered, call, drawn_logs, event, result, user_message

ROOM = Limits(Budget("custom", 100_000, 0, 0, 10_000, 80_000, 0))
FORMS = sorted(FORMATS)
OWN = VERSIONS[TOOLS_VERSION]

MINE: dict[str, Any] = {
    "anthropic": [{"name": "weather", "input_schema": {"type": "object"}}],
    "openai": [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}],
    "openai_responses": [{"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": True}],
    "ai_sdk": {"weather": {"description": "Now.", "inputSchema": {"type": "object"}}},
    "gemini": [{"function_declarations": [{"name": "weather", "description": "Now."}]}],
}
"""A caller's tool as each provider takes it."""


def compiled(log: list[Event], form: str, message: str | None = "And now?", **given_: Any) -> Prompt:
    front = None if message is not None else max(e.seq for e in log if e.event_type is EventType.USER_MESSAGE)
    asked = [Text(message)] if message is not None else None
    given = PromptInput(events=log, message=asked, session="<neve-session>", front=front, **given_)
    return make_plan(given, ROOM).prompt


def request_of(log: list[Event], form: str, message: str | None = "And now?", **more: Any) -> dict[str, Any]:
    offered = OfferedTools(form, callers_tools(more.pop("tools"), form) if "tools" in more else (), more.pop("own", ()))
    prompt = compiled(log, form, message, tools=offered, **more)
    return FORMATS[form].render(prompt, prompt.breakpoints())


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=60, deadline=None)
@given(log=drawn_logs(most_turns=5), advertised=st.booleans())
def test_every_request_keeps_the_rules_of_its_provider(form: str, log: list[Event], advertised: bool) -> None:
    request = request_of(log, form, own=OWN if advertised else (), static="You are Nora.", pack="<neve-memory>")
    RULES[form](json.loads(json.dumps(request)))


@pytest.mark.parametrize("form", FORMS)
def test_the_callers_tools_are_sent_as_they_are_with_neves_behind_them(form: str) -> None:
    log = [user_message(1), call(2), result(3), answered(4)]
    request = request_of(log, form, tools=MINE[form], own=OWN)
    declared = request["tools"]
    if form == "ai_sdk":
        assert next(iter(declared)) == "weather" and declared["weather"] == MINE[form]["weather"]
        assert set(declared) == {"weather", *OWN_TOOLS}
    else:
        assert declared[: len(MINE[form])] == MINE[form]
        assert all(name in json.dumps(declared) for name in OWN_TOOLS)
    assert "search" not in json.dumps(declared).replace("search_", ""), "no stand-in beside the caller's own"
    RULES[form](request)


@pytest.mark.parametrize("form", FORMS)
def test_a_history_of_calls_has_stand_ins_where_the_caller_sent_no_tools(form: str) -> None:
    log = [user_message(1), call(2), result(3), answered(4)]
    request = request_of(log, form)
    assert "search" in json.dumps(request["tools"])
    assert "tools" not in request_of([user_message(1), answered(2)], form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["recall_memory", "read_document"])
def test_a_tool_with_the_name_of_one_of_neves_is_refused(form: str, name: str) -> None:
    tools = json.loads(json.dumps(MINE[form]).replace("weather", name))
    with pytest.raises(WrongTool, match=name):
        callers_tools(tools, form)


WRONG: list[tuple[str, Any, str]] = [
    ("anthropic", {"weather": {}}, "tools"),
    ("anthropic", [{"input_schema": {}}], "tools[0].name"),
    ("anthropic", ["weather"], "tools[0]"),
    ("openai", MINE["anthropic"], "tools[0]"),
    ("openai", [{"type": "function", "function": {}}], "tools[0].function.name"),
    ("openai_responses", MINE["anthropic"], "tools[0].type"),
    ("openai_responses", MINE["openai"], "tools[0].name"),
    ("ai_sdk", MINE["anthropic"], "tools"),
    ("gemini", MINE["anthropic"], "tools[0]"),
    ("gemini", [{"function_declarations": [{}]}], "tools[0].function_declarations[0].name"),
    ("anthropic", [*MINE["anthropic"], *MINE["anthropic"]], "tools"),
]


@pytest.mark.parametrize(("form", "tools", "field"), WRONG)
def test_a_tool_in_another_providers_form_is_refused_where_it_is_wrong(form: str, tools: Any, field: str) -> None:
    with pytest.raises(WrongTool) as refused:
        callers_tools(tools, form)
    assert refused.value.field == field


@pytest.mark.parametrize("form", FORMS)
def test_a_name_that_is_too_long_is_cut_alike_in_tools_and_calls(form: str) -> None:
    name = "mcp__" + "x" * 130
    data = {"tool_use_id": "c1", "name": name}
    log = [user_message(1), event(2, EventType.TOOL_CALL, "", {**data, "args": {}}), result(3), answered(4)]
    tools = json.loads(json.dumps(MINE[form]).replace("weather", name))
    request = request_of(log, form, tools=tools)
    sent = re.findall(r"mcp__x+_[0-9a-f]{8}", json.dumps(request))
    assert name not in json.dumps(request) and len(sent) > 1 and len(set(sent)) == 1
    RULES[form](request)


# --- a loop of tool calls -------------------------------------------------------------------------

SIGNED = {"type": "thinking", "thinking": "First <neve-session>this</neve-session>.", "signature": "EqQB"}
ITEM = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
PART = {"type": "reasoning", "text": "Hm.", "providerOptions": {"openai": {"itemId": "rs_1"}}}


def rounds(count: int, thought: dict[str, Any] | None = None) -> list[Event]:
    """A turn before, then a turn with so many rounds; each two calls."""
    log = [user_message(1, "Hi."), answered(2, "Hello."), user_message(3, "Weather?")]
    for n in range(count):
        seq = len(log) + 1
        thinking = {"thinking": [thought]} if thought else {}
        first = event(seq, EventType.TOOL_CALL, "Let me see.", {"tool_use_id": f"a{n}", "name": "search", **thinking})
        log += [first, call(seq + 1, f"b{n}"), result(seq + 2, f"b{n}"), result(seq + 3, f"a{n}")]
    return log


def without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_marks(v) for k, v in value.items() if k not in ("cache_control", "providerOptions")}
    return [without_marks(one) for one in value] if isinstance(value, list) else value


def listed(request: dict[str, Any]) -> list[Any]:
    key = next(key for key in ("messages", "input", "contents") if key in request)
    return list(without_marks(request[key]))


@pytest.mark.parametrize("form", FORMS)
def test_the_last_message_of_a_round_holds_results_alone(form: str) -> None:
    last = listed(request_of(rounds(2), form, None))[-1]
    assert "Weather?" not in json.dumps(last) and "neve-session" not in json.dumps(last)


SHOWN = [
    ("anthropic", SIGNED, SIGNED),
    ("anthropic", {"type": "redacted_thinking", "data": "x"}, {"type": "redacted_thinking", "data": "x"}),
    ("anthropic", ITEM, None),
    ("openai_responses", ITEM, ITEM),
    ("openai_responses", SIGNED, None),
    ("openai_responses", PART, None),
    ("ai_sdk", PART, PART),
    (
        "ai_sdk",
        SIGNED,
        {
            "type": "reasoning",
            "text": SIGNED["thinking"],
            "providerOptions": {"anthropic": {"signature": SIGNED["signature"]}},
        },
    ),
    ("ai_sdk", ITEM, None),
    ("openai", SIGNED, None),
    ("gemini", SIGNED, None),
]


@pytest.mark.parametrize(("form", "thought", "shown"), SHOWN)
def test_what_a_model_thought_begins_each_round_in_its_providers_form(form: str, thought: Any, shown: Any) -> None:
    request = request_of(rounds(2, thought), form, None)
    key = next(key for key in ("messages", "input", "contents") if key in request)
    items = [
        part for one in request[key] for part in (one["content"] if isinstance(one.get("content"), list) else [one])
    ]
    assert items.count(shown) == (2 if shown else 0)
    if shown and form != "openai_responses":
        spoken = [one["content"] for one in request[key] if one["role"] == "assistant"][1:]
        assert all(content[0] == shown for content in spoken)
    elif shown is None:
        assert "EqQB" not in json.dumps(request) and "gAAA" not in json.dumps(request)
    RULES[form](request)


def test_results_of_the_round_are_marked_and_those_before() -> None:
    """What is marked ends the prefix that the next round reads."""
    request = request_of(rounds(9), "anthropic", None, static="You are Nora.", pack="<neve-memory>")
    marked = [n for n, m in enumerate(request["messages"]) if "cache_control" in m["content"][-1]]
    last = len(request["messages"]) - 1
    assert marked == [last - 2, last]
    RULES["anthropic"](request)
