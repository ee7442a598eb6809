"""Rows D05, D06, D08, D09 and D23 of docs/features.md, as far as they are the caller's: its tools, its system text, its
marks, and the forms of request it asks for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from local.api_client import ApiClient
from tests.http.driving.people import Json, Person, answered, filler, user_message
from tests.unit.compile.formats.provider_rules import RULES

FORMS = sorted(RULES)
MINE: dict[str, Any] = {
    "anthropic": [{"name": "weather", "description": "Now.", "input_schema": {"type": "object"}}],
    "openai": [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}],
    "openai_responses": [{"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": None}],
    "ai_sdk": {"weather": {"description": "Now.", "inputSchema": {"type": "object"}}},
    "gemini": [{"function_declarations": [{"name": "weather", "parameters_json_schema": {"type": "object"}}]}],
}


def round_of(identifier: str, name: str = "weather", result: str = "sun") -> list[Json]:
    data = {"tool_use_id": identifier, "name": name}
    return [
        {"event_type": "tool_call", "content": "", "event_data": {**data, "args": {"city": "Porto"}}},
        {"event_type": "tool_result", "content": result, "event_data": data},
    ]


def refused(user: Person, **body: Any) -> tuple[int, str]:
    reply = user.call("POST", "/context", {"session_id": "s1", "message": "Hi.", **body})
    return reply.status, reply.json()["errors"][0]["field"]


# --- forms ----------------------------------------------------------------------------------------


@pytest.mark.live
@pytest.mark.parametrize("form", FORMS)
def test_d23_a_request_keeps_the_rules_of_the_provider_whose_form_it_has(user: Person, form: str) -> None:
    user.remember("User keeps bees.")
    user.open("s1")
    user.append("s1", user_message("Weather?"), *round_of("t1"), answered("Sunny."), user_message("And?"))
    for body in ({}, {"retrieval": "both", "tools": MINE[form]}, {"instructions": ["Be brief."], "system": "Be Nora."}):
        request = user.context("s1", format=form, **body)["request"]
        RULES[form](request)
        text = json.dumps(request)
        assert "bees" in text and "Sunny." in text and "neve-session" in text
    user.append("s1", *round_of("t2"), *round_of("t3", "x" * 150))
    made = user.context("s1", format=form)
    RULES[form](made["request"])
    assert list(made["tool_names"].values()) == ["x" * 150]


# --- tools ----------------------------------------------------------------------------------------


@pytest.mark.live
@pytest.mark.parametrize("form", FORMS)
def test_d08_the_callers_tools_come_first_as_they_were_sent(user: Person, form: str) -> None:
    user.open("s1")
    made = user.context("s1", "Hi.", format=form, tools=MINE[form], retrieval="tools")
    declared = made["request"]["tools"]
    if form == "ai_sdk":
        assert next(iter(declared.items())) == ("weather", MINE[form]["weather"]) and len(declared) == 5
    else:
        assert declared[0] == MINE[form][0] and "recall_memory" in json.dumps(declared[1:])
    used = {one["section"]: one["used"] for one in made["report"]["sections"]}
    alone = user.context("s1", "Hi.", format=form, retrieval="tools")["report"]
    assert used["tools"] > {one["section"]: one["used"] for one in alone["sections"]}["tools"]


@pytest.mark.live
def test_d08_another_list_of_tools_is_another_prefix(user: Person) -> None:
    user.open("s1")
    mine = MINE["anthropic"]
    first = user.context("s1", "Hi.", tools=mine)["report"]
    again = user.context("s1", "Hi.", tools=mine)["report"]
    other = user.context("s1", "Hi.", tools=[{**mine[0], "description": "Later."}])["report"]
    assert (first["prefix_changed"], again["prefix_changed"], other["prefix_changed"]) == (False, False, True)
    assert first["prefix_sha256"]["tools"] == again["prefix_sha256"]["tools"] != other["prefix_sha256"]["tools"]


@pytest.mark.live
@pytest.mark.parametrize("retrieval", ["auto", "tools", "both", "none"])
def test_d08_a_history_of_calls_is_never_sent_without_its_tools(user: Person, retrieval: str) -> None:
    """Stand-ins where the caller sent none; none beside the caller's own."""
    user.open("s1")
    user.append("s1", user_message("Weather?"), *round_of("t1"), *round_of("t2", "recall_memory"), answered("Sunny."))
    request = user.context("s1", "And tomorrow?", retrieval=retrieval)["request"]
    names = [tool["name"] for tool in request["tools"]]
    assert {"weather", "recall_memory"} <= set(names) and len(names) == len(set(names))
    own = [tool for tool in request["tools"] if tool["name"] == "recall_memory"]
    assert ("query" in json.dumps(own)) is (retrieval in ("tools", "both"))
    mine = [{"name": "umbrella", "input_schema": {"type": "object"}}]
    with_mine = user.context("s1", "And tomorrow?", retrieval="none", tools=mine)["request"]
    assert with_mine["tools"] == mine


