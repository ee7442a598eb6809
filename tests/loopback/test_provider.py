"""The providers' own packages talk to the loopback as they talk to the providers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest

from tests.loopback.anthropic_rules import signature_of
from tests.loopback.script import Step
from tests.loopback.server import Loopback, running

MODEL = "claude-sonnet-x"
LONG = "Speak plainly. " * 400
HI: Any = [{"role": "user", "content": "hi"}]
WEATHER: Any = {"name": "weather", "input_schema": {"type": "object"}}
FUNCTION: Any = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
CALL = {"name": "weather", "arguments": {"city": "Porto"}}
THINKING: Any = {"type": "enabled", "budget_tokens": 1024}


@pytest.fixture
def model() -> Iterator[Loopback]:
    with running() as loopback:
        yield loopback


@pytest.fixture
def claude(model: Loopback) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(api_key="k", base_url=model.url, max_retries=0) as client:
        yield client


@pytest.fixture
def gpt(model: Loopback) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(api_key="k", base_url=f"{model.url}/v1", max_retries=0) as client:
        yield client


def marked(text: str) -> Any:
    return [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]


def test_without_a_script_it_repeats_what_it_was_told(claude: anthropic.Anthropic) -> None:
    answer = claude.messages.create(model=MODEL, max_tokens=99, messages=HI)
    assert [block.text for block in answer.content if block.type == "text"] == ["You said: hi"]


def test_a_step_thinks_speaks_and_calls(model: Loopback, claude: anthropic.Anthropic) -> None:
    model.will(Step("I look.", "The weather, then.", (CALL,)))
    asked: Any = {"model": MODEL, "max_tokens": 2000, "messages": HI, "tools": [WEATHER], "thinking": THINKING}
    answer = claude.messages.create(**asked)
    assert [block.type for block in answer.content] == ["thinking", "text", "tool_use"]
    assert answer.stop_reason == "tool_use"
    assert answer.content[0].to_dict()["signature"] == signature_of("The weather, then.")


def test_a_stream_is_the_same_answer(model: Loopback, claude: anthropic.Anthropic) -> None:
    model.will(Step("A text that is longer than one piece of a stream.", "Hm.", (CALL,)))
    asked: Any = {"model": MODEL, "max_tokens": 2000, "messages": HI, "tools": [WEATHER], "thinking": THINKING}
    with claude.messages.stream(**asked) as stream:
        final = stream.get_final_message()
    assert [block.type for block in final.content] == ["thinking", "text", "tool_use"]
    assert final.content[2].to_dict()["input"] == {"city": "Porto"}


def test_the_marked_prefix_is_read_the_second_time(model: Loopback, claude: anthropic.Anthropic) -> None:
    def used() -> tuple[int | None, int | None]:
        usage = claude.messages.create(model=MODEL, max_tokens=9, messages=HI, system=marked(LONG)).usage
        return usage.cache_creation_input_tokens, usage.cache_read_input_tokens

    written, read = used()
    assert (written or 0) > 1024
    assert read == 0
    assert used() == (0, written)
    model.ahead_s = 299
    assert used() == (0, written)
    model.ahead_s = 299 + 301
    assert used() == (written, 0)


def test_a_prefix_below_the_minimum_of_the_model_is_not_cached(claude: anthropic.Anthropic) -> None:
    for _ in range(2):
        usage = claude.messages.create(model="claude-opus-x", max_tokens=9, messages=HI, system=marked(LONG)).usage
        assert (usage.cache_creation_input_tokens, usage.cache_read_input_tokens) == (0, 0)


def test_an_older_mark_is_found_in_front_of_a_newer_one(claude: anthropic.Anthropic) -> None:
    first: Any = [{"role": "user", "content": marked(LONG)}]
    written = claude.messages.create(model=MODEL, max_tokens=9, messages=first).usage.cache_creation_input_tokens
    longer: Any = [
        {"role": "user", "content": LONG},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": marked(LONG)},
    ]
    usage = claude.messages.create(model=MODEL, max_tokens=9, messages=longer).usage
    assert usage.cache_read_input_tokens == written
    assert (usage.cache_creation_input_tokens or 0) > 1024


def test_one_changed_byte_in_front_loses_the_prefix(claude: anthropic.Anthropic) -> None:
    for text in (LONG, f"x{LONG}"):
        usage = claude.messages.create(model=MODEL, max_tokens=9, messages=HI, system=marked(text)).usage
    assert usage.cache_read_input_tokens == 0


def test_openai_reports_the_common_beginning_in_its_steps(gpt: openai.OpenAI) -> None:
    messages: Any = [{"role": "system", "content": LONG}]
    for said in ("hi", "and?"):
        asked: Any = [*messages, {"role": "user", "content": said}]
        usage = gpt.chat.completions.create(model="gpt-x", messages=asked).usage
    assert usage is not None
    assert usage.prompt_tokens_details is not None
    cached = usage.prompt_tokens_details.cached_tokens or 0
    assert cached >= 1024
    assert cached % 128 == 0


def test_openai_streams_text_calls_and_usage(model: Loopback, gpt: openai.OpenAI) -> None:
    model.will(Step("A text that is longer than one piece of a stream.", "", (CALL,)))
    asked: Any = {"model": "gpt-x", "messages": HI, "tools": [FUNCTION]}
    with gpt.chat.completions.stream(**asked, stream_options={"include_usage": True}) as stream:
        final = stream.get_final_completion()
    message = final.choices[0].message
    assert message.content == "A text that is longer than one piece of a stream."
    assert message.tool_calls is not None
    assert message.tool_calls[0].function.arguments == '{"city": "Porto"}'
    assert final.usage is not None


def test_responses_are_answered_whole_and_streamed(model: Loopback, gpt: openai.OpenAI) -> None:
    model.will(Step("Sun."), Step("Sun again."))
    assert gpt.responses.create(model="gpt-x", input="weather?").output_text == "Sun."
    with gpt.responses.stream(model="gpt-x", input="weather?") as stream:
        assert stream.get_final_response().output_text == "Sun again."


def test_a_model_fails_as_the_script_says(model: Loopback, claude: anthropic.Anthropic, gpt: openai.OpenAI) -> None:
    model.will(Step(fail="429"), Step(fail="500"), Step(fail="hang"))
    with pytest.raises(anthropic.RateLimitError):
        claude.messages.create(model=MODEL, max_tokens=9, messages=HI)
    with pytest.raises(openai.InternalServerError):
        gpt.chat.completions.create(model="gpt-x", messages=HI)
    with pytest.raises(anthropic.APITimeoutError):
        claude.messages.create(model=MODEL, max_tokens=9, messages=HI, timeout=0.2)


def test_a_stream_that_is_cut_ends_in_its_middle(model: Loopback, claude: anthropic.Anthropic) -> None:
    model.will(Step("a text of some length, in several pieces of a stream", fail="cut"))
    with claude.messages.stream(model=MODEL, max_tokens=9, messages=HI) as stream:
        kinds = [event.type for event in stream]
    assert "content_block_delta" in kinds
    assert "message_stop" not in kinds


def test_a_refusal_has_the_form_of_the_provider(
    model: Loopback, claude: anthropic.Anthropic, gpt: openai.OpenAI
) -> None:
    twice: Any = [*HI, *HI]
    with pytest.raises(anthropic.BadRequestError, match="alternate") as refused:
        claude.messages.create(model=MODEL, max_tokens=9, messages=twice)
    assert refused.value.body["error"]["type"] == "invalid_request_error"  # type: ignore[index]
    nothing: Any = []
    with pytest.raises(openai.BadRequestError, match="at least 1") as bad:
        gpt.chat.completions.create(model="gpt-x", messages=nothing)
    assert bad.value.param == "messages"
    assert len(model.refused) == 2
    with pytest.raises(anthropic.NotFoundError):
        claude.post("/v2/messages", body={}, cast_to=object)
