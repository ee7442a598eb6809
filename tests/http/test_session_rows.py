"""Rows of docs/features.md about sessions and their log: C01, C04, C05, C36, D02, D27, D52."""

from __future__ import annotations

from typing import Any

import pytest

from tests.http.driving.at_once import at_once
from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person, answered, events_of, layer_ids, user_message

# --- E1 -----------------------------------------------------------------------------------------


@pytest.mark.live
def test_c01_a_session_is_opened_once(user: Person) -> None:
    user.remember("User keeps bees.")
    first = user.open("s1", title="About bees")
    assert first["created"] is True
    user.remember("User also keeps hens.")
    second = user.open("s1")
    assert second["created"] is False
    assert second["session"]["id"] == first["session"]["id"] == "s1"
    assert second["session"]["title"] == "About bees"
    lag = {"memory_lag": second["session"]["memory_lag"]}  # the user's: what is not embedded yet
    assert second["session"] == {**first["session"], "title": "About bees", **lag}
    assert first["session"]["pack_version"] == 1
    assert (second["pack"]["pack_version"], second["pack"]["sha256"]) == (1, first["pack"]["sha256"])
    assert second["pack"]["text"] == first["pack"]["text"]
    assert len(user.versions("s1")) == 1
    sessions = user.expect(200, "GET", "/sessions")["sessions"]
    assert [session["id"] for session in sessions] == ["s1"]


@pytest.mark.live
def test_c01_many_at_once_are_one_session(user: Person) -> None:
    user.remember("User keeps bees.")
    opened = at_once(user.api, lambda _: user.open("s1"), 5)
    assert sorted(one["created"] for one in opened) == [False] * 4 + [True]
    assert len({one["pack"]["sha256"] for one in opened}) == 1
    assert [version["pack_version"] for version in user.versions("s1")] == [1]


@pytest.mark.live
def test_c01_without_an_id_each_call_opens_another(user: Person) -> None:
    ids = {user.open()["session"]["id"] for _ in range(3)}
    assert len(ids) == 3
    headers = {"Idempotency-Key": "once"}
    repeated = {user.expect(200, "POST", "/sessions", {}, headers=headers)["session"]["id"] for _ in range(3)}
    assert len(repeated) == 1
    assert len(user.expect(200, "GET", "/sessions")["sessions"]) == 4


@pytest.mark.live
def test_c01_a_repeated_call_is_answered_as_the_first_and_renames_nothing(user: Person) -> None:
    body, headers = {"session_id": "s1", "title": "About bees"}, {"Idempotency-Key": "once"}
    first = user.expect(200, "POST", "/sessions", body, headers=headers)
    assert first["created"] is True
    again = user.expect(200, "POST", "/sessions", body, headers=headers)
    assert {**again, "elapsed_ms": 0} == {**first, "elapsed_ms": 0}
    user.open("s1", title="About hens")
    late = user.expect(200, "POST", "/sessions", body, headers=headers)
    assert (late["created"], late["session"]["title"]) == (True, "About hens")


@pytest.mark.live
def test_c04_without_time_the_session_starts_without_a_pack(user: Person) -> None:
    user.remember("User keeps bees.")
    opened = user.open("s1", budget_ms=0)
    assert opened["created"] is True
    assert opened["session"]["id"] == "s1"
    assert opened["pack"] == {"state": "unavailable", "degraded": ["deadline"]}
    assert opened["degraded"] == ["deadline"]
    assert any("Loaded 0 " in line for line in opened["transparency"])
    assert any("budget of 0 ms" in line for line in opened["transparency"])
    assert user.open("s1")["pack"]["state"] == "ready"


