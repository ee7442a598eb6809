"""The real SDK against a strict loopback of the Message Batches API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from neve.adapters.models.anthropic_batches import AnthropicBatches
from neve.adapters.models.anthropic_when_asked import AnthropicWhenAsked, with_key
from neve.ports.errors import AnswerOutOfForm, ModelRefused, NotYetAnswered
from neve.ports.models import ModelRequest, request_name
from tests.loopback.script import Step
from tests.loopback.server import Loopback

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
REQUEST = ModelRequest("Condense.", ({"type": "text", "text": "one"},), "record", "Record.", SCHEMA, 100, "condense")
OTHER = replace(REQUEST, content=({"type": "text", "text": "two"},))


def answered(n: int) -> Step:
    return Step(tool_calls=({"name": "record", "arguments": {"n": n}},))


@pytest.fixture
def model(provider: Loopback) -> Iterator[AnthropicBatches]:
    made = AnthropicBatches("test-key", base_url=provider.url, timeout_s=5.0, max_retries=0)
    yield made
    made.close()


def test_each_answer_is_found_by_what_was_asked_and_its_tokens_are_told_once_more(
    provider: Loopback, model: AnthropicBatches
) -> None:
    batch = model.submit([REQUEST, OTHER])
    with pytest.raises(NotYetAnswered):
        model.answer_of(batch, REQUEST)
    provider.will(answered(1), answered(2))
    provider.end_batches()
    found = [model.answer_of(batch, one) for one in (REQUEST, OTHER)]
    assert [one and one.tool_input for one in found] == [{"n": 1}, {"n": 2}]
    usage = found[0].usage if found[0] else {}
    assert (usage["batch_input"], usage["batch_output"]) == (usage["input"], usage["output"])
    assert usage["input"] > 0 and usage["cache_write"] == usage["cache_read"] == 0
    assert model.answer_of(batch, replace(REQUEST, system="Be brief.")) is None, "nobody asked that"
    assert provider.refused == []
    [sent] = provider.batches.live.values()
    assert [one["custom_id"] for one in sent.requests] == [request_name(REQUEST), request_name(OTHER)]
    assert "cache_control" not in str(sent.requests)


def test_how_long_an_answer_may_take_is_no_part_of_what_is_asked() -> None:
    assert request_name(replace(REQUEST, within_s=3.0, max_tokens=7)) == request_name(REQUEST) != request_name(OTHER)


def test_what_expired_failed_was_cancelled_or_is_gone_has_no_answer(
    provider: Loopback, model: AnthropicBatches
) -> None:
    expired = model.submit([REQUEST])
    provider.end_batches(expired=True)
    failed = model.submit([REQUEST])
    provider.will(Step(fail="500"))
    provider.end_batches()
    cancelled = model.submit([REQUEST])
    with pytest.raises(NotYetAnswered):
        model.delete(cancelled)
    provider.end_batches()
    for batch in (expired, failed, cancelled, "msgbatch_gone"):
        assert model.answer_of(batch, REQUEST) is None


def test_an_answer_that_cannot_be_used_is_paid_for_at_half_the_price(
    provider: Loopback, model: AnthropicBatches
) -> None:
    batch = model.submit([REQUEST])
    provider.will(Step(text="I would rather talk."))
    provider.end_batches()
    with pytest.raises(AnswerOutOfForm) as raised:
        model.answer_of(batch, REQUEST)
    assert raised.value.usage["batch_output"] == raised.value.usage["output"] > 0


def test_a_batch_is_cancelled_before_it_is_deleted(provider: Loopback, model: AnthropicBatches) -> None:
    batch = model.submit([REQUEST])
    for _ in range(2):
        with pytest.raises(NotYetAnswered):
            model.delete(batch)
    provider.end_batches()
    model.delete(batch)
    model.delete(batch)
    assert provider.batches.live == {}
    assert (provider.batches.calls.count("POST cancel"), provider.batches.calls.count("DELETE")) == (1, 1)
    assert provider.refused == []


def test_a_provider_without_batches_refuses(provider: Loopback) -> None:
    model = AnthropicWhenAsked(lambda: "test-key", with_key(f"{provider.url}/elsewhere"))
    with pytest.raises(ModelRefused):
        model.submit([REQUEST])


def test_the_model_of_a_worker_hands_in_with_its_key(provider: Loopback) -> None:
    model = AnthropicWhenAsked(lambda: "test-key", with_key(provider.url))
    batch = model.submit([REQUEST])
    provider.will(answered(1))
    provider.end_batches()
    found = model.answer_of(batch, REQUEST)
    assert found is not None and found.tool_input == {"n": 1}
    model.delete(batch)
    assert provider.batches.live == {}
