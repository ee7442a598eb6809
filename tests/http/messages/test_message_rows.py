"""The row of docs/features.md about providers' messages as they are."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from tests.http.driving.people import Json, Person
from tests.pictures import TINY_PNG

OPENAI: list[Json] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "What is the weather in Porto and in Faro?", "name": None},
    {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "annotations": [],
        "tool_calls": [
            {
                "id": f"call_{n}",
                "type": "function",
                "function": {"name": "weather", "arguments": arguments},
            }
            for n, arguments in enumerate(('{"city":"Porto"}', '{"city":"Faro"}'))
        ],
    },
    {"role": "tool", "tool_call_id": "call_0", "content": "18 degrees"},
    {"role": "tool", "tool_call_id": "call_1", "content": "21 degrees"},
    {"role": "assistant", "content": "18 in Porto, 21 in Faro."},
]
THOUGHT = {"type": "thinking", "thinking": "They want the weather.", "signature": "EqQBCgIYAhIM"}
ANTHROPIC: list[Json] = [
    {"role": "user", "content": "What is the weather in Porto?"},
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 9},
        "content": [
            THOUGHT,
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Porto"}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "18 degrees"}]},
]


def send(user: Person, *messages: Json, session: str = "s1", status: int = 201, **more: Any) -> Json:
    headers = more.pop("headers", None)
    body = {"messages": list(messages), **more}
    return dict(user.expect(status, "POST", f"/sessions/{session}/messages", body, headers=headers))


def states(sent: Json) -> list[str]:
    return [one["state"] for one in sent["messages"]]


def request(user: Person, session: str = "s1", **more: Any) -> list[Json]:
    return list(user.expect(200, "POST", "/context", {"session_id": session, **more})["request"]["messages"])


@pytest.mark.live
def test_e23_the_messages_of_an_sdk_open_a_session_and_come_back_in_its_prompt(user: Person) -> None:
    sent = send(user, *OPENAI, title="Weather", user_meta={"timezone": "Europe/Lisbon"})
    assert (sent["created"], states(sent), sent["last_seq"]) == (True, ["appended"] * 6, 7)
    assert [(one["index"], one["part"]) for one in sent["dropped"]] == [(0, "role")]
    shown = request(user, format="openai", message="Thanks!", retrieval="none")
    calls = OPENAI[2]["tool_calls"]
    assert shown[1] == {"role": "assistant", "tool_calls": calls}
    assert [one for one in shown if one["role"] == "tool"] == OPENAI[3:5]
    assert user.session("s1")["title"] == "Weather"
    events = user.events("s1")
    assert events[0]["event_type"] == "neutral" and events[0]["event_data"]["part"] == OPENAI[0]
    assert {event["event_data"]["name"] for event in events[2:6]} == {"weather"}


@pytest.mark.live
def test_e23_a_chat_that_is_sent_again_adds_nothing_and_what_is_new_is_appended(user: Person) -> None:
    chat: list[Json] = []
    for text, answer in (("Hi", "Hello!"), ("yes", "Fine."), ("yes", "Good."), ("no", "Sorry.")):
        chat.append({"role": "user", "content": text})
        send(user, *chat)
        chat.append({"role": "assistant", "content": answer})
    assert states(send(user, *chat)) == ["known"] * 7 + ["appended"]
    assert states(send(user, *chat, status=200)) == ["known"] * 8
    assert states(send(user, {"role": "user", "content": "yes"})) == ["appended"]
    assert states(send(user, {"role": "user", "content": "yes"})) == ["appended"]
    texts = [event["content"] for event in user.events("s1")]
    assert texts == [*(message["content"] for message in chat), "yes", "yes"]


@pytest.mark.live
def test_e23_a_repeat_with_its_key_or_its_ids_adds_nothing(user: Person) -> None:
    send(user, {"role": "user", "content": "Shall we?"}, {"role": "assistant", "content": "Sure?"})
    yes = {"role": "user", "content": "yes"}
    once = {"Idempotency-Key": "yes-1"}
    first = send(user, yes, headers=once)
    assert send(user, yes, headers=once) == first
    assert states(send(user, yes | {"id": "m-9"})) == ["appended"]
    assert states(send(user, yes | {"id": "m-9"}, status=200)) == ["known"]
    assert user.session("s1")["last_seq"] == 4


@pytest.mark.live
def test_e23_thinking_is_kept_while_the_turn_is_open_and_gone_with_the_next_message(user: Person) -> None:
    assert send(user, *ANTHROPIC)["observation"] == "none"
    data = [event.get("event_data", {}) for event in user.events("s1")]
    assert [one.get("thinking") for one in data] == [None, [THOUGHT], None]
    assert states(send(user, *ANTHROPIC[1:], status=200)) == ["known", "known"]
    send(user, {"role": "assistant", "content": "18 degrees."}, {"role": "user", "content": "Thanks!"})
    assert not any("thinking" in event.get("event_data", {}) for event in user.events("s1"))
    assert "They want the weather." not in str(request(user, retrieval="none"))


@pytest.mark.live
def test_e23_a_message_of_images_alone_and_one_by_address(user: Person) -> None:
    data = b64encode(TINY_PNG).decode()
    stored = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    linked = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    send(user, {"role": "user", "content": [stored, linked]})
    [event] = user.events("s1")
    assert [block["type"] for block in event["content"]] == ["image", "image"]
    assert event["content"][1]["url"] == "https://example.org/a.png"
    shown = [block for block in request(user, retrieval="none")[-1]["content"] if block["type"] == "image"]
    assert shown == [stored, linked]


@pytest.mark.live
def test_e23_what_has_no_place_is_kept_told_and_read_by_nobody(user: Person) -> None:
    document = {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "The vault is Zanzibar."},
    }
    sent = send(user, {"role": "user", "content": [document, {"type": "text", "text": "Keep it."}]})
    assert [(one["index"], one["part"]) for one in sent["dropped"]] == [(0, "content[0]")]
    send(user, {"role": "assistant", "content": "Kept."})
    data = {"any": [1, {"json": None}]}
    user.append("s1", {"event_type": "neutral", "content": "Zanzibar again", "event_data": data})
    user.observe("s1")
    user.settle()
    events = user.events("s1")
    assert [event["event_type"] for event in events] == ["user_message", "neutral", "assistant_response", "neutral"]
    assert (events[1]["event_data"]["part"], events[3]["event_data"]) == (document, data)
    found = user.expect(200, "POST", "/recall", {"query": "Zanzibar vault", "mode": "tool"})
    assert "Zanzibar" not in str(found["hits"])
    assert "Zanzibar" not in str(user.memories())
    assert "Zanzibar" not in str(request(user, message="And now?", retrieval="none"))
    assert user.session("s1")["memory_lag"]["unobserved"] == 0


@pytest.mark.live
@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"role": "bot", "content": "x"}, "messages[1].role"),
        ({"role": "user", "content": [{"type": "text", "text": "x"}, {"text": "y"}]}, "messages[1].content[1].type"),
        ({"role": "user", "parts": [{"type": "text", "text": "x"}]}, "messages[1].parts"),
        ({"role": "tool", "content": "x"}, "messages[1].tool_call_id"),
    ],
    ids=["role", "type", "ui message", "no call"],
)
def test_e23_what_cannot_be_understood_is_refused_by_name_and_nothing_is_written(
    user: Person, message: Json, field: str
) -> None:
    refused = send(user, {"role": "user", "content": "Hi"}, message, status=422)
    assert [error["field"] for error in refused["errors"]] == [field]
    assert user.expect(404, "GET", "/sessions/s1")["code"] == "session_not_found"


@pytest.mark.live
def test_e23_what_is_too_large_or_too_much_is_refused_with_the_limit(user: Person) -> None:
    large = send(user, {"role": "user", "content": "a" * 300_000}, status=413)
    assert (large["code"], large["errors"][0]["field"]) == ("event_too_large", "messages[0]")
    many = [{"role": "user", "content": f"message {n}"} for n in range(49)]
    assert "48" in send(user, *many, status=422)["detail"]
    assert len(send(user, *many[:48])["messages"]) == 48
