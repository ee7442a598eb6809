"""The row of docs/features.md about one call a turn."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from tests.http.driving.at_once import at_once
from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person, user_message
from tests.pictures import TINY_PNG

HI: Json = {"role": "user", "content": "Hi, I am Ada and I keep bees."}
HELLO: Json = {"role": "assistant", "content": "Hello Ada!"}
NEXT: Json = {"role": "user", "content": "What do I keep?"}


def turn(user: Person, status: int = 200, session: str = "s1", key: str | None = None, **body: Any) -> Json:
    headers = {"Idempotency-Key": key} if key else None
    return dict(user.expect(status, "POST", f"/sessions/{session}/turn", body, headers=headers))


def texts(user: Person) -> list[str]:
    return [event["content"] for event in user.events("s1")]


def last_message(answer: Json) -> str:
    return str(answer["prompt"]["request"]["messages"][-1]["content"])


@pytest.mark.live
def test_e24_a_turn_appends_and_answers_with_the_next_prompt(user: Person) -> None:
    first = turn(user, messages=[HI], title="Bees", compile={})
    assert (first["appended"]["created"], first["degraded"]) == (True, first["prompt"]["degraded"])
    assert HI["content"] in last_message(first)
    second = turn(user, messages=[HELLO, NEXT], compile={"format": "openai", "retrieval": "none"})
    assert [one["state"] for one in second["appended"]["messages"]] == ["appended", "appended"]
    shown = second["prompt"]["request"]["messages"]
    assert (shown[-2]["content"], NEXT["content"] in str(shown[-1])) == ("Hello Ada!", True)
    alone = user.expect(200, "POST", "/context", {"session_id": "s1", "format": "openai", "retrieval": "none"})
    assert alone["request"]["messages"][:-1] == shown[:-1]


@pytest.mark.live
def test_e24_a_turn_of_events_with_a_recall_and_with_neither(user: Person) -> None:
    user.open("s1")
    recalled = turn(user, events=[user_message("I keep bees in Porto.")], recall={"query": "bees in Porto"})
    assert (recalled["appended"]["seqs"], "hits" in recalled["recall"], "prompt" in recalled) == ([1], True, False)
    plain = turn(user, messages=[HELLO])
    assert (set(plain), plain["appended"]["last_seq"]) == ({"appended", "degraded"}, 2)
    assert "request" in turn(user, compile={"message": "And now?"})["prompt"]


@pytest.mark.live
def test_e24_a_repeat_appends_nothing_and_compiles_anew(user: Person) -> None:
    turn(user, messages=[HI], compile={})
    body: Json = {"messages": [HELLO, {"role": "user", "content": "yes"}], "compile": {"retrieval": "none"}}
    first = turn(user, key="turn-2", **body)
    again = turn(user, key="turn-2", **body)
    assert again["appended"] == first["appended"]
    assert last_message(again).endswith(last_message(first)[-40:])
    assert texts(user) == [HI["content"], "Hello Ada!", "yes"]


@pytest.mark.live
def test_e24_two_at_once_with_one_key_are_one_turn(user: Person) -> None:
    turn(user, messages=[HI])
    body: Json = {"messages": [HELLO, NEXT], "compile": {"retrieval": "none"}}
    replies = at_once(
        user.api,
        lambda _: user.call("POST", "/sessions/s1/turn", body, headers={"Idempotency-Key": "turn-2"}),
        4,
    )
    assert {reply.status for reply in replies} == {200}
    assert texts(user) == [HI["content"], "Hello Ada!", NEXT["content"]]


@pytest.mark.live
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"messages": [HI], "compile": {"format": "nobody's"}}, "compile.format"),
        ({"messages": [HI], "compile": {"session_id": "s1"}}, "compile.session_id"),
        ({"messages": [HI], "compile": {}, "recall": {"query": "x"}}, "recall"),
        ({"messages": [HI], "recall": {}}, "recall.query"),
        ({"messages": [HI, {"role": "bot"}], "compile": {}}, "messages[1].role"),
        ({"messages": [HI], "events": [user_message("x")]}, "events"),
        ({"title": "x", "compile": {}}, "title"),
        ({}, "messages"),
    ],
)
def test_e24_what_is_wrong_with_the_call_is_refused_before_anything_is_appended(
    user: Person, body: Json, field: str
) -> None:
    user.open("s1")
    assert [error["field"] for error in turn(user, 422, **body)["errors"]] == [field]
    assert texts(user) == []


@pytest.mark.live
def test_e24_what_is_appended_and_cannot_be_compiled_is_said(user: Person) -> None:
    answer = turn(user, messages=[HI, HELLO], compile={})
    assert (answer["degraded"], answer["problem"]["code"]) == (["compile:validation_failed"], "validation_failed")
    assert "prompt" not in answer
    assert [one["state"] for one in answer["appended"]["messages"]] == ["appended", "appended"]
    assert texts(user) == [HI["content"], "Hello Ada!"]


@pytest.mark.controls
def test_e24_with_the_store_down_nothing_is_appended_and_a_repeat_appends_it_once(
    user: Person, controls: Controls
) -> None:
    turn(user, messages=[HI])
    body: Json = {"messages": [HELLO, NEXT], "compile": {"retrieval": "none"}}
    controls.fault("table", "error")
    assert turn(user, 503, key="turn-2", **body)["code"] == "store_unavailable"
    controls.faults()
    assert texts(user) == [HI["content"]]
    assert "request" in turn(user, key="turn-2", **body)["prompt"]
    assert texts(user) == [HI["content"], "Hello Ada!", NEXT["content"]]


@pytest.mark.controls
def test_e24_a_log_that_cannot_be_read_behind_the_append_costs_the_prompt_and_no_word(
    user: Person, controls: Controls
) -> None:
    turn(user, messages=[HI])
    body: Json = {"messages": [HELLO, NEXT], "compile": {"retrieval": "none"}}
    controls.fault("table", "error", match="#S#s1")
    answer = turn(user, key="turn-2", **body)
    controls.faults()
    assert (answer["degraded"], answer["problem"]["code"]) == (["compile:store_unavailable"], "store_unavailable")
    assert [one["state"] for one in answer["appended"]["messages"]] == ["appended", "appended"]
    assert NEXT["content"] in last_message(turn(user, key="turn-2", **body))
    assert texts(user) == [HI["content"], "Hello Ada!", NEXT["content"]]


@pytest.mark.live
def test_e24_thinking_and_pictures_of_a_turn_are_kept_as_an_append_keeps_them(user: Person) -> None:
    thought = {"type": "thinking", "thinking": "Which hive?", "signature": "EqQBCgIYAhIM"}
    source = {"type": "base64", "media_type": "image/png", "data": b64encode(TINY_PNG).decode()}
    shows: Json = {"role": "user", "content": [{"type": "image", "source": source}, {"type": "text", "text": "This?"}]}
    called = {"role": "assistant", "content": [thought, {"type": "tool_use", "id": "t1", "name": "look", "input": {}}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "the white one"}]}
    first = turn(user, messages=[shows], compile={"retrieval": "none"})
    assert "'type': 'image'" in last_message(first)
    loop = turn(user, messages=[called, result], compile={"retrieval": "none"})
    assert loop["prompt"]["request"]["messages"][-2]["content"][0] == thought
    after = turn(user, messages=[{"role": "assistant", "content": "The white one."}, NEXT], compile={})
    assert "Which hive?" not in str(after["prompt"]["request"])
    assert not any("thinking" in event.get("event_data", {}) for event in user.events("s1"))