@pytest.mark.live
def test_d08_what_no_provider_would_take_is_refused_where_it_is_wrong(user: Person) -> None:
    user.open("s1")
    taken = {"name": "recall_memory", "input_schema": {"type": "object"}}
    for tools, form, field in (
        ([taken], "anthropic", "tools"),
        ([*MINE["anthropic"], *MINE["anthropic"]], "anthropic", "tools"),
        (MINE["anthropic"], "openai", "tools[0]"),
        ([{"type": "function", "function": {}}], "openai", "tools[0].function.name"),
        (MINE["anthropic"], "ai_sdk", "tools"),
        ({"weather": {}}, "anthropic", "tools"),
    ):
        assert refused(user, tools=tools, format=form) == (422, field)


# --- system ---------------------------------------------------------------------------------------


@pytest.mark.live
def test_d05_the_callers_system_is_one_text_behind_the_prefix_and_never_pruned(user: Person) -> None:
    user.open("s1")
    parts = [{"type": "text", "text": "You are Nora."}, {"type": "text", "text": "Stay kind."}]
    for given in ("You are Nora.\n\nStay kind.", parts):
        made = user.context("s1", "Hi.", system=given, instructions=["Be brief."])
        texts = [block["text"] for block in made["request"]["system"]]
        assert texts[:2] == ["You are Nora.\n\nStay kind.", "Be brief."]
        assert "system" in made["report"]["prefix_sha256"]
    openai = user.context("s1", "Hi.", system="You are Nora.", format="openai")["request"]["messages"][0]
    assert openai == {"role": "system", "content": "You are Nora."}
    user.append("s1", *[one for n in range(8) for one in (user_message(f"{n} {filler(90)}"), answered(filler(100)))])
    tight = {"total": 900, "output": 0, "system": 300, "memories": 200, "history": 100}
    made = user.context("s1", "Hi.", system=filler(250), instructions=[filler(200)], budget_profile=tight)
    pruned = {one["section"] for one in made["report"]["pruned"]}
    assert "history" in pruned and "system" not in pruned and made["request"]["system"][0]["text"] == filler(250)
    other = user.context("s1", "Hi.", system="You are Max.")["report"]
    assert other["prefix_changed"]


@pytest.mark.live
@pytest.mark.parametrize(
    "text",
    ["Today is 2026-11-29.", "Write to help@acme.example.", "The user is {user_name}.", "Session ses_01abcdefgh"],
)
def test_d06_nothing_of_a_day_or_a_user_is_in_the_callers_system(user: Person, text: str) -> None:
    user.open("s1")
    assert refused(user, system=text) == refused(user, system=[{"type": "text", "text": text}]) == (422, "system")


# --- marks ----------------------------------------------------------------------------------------


def marks(request: Json) -> int:
    return json.dumps(request).count('"cache_control"')


@pytest.mark.live
def test_d09_only_what_the_model_caches_is_marked_and_the_report_says_why(user: Person, api: ApiClient) -> None:
    user.open("s1")
    user.append("s1", user_message("Hi."), answered("Hello."))
    made = user.context("s1", "And?", system="You are Nora.")
    assert marks(made["request"]) == 0
    assert {point["why_not"] for point in made["report"]["breakpoints"]} == {"below the minimum"}
    long = user.context("s1", "And?", system=filler(5_000))
    points = long["report"]["breakpoints"]
    assert all(point["marked"] and "why_not" not in point for point in points) and marks(long["request"]) == len(points)
    for form in ("openai", "openai_responses", "gemini"):
        points = user.context("s1", "And?", system=filler(5_000), format=form)["report"]["breakpoints"]
        assert {point["why_not"] for point in points} == {"the provider caches by itself"}


@pytest.mark.live
def test_d09_the_callers_own_marks_have_room(user: Person) -> None:
    user.remember("User keeps bees.")
    user.open("s1")
    user.append("s1", *[one for n in range(9) for one in (user_message(f"{n}?"), answered(f"{n}."))])
    asked = {"system": filler(5_000), "instructions": ["Be brief."]}
    assert [marks(user.context("s1", "And?", **asked, max_breakpoints=n)["request"]) for n in range(5)] == [
        0,
        1,
        2,
        3,
        4,
    ]
    only = user.context("s1", "And?", **asked, max_breakpoints=1)["report"]["breakpoints"]
    assert [point["at"] for point in only if point["marked"]] == ["history"]
    own = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    tools = [{**MINE["anthropic"][0], **own}]
    system = [{"type": "text", "text": filler(5_000), **own}]
    made = user.context("s1", "And?", tools=tools, system=system)
    assert marks(made["request"]) == 4 and sum(point["marked"] for point in made["report"]["breakpoints"]) == 2
    assert made["request"]["tools"] == tools and made["request"]["system"][0] == system[0]
    assert refused(user, max_breakpoints=5) == (422, "max_breakpoints")


@pytest.mark.live
def test_d09_the_ai_sdk_has_anthropics_marks_for_anthropics_models(user: Person, api: ApiClient) -> None:
    user.open("s1")
    user.append("s1", user_message("Hi."), answered("Hello."))
    body = {"system": filler(5_000), "format": "ai_sdk"}
    request = user.context("s1", "And?", **body)["request"]
    mark = {"anthropic": {"cacheControl": {"type": "ephemeral"}}}
    assert request["instructions"][0] == {"role": "system", "content": body["system"], "providerOptions": mark}
    assert request["messages"][1]["providerOptions"] == mark
    assert all(message["role"] != "system" for message in request["messages"])
    plain = user.context("s1", "And?", **body, max_breakpoints=0)["request"]
    assert plain["instructions"] == body["system"] and "providerOptions" not in json.dumps(plain)
