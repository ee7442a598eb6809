"""What E8 answers is what the providers' own SDKs take: their types, read by pydantic, accept every request."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from pydantic import TypeAdapter, ValidationError

from neve.domain.compile.conversation import Conversation, Image, Text
from neve.domain.compile.formats.anthropic import render_anthropic as for_anthropic
from neve.domain.compile.formats.every import FORMATS
from neve.domain.compile.formats.openai_chat import render_openai_chat as for_openai
from neve.domain.compile.formats.openai_responses import render_openai_responses as for_responses
from neve.domain.compile.prompt import Prompt
from neve.domain.records.sessions import Event, EventType
from neve.usecases.ask.recall.tool import TOOLS_VERSION, VERSIONS
from tests.unit.compile.logs import answered, call, drawn_logs, event, result, user_message

IMAGES = [
    {"type": "text", "text": "Look:"},
    {"type": "image", "media_type": "image/png", "object": "images/a"},
    {"type": "image", "media_type": "image/png", "url": "https://x.example/y.png"},
]
LOG = [
    user_message(1, "Open it."),
    call(2, "t 1", {"path": "/x", "deep": {"none": None}}, text="One moment."),
    result(3, "t 1", is_error=True),
    answered(4, "That failed."),
    event(5, EventType.USER_MESSAGE, IMAGES),
    answered(6, "A cat."),
    call(7, "t2"),
    event(8, EventType.TOOL_RESULT, IMAGES, {"tool_use_id": "t2", "name": "search"}),
]


def prompt_of(log: list[Event], provider: str, *, full: bool) -> Prompt:
    conversation = Conversation({"images/a": "QUJD"})
    for one in log:
        conversation.add(one)
    history, last = conversation.parts()
    message: list[Text | Image] = [Text("What now?"), Image("image/png", data="QUJD")]
    offered = FORMATS[provider].own(VERSIONS[TOOLS_VERSION]) if full else []
    texts = ("You are Nora.", "Be brief.", "<neve-memory>") if full else ("", "", "")
    return Prompt(offered, *texts, history, [*last, Text("<neve-session>"), *message])


@cache
def of_anthropic() -> TypeAdapter[Any]:
    """Each SDK takes seconds to import: not in every process that only collects."""
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    return TypeAdapter(MessageCreateParamsNonStreaming)


@cache
def of_openai() -> TypeAdapter[Any]:
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

    return TypeAdapter(CompletionCreateParamsNonStreaming)


@cache
def of_responses() -> TypeAdapter[Any]:
    from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming

    return TypeAdapter(ResponseCreateParamsNonStreaming)


def check_responses(request: dict[str, Any]) -> None:
    _exhausted(of_responses().validate_python({"model": "gpt-5", **json.loads(json.dumps(request))}))


def check_anthropic(request: dict[str, Any]) -> None:
    """Raises ValidationError. As JSON, which is what crosses the wire; what the SDK's types call iterables is read to
    its end."""
    given = {"model": "claude-opus-5", "max_tokens": 1, **json.loads(json.dumps(request))}
    read = of_anthropic().validate_python(given)
    _exhausted(read)


def check_openai(request: dict[str, Any]) -> None:
    """As above."""
    _exhausted(of_openai().validate_python({"model": "gpt-5", **json.loads(json.dumps(request))}))


def _exhausted(value: Any) -> None:
    if isinstance(value, dict):
        for one in value.values():
            _exhausted(one)
    elif hasattr(value, "__iter__") and not isinstance(value, str | bytes):
        for one in value:
            _exhausted(one)


@pytest.mark.parametrize("full", [True, False])
def test_the_anthropic_sdk_takes_it(full: bool) -> None:
    prompt = prompt_of(LOG, "anthropic", full=full)
    request = for_anthropic(prompt, prompt.breakpoints())
    check_anthropic(request)
    assert set(request) == ({"tools", "system", "messages"} if full else {"messages"})
    marks = json.dumps(request).count("cache_control")
    assert marks == (3 if full else 1)


@pytest.mark.parametrize("full", [True, False])
def test_the_openai_sdk_takes_it(full: bool) -> None:
    request = for_openai(prompt_of(LOG, "openai", full=full))
    check_openai(request)
    roles = [message["role"] for message in request["messages"]]
    assert roles[3 * full :] == ["user", "assistant", "tool", "assistant", "user", "assistant", "tool", "user"]
    assert "cache_control" not in json.dumps(request)


@pytest.mark.parametrize("full", [True, False])
def test_the_openai_sdk_takes_it_as_items(full: bool) -> None:
    request = for_responses(prompt_of(LOG, "openai_responses", full=full))
    check_responses(request)
    assert set(request) == ({"instructions", "input", "tools"} if full else {"input"})
    request["input"][0]["content"] = 7
    with pytest.raises(ValidationError):
        check_responses(request)


def test_an_image_that_anthropic_would_not_fetch_is_a_line_of_text() -> None:
    """It takes https alone, and refuses the whole prompt for another."""
    image = {"type": "image", "media_type": "image/png", "url": "http://x.example/y.png"}
    in_result = {"tool_use_id": "t1", "name": "search"}
    log = [
        event(1, EventType.USER_MESSAGE, [image]),
        call(2, "t1"),
        event(3, EventType.TOOL_RESULT, [image], in_result),
        answered(4),
    ]
    request = for_anthropic(prompt_of(log, "anthropic", full=False))
    check_anthropic(request)
    line = {"type": "text", "text": "[an image (image/png) that is not shown]"}
    asked, _, found, _ = request["messages"][:4]
    assert asked["content"] == [line]
    assert found["content"][0]["content"] == [line]
    other = for_openai(prompt_of(log, "openai", full=False))
    assert other["messages"][0]["content"] == [{"type": "image_url", "image_url": {"url": image["url"]}}]


def test_the_check_sees_what_no_sdk_takes() -> None:
    request = for_anthropic(prompt_of(LOG, "anthropic", full=True))
    request["messages"][1]["content"][1]["input"] = "not an object"
    with pytest.raises(ValidationError):
        check_anthropic(request)
    other = for_openai(prompt_of(LOG, "openai", full=True))
    other["messages"][-1]["content"][0] = {"type": "text"}
    with pytest.raises(ValidationError):
        check_openai(other)


@settings(max_examples=25, deadline=None)
@given(drawn_logs(most_turns=4))
def test_they_take_whatever_can_be_appended(log: list[Event]) -> None:
    check_anthropic(for_anthropic(prompt_of(log, "anthropic", full=False)))
    check_openai(for_openai(prompt_of(log, "openai", full=False)))
    check_responses(for_responses(prompt_of(log, "openai_responses", full=False)))
