"""Messages in whatever form a chat holds them, and the tokens of answers."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic.types import Message
from openai.types.chat import ChatCompletion

from sdk.python.neve import NeveBadRequest
from sdk.python.neve._shared.messages import content_for_compile, is_answer, is_question, mark_of, messages_of, stopped
from sdk.python.neve._shared.usage import tokens_of, usage_of

ANTHROPIC: Any = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "stop_reason": "end_turn",
    "stop_sequence": None, "content": [{"type": "text", "text": "hi", "citations": None}],
    "usage": {"input_tokens": 10, "output_tokens": 2, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 5},
}  # fmt: skip
OPENAI: Any = {
    "id": "c_1", "object": "chat.completion", "created": 1, "model": "gpt-x",
    "choices": [{"index": 0, "finish_reason": "stop", "logprobs": None,
                 "message": {"role": "assistant", "content": "hi", "refusal": None, "annotations": []}}],
    "usage": {"prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 102,
              "prompt_tokens_details": {"cached_tokens": 60}},
}  # fmt: skip
RESPONSE: Any = {
    "id": "r_1", "object": "response", "model": "gpt-x",
    "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}],
    "usage": {"input_tokens": 100, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 60}},
}  # fmt: skip


@pytest.mark.parametrize(
    "said",
    [
        ANTHROPIC,
        Message.model_validate(ANTHROPIC),
        OPENAI,
        ChatCompletion.model_validate(OPENAI),
        OPENAI["choices"][0]["message"],
    ],
    ids=["anthropic as json", "anthropic", "openai as json", "openai", "the message alone"],
)
def test_an_answer_is_the_same_message_in_every_form(said: Any) -> None:
    (found,) = messages_of(said)
    assert found["role"] == "assistant"
    assert "id" not in found
    assert mark_of(found) == mark_of({"role": "assistant", "content": "hi"})
    assert is_answer(found)


def test_items_of_responses_are_taken_as_they_are() -> None:
    assert messages_of(RESPONSE) == RESPONSE["output"]


def test_an_id_of_ones_own_is_kept_and_a_mark_of_a_cache_is_no_difference() -> None:
    marked = {
        "role": "user",
        "id": "m1",
        "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}],
    }
    assert messages_of(marked)[0]["id"] == "m1"
    assert mark_of(marked) == mark_of({"role": "user", "content": "a"})


@pytest.mark.parametrize("said", [42, {"text": "a"}, [{"role": "user"}], "  ", None, {"choices": [{}]}, b"bytes"])
def test_what_has_no_known_shape_is_named(said: Any) -> None:
    with pytest.raises(NeveBadRequest) as refused:
        messages_of(said)
    assert refused.value.code == "unknown_message"
    assert refused.value.errors[0]["field"] == "messages.0"


def test_questions_and_answers_are_told_from_rounds_of_tools() -> None:
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}
    assert [is_answer(one) for one in (call, result, {"role": "tool", "content": "x"})] == [False] * 3
    assert not is_answer({"role": "assistant", "content": None, "tool_calls": [{}]})
    assert [is_question(one) for one in (call, result, {"role": "user", "content": "a"})] == [False, False, True]


def test_an_answer_that_was_stopped_has_no_call_and_no_unsigned_thought() -> None:
    parts = [
        {"type": "thinking", "thinking": "hm", "signature": ""},
        {"type": "text", "text": "so far"},
        {"type": "tool_use", "id": "t", "name": "n", "input": {}},
    ]
    assert stopped([{"role": "assistant", "content": parts}]) == [{"role": "assistant", "content": [parts[1]]}]
    assert stopped([{"role": "assistant", "content": [parts[0]]}, {"role": "assistant", "content": " "}]) == []


def test_images_of_a_question_are_sent_as_compile_takes_them() -> None:
    given = [
        {"type": "text", "text": "a"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        {"type": "image_url", "image_url": {"url": "https://x/a.jpg?v=1"}},
        {"type": "image_url", "image_url": {"url": "data:image/gif;base64,BBBB"}},
    ]
    assert content_for_compile({"role": "user", "content": given}) == [
        {"type": "text", "text": "a"},
        {"type": "image", "media_type": "image/png", "data": "AAAA"},
        {"type": "image", "media_type": "image/jpeg", "url": "https://x/a.jpg?v=1"},
        {"type": "image", "media_type": "image/gif", "data": "BBBB"},
    ]
    with pytest.raises(NeveBadRequest, match=r"message\.0.*'document'"):
        content_for_compile({"role": "user", "content": [{"type": "document"}]})


@pytest.mark.parametrize(
    ("response", "tokens", "model"),
    [
        (ANTHROPIC, (10, 30, 5, 2), "claude-x"),
        (Message.model_validate(ANTHROPIC), (10, 30, 5, 2), "claude-x"),
        (OPENAI, (40, 60, 0, 2), "gpt-x"),
        (RESPONSE, (40, 60, 0, 2), "gpt-x"),
        ({"input": 1, "cache_read": 2, "cache_write": 3, "output": 4}, (1, 2, 3, 4), None),
        ("no answer", (0, 0, 0, 0), None),
    ],
)
def test_tokens_of_every_provider(response: Any, tokens: tuple[int, ...], model: str | None) -> None:
    usage, found = usage_of(response)
    assert (tokens_of(usage), found) == (tokens, model)
