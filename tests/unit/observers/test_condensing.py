"""Condensing a batch of a night: what a model is asked and how its answer is read, and the same without a model."""

from __future__ import annotations

from typing import Any

import pytest

from neve.domain.observe.time_limits import COMMIT_S, writable_tokens
from neve.domain.records.memories import Priority
from neve.domain.reflect.night_limits import MAX_ANSWER_S, WITH_IDS
from neve.observers.prompted import MAX_OUTPUT, PromptedObserver
from neve.observing import CondenseInput, ReflectGroup
from neve.ports.errors import ModelUnavailable
from neve.ports.models import ModelAnswer, ModelRequest

AT = "2026-03-01T09:30:00.000Z"


class OneAnswer:
    """A model that answers with one tool input, and remembers what it was asked."""

    def __init__(self, tool_input: dict[str, Any]) -> None:
        self._tool_input = tool_input
        self.requests: list[ModelRequest] = []

    def call_tool(self, request: ModelRequest) -> ModelAnswer:
        self.requests.append(request)
        return ModelAnswer(self._tool_input, "model-1", {"input": 7, "output": 3})


def groups(*texts: str) -> list[ReflectGroup]:
    return [ReflectGroup(f"mem_{n}", text, None, None, AT) for n, text in enumerate(texts)]


def test_the_request_shows_every_row_with_its_id_and_time_and_says_the_target() -> None:
    model = OneAnswer({"rows": []})
    PromptedObserver(model, "m").condense(CondenseInput(groups("🟡 one", "🔴 two"), 300, lambda: 400.0))
    [asked] = model.requests
    text = asked.content[0]["text"]
    assert text.startswith("At most 300 tokens")
    assert f"[group id: mem_0] {AT}\n🟡 one" in text
    assert f"[group id: mem_1] {AT}\n🔴 two" in text
    assert (asked.purpose, asked.tool_name, asked.within_s) == ("condense", "record_condensed", 400.0 - COMMIT_S)
    assert asked.tool_schema["properties"]["rows"]


def test_a_full_batch_asks_for_no_more_than_a_model_writes_in_time() -> None:
    model = OneAnswer({"rows": []})
    PromptedObserver(model, "m").condense(CondenseInput(groups("🟡 one"), 32_500))
    [asked] = model.requests
    assert (asked.max_tokens, asked.within_s) == (writable_tokens(MAX_ANSWER_S), MAX_ANSWER_S)
    assert WITH_IDS * 32_500 < asked.max_tokens < MAX_OUTPUT


def test_an_answer_is_read_row_by_row() -> None:
    rows = [
        {"content": "🔴 kept", "priority": "high", "observed_date": "2026-02-28", "group_ids": ["mem_0", "mem_9"]},
        {"content": "plain", "priority": "urgent", "observed_date": "soon"},
        {"content": "  "},
    ]
    answer = PromptedObserver(OneAnswer({"rows": rows}), "m").condense(CondenseInput(groups("a", "b"), 100))
    first, second = answer.rows
    assert (first.text, first.priority, first.observed_date) == ("🔴 kept", Priority.HIGH, "2026-02-28")
    assert first.group_ids == ("mem_0",), "an id that was not shown is nobody's"
    assert (second.priority, second.observed_date, second.group_ids) == (None, None, ())
    assert (answer.model, answer.usage["input"], answer.calls) == ("model-1", 7, 1)


@pytest.mark.parametrize("tool_input", [{}, {"rows": "none"}, {"rows": [{"text": "no content"}]}])
def test_an_answer_out_of_form_is_no_answer(tool_input: dict[str, Any]) -> None:
    with pytest.raises(ModelUnavailable):
        PromptedObserver(OneAnswer(tool_input), "m").condense(CondenseInput(groups("a"), 100))