@pytest.mark.controls
def test_c05_a_slow_store_does_not_hold_up_the_start(user: Person, controls: Controls) -> None:
    user.remember("User keeps bees.")
    user.open_without_pack("s1")
    controls.fault("objects", "slow:900")
    opened = user.open("s1", budget_ms=500)
    assert opened["elapsed_ms"] <= 500
    assert opened["degraded"] == ["deadline"]
    assert "text" not in opened["pack"], "a layer is whole or not there"
    assert any("budget of 500 ms" in line for line in opened["transparency"])
    by_default = user.open("s2")
    assert (by_default["elapsed_ms"], by_default["degraded"]) == (500, ["deadline"])
    controls.faults()
    assert user.open("s1")["pack"]["state"] == "ready"


@pytest.mark.controls
def test_c05_a_broken_pack_store_does_not_hold_up_the_start(user: Person, controls: Controls) -> None:
    user.remember("User keeps bees.")
    controls.fault("objects", "error")
    opened = user.open("s1")
    assert opened["created"] is True
    assert opened["degraded"] == ["pack:partial"]
    assert opened["pack"]["state"] == "partial"
    assert any("pack:partial" in line for line in opened["transparency"])


@pytest.mark.controls
def test_c05_a_session_that_cannot_be_written_is_refused(user: Person, controls: Controls) -> None:
    user.open("s0")
    controls.fault("table", "error")
    reply = user.call("POST", "/sessions", {"session_id": "s1"})
    assert (reply.status, reply.json()["code"]) == (503, "store_unavailable")
    assert int(reply.headers["retry-after"]) >= 1
    controls.faults()
    assert user.call("GET", "/sessions/s1").status == 404


@pytest.mark.live
def test_c36_a_brand_new_user_has_an_empty_memory(user: Person) -> None:
    answer = user.recall("what do you know about me")
    assert (answer["hits"], answer["result_state"], answer["degraded"]) == ([], "none", [])
    assert user.memories() == []
    assert user.expect(200, "GET", "/sessions") == {"sessions": []}
    assert user.expect(200, "GET", "/recalls")["recalls"][0]["hits"] == []
    assert user.expect(200, "GET", "/stats")["memories"]["total"] == 0
    opened = user.open("s1")
    assert opened["pack"]["state"] == "ready"
    assert opened["pack"]["text"] == ""
    assert {name: layer_ids(opened["pack"], name) for name in ("always", "profile", "global", "local")} == {
        "always": [],
        "profile": [],
        "global": [],
        "local": [],
    }
    assert "degraded" not in opened


# --- E2 -----------------------------------------------------------------------------------------


@pytest.mark.live
def test_d02_events_are_listed_in_order_without_gaps(user: Person) -> None:
    user.open("s1")
    texts = [f"line {n}" for n in range(1, 11)]
    assert user.append("s1", *map(user_message, texts[:3]))["seqs"] == [1, 2, 3]
    assert user.append("s1", *map(answered, texts[3:]))["seqs"] == [4, 5, 6, 7, 8, 9, 10]
    assert [(event["seq"], event["content"]) for event in user.events("s1")] == list(enumerate(texts, start=1))
    page = user.expect(200, "GET", "/sessions/s1/events", query={"from_seq": 3, "limit": 4})
    assert [event["seq"] for event in page["events"]] == [3, 4, 5, 6]
    assert page["next_from_seq"] == 7
    last = user.expect(200, "GET", "/sessions/s1/events", query={"from_seq": 7, "limit": 4})
    assert "next_from_seq" not in last
    assert user.events("s1", from_seq=11) == []


@pytest.mark.live
def test_d02_the_same_idempotency_key_appends_once(user: Person) -> None:
    user.open("s1")
    headers = {"Idempotency-Key": "k1"}
    events = events_of(("Hello.", "Hi."))
    first = user.append("s1", *events, headers=headers)
    assert user.append("s1", *events, headers=headers) == first
    assert user.append("s1", *events, headers={"Idempotency-Key": "k2"})["seqs"] == [3, 4]
    assert [event["seq"] for event in user.events("s1")] == [1, 2, 3, 4]
    user.open("s2")
    assert user.append("s2", *events, headers=headers)["seqs"] == [1, 2], "a key counts for one path"


