"""Rows B33, D42 and D43 of docs/features.md in a loop of tool calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person, answered, user_message
from tests.http.prompts.test_caller_rows import FORMS, MINE, round_of
from tests.unit.compile.formats.provider_rules import RULES

SIGNED = {
    "type": "thinking",
    "thinking": "I need the <neve-session>weather</neve-session>.",
    "signature": "EqQBCgIYAhIM",
}


def messages(made: Json) -> list[Any]:
    key = next(key for key in ("messages", "input", "contents") if key in made["request"])
    return list(_without_marks(made["request"][key]))


def _without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_marks(v) for k, v in value.items() if k not in ("cache_control", "providerOptions")}
    return [_without_marks(one) for one in value] if isinstance(value, list) else value


@pytest.mark.live
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sent", [True, False], ids=["sent", "appended"])
def test_d43_each_request_of_a_loop_begins_with_the_whole_one_before(user: Person, form: str, sent: bool) -> None:
    """Byte by byte, whatever is remembered, said elsewhere or found meanwhile."""
    user.remember("User lives in Porto.")
    user.open("other")
    user.open("s1")
    user.append("s1", user_message("Hi."), answered("Hello."))
    user.append("other", user_message("I bought an umbrella."), answered("Good."))
    user.remember("User likes rain in Porto.")
    user.settle()
    asked = {"format": form, "tools": MINE[form]}
    if not sent:
        user.append("s1", user_message("Weather in Porto?"))
    first = user.context("s1", "Weather in Porto?" if sent else None, **asked)
    assert "neve-retrieved" in json.dumps(first["request"]) or "neve-updates" in json.dumps(first["request"])
    if sent:
        user.append("s1", user_message("Weather in Porto?"))
    before = messages(first)
    for n in range(6):
        user.append("s1", *round_of(f"t{n}", result=f"sun {n}"))
        user.remember(f"User was in Porto in {2000 + n}.")
        if n == 2:
            user.observe("other")
        user.settle()
        made = user.context("s1", **asked)
        now = messages(made)
        assert now[: len(before)] == before and not made["report"]["prefix_changed"]
        assert "neve-" not in json.dumps(now[len(before) :]), "results alone stand at the end"
        RULES[form](made["request"])
        before = now


@pytest.mark.live
def test_d43_a_hit_that_holds_in_part_stays_as_it_was_shown(user: Person) -> None:
    for session, text in (("s2", "I live in Lyon. My cat Tom lives in Lyon too."), ("s3", "I moved to Nice.")):
        user.open(session)
        user.append(session, user_message(text), answered())
        user.observe(session)
    user.settle()
    user.open("s1")
    user.append("s1", user_message("Where do I live in Lyon?"))
    first = messages(user.context("s1", tools=MINE["anthropic"]))
    assert "[no longer holds since " in json.dumps(first)
    for n in range(2):
        user.append("s1", *round_of(f"t{n}"))
        assert messages(user.context("s1", tools=MINE["anthropic"]))[: len(first)] == first


@pytest.mark.controls
def test_b33_the_clock_of_a_turn_is_that_of_its_first_prompt(user: Person, controls: Controls) -> None:
    controls.freeze("2026-11-20T14:05:00Z")
    user.open("s1")
    user.append("s1", user_message("Weather?"))
    user.context("s1")
    controls.freeze("2026-11-20T14:20:00Z")
    assert "T14:20:00" in json.dumps(user.context("s1")["request"]), "nobody has answered yet"
    user.append("s1", *round_of("t1"))
    controls.freeze("2026-11-20T14:30:00Z")
    made = json.dumps(user.context("s1")["request"])
    assert "T14:20:00" in made and "T14:30:00" not in made
    user.append("s1", answered("Sunny."), user_message("Thanks."))
    assert "T14:30:00" in json.dumps(user.context("s1")["request"])


@pytest.mark.live
def test_d42_what_is_deleted_in_a_turn_leaves_its_prompts(user: Person) -> None:
    user.open("s1")
    gone = user.remember("User lives in Porto.")["id"]
    stays = user.remember("User was born in Porto.")["id"]
    user.settle()
    user.append("s1", user_message("Weather in Porto?"))
    assert gone in json.dumps(user.context("s1")["request"])
    user.append("s1", *round_of("t1"))
    user.expect(200, "DELETE", f"/memories/{gone}")
    text = json.dumps(user.context("s1")["request"])
    assert gone not in text and "lives in Porto" not in text and stays in text


@pytest.mark.live
@pytest.mark.parametrize("given", ["content", "event_data"])
def test_d42_what_a_model_thought_comes_back_in_the_open_turn_only(user: Person, given: str) -> None:
    user.open("s1")
    call, result = round_of("t1")
    if given == "content":
        call["content"] = [SIGNED]
    else:
        call["event_data"]["thinking"] = [SIGNED]
    user.append("s1", user_message("Weather?"), call, result)
    for n in (2, 3):
        made = user.context("s1", tools=MINE["anthropic"])
        RULES["anthropic"](made["request"])
        rounds = [one["content"] for one in messages(made) if one["role"] == "assistant"]
        assert rounds[0][0] == SIGNED and rounds[0][1]["type"] == "tool_use" and len(rounds) == n - 1
        for form in ("openai", "gemini", "openai_responses"):
            assert "EqQB" not in json.dumps(user.context("s1", tools=MINE[form], format=form)["request"])
        sdk = user.context("s1", tools=MINE["ai_sdk"], format="ai_sdk")["request"]["messages"][1]["content"][0]
        assert (sdk["type"], sdk["text"]) == ("reasoning", SIGNED["thinking"])
        assert sdk["providerOptions"] == {"anthropic": {"signature": SIGNED["signature"]}}
        user.append("s1", *round_of(f"t{n}"))
    user.append("s1", answered("Sunny."), user_message("Thanks."))
    assert "EqQB" not in json.dumps(user.context("s1", tools=MINE["anthropic"])["request"])


@pytest.mark.live
def test_d42_a_turn_whose_first_prompt_is_in_a_round_begins_there(user: Person) -> None:
    user.remember("User lives in Porto.")
    user.open("s1")
    user.settle()
    user.append("s1", user_message("Weather in Porto?"), *round_of("t1"))
    asked, _, results = user.context("s1", tools=MINE["anthropic"])["request"]["messages"]
    assert asked["content"][0]["text"].startswith("<neve-") and asked["content"][-1]["text"] == "Weather in Porto?"
    assert [block["type"] for block in results["content"]] == ["tool_result"]
