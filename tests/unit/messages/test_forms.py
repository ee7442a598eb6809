"""How the messages of each form are read (docs/rules/messages.md#forms)."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from neve.domain.errors import NeveError
from neve.domain.messages.read import form_of, read_messages
from neve.domain.sessions.new_event import NewEvent
from tests.pictures import TINY_PNG

Json = dict[str, Any]
PNG = b64encode(TINY_PNG).decode()
SOURCE = {"type": "base64", "media_type": "image/png", "data": PNG}


def events(*messages: Json, form: Any = None) -> list[NewEvent]:
    return [event for one in read_messages(messages, form) for event in one.events]


def kinds(*messages: Json, form: Any = None) -> list[str]:
    return [event.event_type.value for event in events(*messages, form=form)]


def left(*messages: Json) -> list[tuple[str, bool]]:
    return [(one.part, one.kept) for heard in read_messages(messages) for one in heard.left]


def test_a_text_is_the_same_event_in_every_form() -> None:
    forms: list[Json] = [
        {"role": "user", "content": "Hi"},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
    ]
    assert len({(event.event_type, event.content) for event in events(*forms)}) == 1


@pytest.mark.parametrize(
    "message",
    [
        {
            "role": "user",
            "content": [{"type": "image", "source": SOURCE}],
        },
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}]},
        {
            "role": "user",
            "content": [{"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}],
        },
        {"role": "user", "content": [{"type": "image", "image": PNG}]},
        {"role": "user", "content": [{"type": "file", "data": PNG, "mediaType": "image/png"}]},
    ],
    ids=["anthropic", "openai", "openai_responses", "ai_sdk", "ai_sdk file"],
)
def test_an_image_alone_is_a_message(message: Json) -> None:
    (event,) = events(message)
    assert event.content == [{"type": "image", "media_type": "image/png", "data": PNG}]


def test_an_image_by_address_is_kept_as_an_address() -> None:
    for address, kind in (("https://a.example/x.JPG?s=1", "image/jpeg"), ("https://a.example/x", "image/*")):
        (event,) = events({"role": "user", "content": [{"type": "image_url", "image_url": {"url": address}}]})
        assert event.content == [{"type": "image", "media_type": kind, "url": address}]


CALL = {"a": 1}
OUTPUT = {"type": "text", "value": "sun"}
SAID: Json = {"type": "text", "text": "Well."}
FUNCTION = {"name": "w", "arguments": '{"a":1}'}
LOOP: dict[str, list[Json]] = {
    "anthropic": [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Well."},
                {"type": "tool_use", "id": "c", "name": "w", "input": {"a": 1}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "sun"}]},
    ],
    "openai": [
        {
            "role": "assistant",
            "content": "Well.",
            "tool_calls": [{"id": "c", "type": "function", "function": FUNCTION}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "sun"},
    ],
    "ai_sdk": [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Well."},
                {"type": "tool-call", "toolCallId": "c", "toolName": "w", "input": {"a": 1}},
            ],
        },
        {
            "role": "tool",
            "content": [{"type": "tool-result", "toolCallId": "c", "toolName": "w", "output": OUTPUT}],
        },
    ],
}


@pytest.mark.parametrize("form", LOOP)
def test_a_call_has_the_text_before_it_and_its_result_follows(form: str) -> None:
    assert [form_of(message) for message in LOOP[form]] == [form, form]
    call, result = events(*LOOP[form])
    assert (call.event_type, call.content) == ("tool_call", "Well.")
    assert call.event_data == {"tool_use_id": "c", "name": "w", "args": {"a": 1}}
    assert (result.event_type, result.content, result.event_data["tool_use_id"]) == ("tool_result", "sun", "c")


def test_items_of_responses_are_calls_outputs_and_reasoning() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "xyz"}
    items: list[Json] = [
        {"role": "user", "content": "Weather?"},
        {**reasoning, "created_at": "2026-03-01T10:00:00Z", "metadata": {"step": "1"}},
        {"type": "function_call", "call_id": "c", "name": "w", "arguments": '{"a":1}', "status": "completed"},
        {"type": "function_call_output", "call_id": "c", "output": "sun"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Sunny."}],
        },
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
    ]
    assert kinds(*items) == ["user_message", "tool_call", "tool_result", "assistant_response", "neutral"]
    assert events(*items)[1].thinking == (reasoning,)


def test_thinking_stands_with_what_follows_it() -> None:
    first, second = ({"type": "thinking", "thinking": str(n), "signature": "s"} for n in range(2))
    blocks = [
        first,
        {"type": "text", "text": "Well."},
        second,
        {"type": "tool_use", "id": "c", "name": "w", "input": {}},
    ]
    said, call = events({"role": "assistant", "content": blocks})
    assert (said.event_type, said.thinking) == ("assistant_response", (first,))
    assert (call.event_type, call.thinking) == ("tool_call", (second,))


def test_what_has_no_place_is_a_neutral_event_with_the_original() -> None:
    document = {"type": "document", "source": {"type": "text", "data": "x"}}
    message = {"role": "user", "content": [document, {"type": "text", "text": "Read it."}]}
    assert kinds(message) == ["user_message", "neutral"]
    assert events(message)[1].event_data["part"] == document
    assert left(message) == [("content[0]", True)]
    assert kinds({"role": "system", "content": "Be kind"}) == ["neutral"]


def test_what_a_dump_holds_without_a_meaning_is_passed_over() -> None:
    message: Json = {
        "role": "assistant",
        "content": "Hi",
        "refusal": None,
        "annotations": [],
        "audio": None,
        "tool_calls": None,
        "function_call": None,
        "parsed": None,
    }
    assert (kinds(message), left(message)) == (["assistant_response"], [])


def test_a_mark_is_told_once() -> None:
    marked = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
    messages = [{"role": "user", "content": [marked, marked]}, {"role": "user", "content": [marked]}]
    assert left(*messages) == [("cache_control", False)]


def test_a_message_that_says_nothing_is_dropped_and_told() -> None:
    assert (kinds({"role": "assistant", "content": ""}), left({"role": "assistant", "content": []})) == (
        [],
        [("content", False)],
    )


def test_broken_arguments_stay_text() -> None:
    for given in ("{broken", "[1]", '{"a": NaN}'):
        call = {"id": "c", "type": "function", "function": {"name": "w", "arguments": given}}
        (event,) = events({"role": "assistant", "content": None, "tool_calls": [call]})
        assert event.event_data["args"] == given


def test_a_function_of_old_is_a_call_with_its_result() -> None:
    call, result = events(
        {"role": "assistant", "content": None, "function_call": {"name": "w", "arguments": "{}"}},
        {"role": "function", "name": "w", "content": "sun"},
    )
    assert call.event_data["tool_use_id"] == result.event_data["tool_use_id"]


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"role": "human", "content": "x"}, "messages[0].role"),
        ({"content": "x"}, "messages[0].role"),
        ({"role": "user", "content": 5}, "messages[0].content"),
        ({"role": "user", "content": [{"text": "x"}]}, "messages[0].content[0].type"),
        ({"role": "user", "content": ["x"]}, "messages[0].content[0]"),
        ({"role": "user", "content": [{"type": "text"}]}, "messages[0].content[0].text"),
        ({"role": "tool", "content": "x"}, "messages[0].tool_call_id"),
        ({"role": "assistant", "tool_calls": [{"id": "c"}]}, "messages[0].tool_calls[0].function"),
        ({"role": "assistant", "content": [{"type": "tool_use", "name": "w"}]}, "messages[0].content[0].id"),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "ftp:x"}}]},
            "messages[0].content[0].image_url.url",
        ),
        ({"role": "user", "content": [{"type": "image", "image": {"0": 137}}]}, "messages[0].content[0].image"),
        ({"id": "u", "role": "user", "parts": []}, "messages[0].parts"),
    ],
)
def test_what_cannot_be_understood_is_refused_and_names_the_place(message: Json, field: str) -> None:
    with pytest.raises(NeveError) as refused:
        read_messages([message])
    assert [error.field for error in refused.value.errors] == [field]