@pytest.mark.live
def test_d02_a_client_id_is_appended_once(user: Person) -> None:
    user.open("s1")
    assert user.append("s1", user_message("One.", client_id="c1"), user_message("Two.", client_id="c2"))["seqs"] == [
        1,
        2,
    ]
    assert user.append("s1", user_message("Two.", client_id="c2"), user_message("Three.", client_id="c3"))["seqs"] == [
        2,
        3,
    ]
    other = user.call("POST", "/sessions/s1/events", {"events": [user_message("Another.", client_id="c1")]})
    assert (other.status, other.json()["code"]) == (409, "client_id_conflict")
    assert [event["content"] for event in user.events("s1")] == ["One.", "Two.", "Three."]


@pytest.mark.live
def test_d02_concurrent_appends_have_disjoint_seqs(user: Person) -> None:
    user.open("s1")
    appended = at_once(user.api, lambda n: user.append("s1", user_message(f"a{n}"), user_message(f"b{n}"))["seqs"], 5)
    assert sorted(seq for seqs in appended for seq in seqs) == list(range(1, 11))
    contents = {event["seq"]: event["content"] for event in user.events("s1")}
    for n, (first, second) in enumerate(appended):
        assert second == first + 1, "one request is appended whole"
        assert (contents[first], contents[second]) == (f"a{n}", f"b{n}")


@pytest.mark.controls
def test_d02_an_append_that_failed_left_nothing(user: Person, controls: Controls) -> None:
    user.open("s1")
    controls.fault("table", "error")
    reply = user.call("POST", "/sessions/s1/events", {"events": [user_message("Lost?", client_id="c1")]})
    assert (reply.status, reply.json()["code"]) == (503, "store_unavailable")
    assert "retry-after" in reply.headers
    controls.faults()
    assert user.events("s1") == []
    assert user.append("s1", user_message("Lost?", client_id="c1"))["seqs"] == [1]


TOOL: Json = {"tool_use_id": "t1", "name": "weather"}
TYPES: tuple[Json, ...] = (
    {"event_type": "user_message", "content": "x" * 100},
    {"event_type": "assistant_response", "content": "y" * 100, "name": "Sol"},
    {"event_type": "tool_call", "content": "", "event_data": {**TOOL, "args": {"city": "Porto"}}},
    {"event_type": "tool_result", "content": "z" * 100, "event_data": {**TOOL, "is_error": False}},
    {"event_type": "task_boundary", "content": "", "event_data": {"kind": "topic"}},
)


@pytest.mark.live
def test_d27_the_log_has_five_types(user: Person) -> None:
    user.open("s1")
    user.append("s1", *TYPES)
    listed = user.events("s1")
    for sent, event in zip(TYPES, listed, strict=True):
        assert {name: event.get(name) for name in sent} == sent
    assert [event["original_tokens"] for event in listed] == [32, 32, 5, 32, 0]
    assert all(event["pruned"] is False and event["archived"] is False for event in listed)
    assert [event["created_at"] for event in listed] == sorted(event["created_at"] for event in listed)


@pytest.mark.live
def test_d27_the_server_counts_the_tokens(user: Person) -> None:
    """docs/rules/values.md#estimate: 100 ASCII characters are 32 tokens, an emoji of two UTF-16 units is 1, an image
    1,600."""
    user.open("s1")
    image = {"type": "image", "media_type": "image/png", "url": "https://example.com/a.png"}
    user.append(
        "s1",
        user_message("x" * 100),
        user_message("🟡"),
        user_message([image]),
        answered([{"type": "text", "text": "x" * 100}, image]),
    )
    assert [event["original_tokens"] for event in user.events("s1")] == [32, 1, 1_600, 1_632]


@pytest.mark.live
@pytest.mark.parametrize(
    ("event", "field"),
    [
        ({"event_type": "foo", "content": "x"}, "events[0].event_type"),
        ({"content": "x"}, "events[0].event_type"),
        ({"event_type": "tool_call", "content": "", "event_data": {"name": "w"}}, "events[0].event_data.tool_use_id"),
        ({"event_type": "tool_result", "content": "", "event_data": {"name": "w"}}, "events[0].event_data.tool_use_id"),
        ({"event_type": "tool_call", "content": "", "event_data": {"tool_use_id": "t"}}, "events[0].event_data.name"),
        ({"event_type": "tool_call", "content": ""}, "events[0].event_data"),
        ({"event_type": "user_message", "content": ""}, "events[0].content"),
        ({"event_type": "user_message"}, "events[0].content"),
        ({"event_type": "user_message", "content": "x", "original_tokens": 1}, "events[0].original_tokens"),
    ],
)
def test_d27_other_types_and_half_events_are_refused(user: Person, event: Json, field: str) -> None:
    user.open("s1")
    problem = user.expect(422, "POST", "/sessions/s1/events", {"events": [event]})
    assert [error["field"] for error in problem["errors"]] == [field]
    assert user.events("s1") == []


@pytest.mark.live
def test_d27_the_log_is_read_backwards_and_without_what_was_taken_back(user: Person) -> None:
    user.open("s1")
    for n in range(5):
        user.append("s1", user_message(f"Question {n}."), answered(f"Answer {n}."))
    user.expect(200, "POST", "/sessions/s1/events/retract", {"from_seq": 9, "to_seq": 10, "reason": "edited"})
    user.expect(200, "POST", "/sessions/s1/events/retract", {"from_seq": 3, "to_seq": 4, "reason": "edited"})

    def read(**query: str) -> list[int]:
        seqs: list[int] = []
        at: dict[str, str] = {}
        while True:
            page = user.expect(200, "GET", "/sessions/s1/events", query={"limit": "3", **query, **at})
            seqs += [event["seq"] for event in page["events"]]
            if "next_from_seq" not in page:
                return seqs
            at = {"from_seq": str(page["next_from_seq"])}

    kept = [1, 2, 5, 6, 7, 8]
    assert read(order="desc") == list(range(10, 0, -1))
    assert (read(retracted="false"), read(order="desc", retracted="false")) == (kept, kept[::-1])
    assert read(order="desc", from_seq="6")[:2] == [6, 5]
    [newest] = user.expect(200, "GET", "/sessions/s1/events", query={"order": "desc", "limit": "1"})["events"]
    assert (newest["seq"], newest["retracted"]) == (10, True)
    problem = user.expect(422, "GET", "/sessions/s1/events", query={"order": "up"})
    assert [error["field"] for error in problem["errors"]] == ["query.order"]


@pytest.mark.live
def test_d52_a_session_says_when_and_how_much(user: Person) -> None:
    started = user.open("s1", title="About bees", user_meta={"name": "Ada", "stage": "TRUSTED"})["session"]
    assert (started["last_seq"], started["total_tokens"], started["epoch"]) == (0, 0, 0)
    assert "last_event_at" not in started
    user.append("s1", user_message("x" * 100), answered("y" * 320))
    user.append("s1", user_message("🟡"))
    user.settle()
    session = user.session("s1")
    expected: dict[str, Any] = {
        "id": "s1",
        "title": "About bees",
        "user_meta": {"name": "Ada", "stage": "TRUSTED"},
        "started_at": started["started_at"],
        "status": "open",
        "last_seq": 3,
        "epoch": 0,
        "total_tokens": 133,
        "pack_version": 1,
    }
    assert {name: session[name] for name in expected} == expected
    assert session["last_event_at"] >= session["started_at"]
    assert session["total_tokens"] == sum(event["original_tokens"] for event in user.events("s1"))
    assert user.expect(200, "GET", "/sessions")["sessions"] == [session]


@pytest.mark.controls
def test_d52_times_are_those_of_the_clock(user: Person, controls: Controls) -> None:
    controls.freeze("2026-06-01T10:00:00Z")
    user.open("s1")
    controls.advance(90)
    user.append("s1", user_message("Hello."))
    session = user.session("s1")
    assert session["started_at"] == "2026-06-01T10:00:00.000Z"
    assert session["last_event_at"] == "2026-06-01T10:01:30.000Z"
