"""A tool's recall, whose first candidates are read again: what that changes, and what happens while it cannot be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from local.controls.fixture_cross_encoder import FixtureCrossEncoder
from local.controls.virtual_time import spend
from neve.usecases.ask.recall.answer import RecallAnswer
from neve.usecases.ask.recall.stages.deeper import READ
from tests.unit.recall_world import RecallWorld

QUESTION = "Which crane of the harbour did we paint?"
LINES = (
    "The crane of the harbour is what we paint next week deep=-9",
    "Paint dries fast in the sun",
    "A crane is a bird as well deep=9",
    "We went to the harbour and then we had soup",
)


class Noting(FixtureCrossEncoder):
    """Notes what it was given to read."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def scores(self, question: str, texts: Sequence[str], still_wanted: Callable[[], bool]) -> list[float]:
        self.read += texts
        return super().scores(question, texts, still_wanted)


@pytest.fixture
def world(new_recall_world: RecallWorld) -> RecallWorld:
    new_recall_world.inner_cross_encoder = Noting()
    new_recall_world.open()
    new_recall_world.say(*LINES)
    new_recall_world.pump()
    return new_recall_world


def ask(world: RecallWorld, mode: str = "tool", **given: Any) -> RecallAnswer:
    return world.ask(QUESTION, k=10, mode=mode, threshold=0.0, **given)


def order(answer: RecallAnswer) -> list[str]:
    return [hit.id for hit in answer.hits]


def read_again(answer: RecallAnswer) -> dict[str, float]:
    return {hit.id: hit.components["deep"] for hit in answer.hits if "deep" in hit.components}


def read_by(world: RecallWorld) -> list[str]:
    assert isinstance(world.inner_cross_encoder, Noting)
    return world.inner_cross_encoder.read


def test_a_tool_gets_the_order_of_both_and_each_place_keeps_its_score(world: RecallWorld) -> None:
    deep, linear = ask(world), ask(world, rerank="linear")
    assert order(linear)[0] == "evt:s1:1" and order(deep)[0] == "evt:s1:3"
    assert sorted(order(deep)) == sorted(order(linear))
    assert [hit.score for hit in deep.hits] == [hit.score for hit in linear.hits]
    assert read_again(deep)["evt:s1:3"] == 9.0 and len(read_again(deep)) == len(deep.hits)
    assert deep.degraded == [] and read_again(linear) == {}


@pytest.mark.parametrize("given", [{"mode": "prompt"}, {"rerank": "off"}, {"rerank": "linear"}])
def test_nobody_else_has_anything_read_again(world: RecallWorld, given: dict[str, str]) -> None:
    answer = ask(world, **given)
    assert answer.hits and read_again(answer) == {} and read_by(world) == []


def test_a_prompt_that_asks_for_it_by_name_is_ranked_as_before_and_not_degraded(world: RecallWorld) -> None:
    world.with_policy(rerank="deep")
    answer = ask(world, mode="prompt")
    assert (order(answer), answer.degraded) == (order(ask(world, mode="prompt", rerank="linear")), [])


def test_each_is_read_with_the_end_of_the_message_before_it_in_one_read_more(world: RecallWorld) -> None:
    world.rows.calls.clear()
    ask(world, rerank="linear")
    reads = world.rows.calls["get_many"]
    world.rows.calls.clear()
    ask(world)
    assert world.rows.calls["get_many"] <= reads + 1
    assert f"assistant: {LINES[1]}\nuser: {LINES[2]}" in read_by(world)
    assert f"user: {LINES[0]}" in read_by(world), "nothing was said before it"


@pytest.mark.parametrize(
    ("fault", "flag"),
    [("rerank=error", "rerank:error"), ("rerank=slow:20000", "rerank:timeout"), ("rerank=status:404", None)],
)
def test_a_model_that_fails_or_is_slow_leaves_the_linear_order(
    world: RecallWorld, fault: str, flag: str | None
) -> None:
    linear = ask(world, rerank="linear")
    world.broken(fault)
    answer = ask(world)
    assert (order(answer), read_again(answer)) == (order(linear), {})
    assert answer.degraded == ([flag] if flag else [])
    assert answer.elapsed_ms <= answer.budget_ms


@pytest.mark.parametrize(("ms", "flags"), [(4_000, []), (6_000, ["rerank:timeout"])])
def test_a_model_is_waited_for_while_half_of_the_time_is_left(world: RecallWorld, ms: int, flags: list[str]) -> None:
    class Loading(FixtureCrossEncoder):
        def load(self) -> None:
            spend(ms)

    world.inner_cross_encoder = Loading()
    answer = ask(world, budget_ms=10_000)
    assert answer.degraded == flags
    assert answer.elapsed_ms == pytest.approx(min(ms, 5_000), abs=1)


def test_what_stands_behind_the_first_thirty_is_not_read(world: RecallWorld) -> None:
    world.say(*(f"We paint the crane number {n} of the harbour" for n in range(READ + 5)))
    world.pump()
    answer = world.ask(QUESTION, k=50, mode="tool", threshold=0.0)
    assert len(answer.hits) > READ == len(read_again(answer))
    assert set(read_again(answer)) == set(order(answer)[:READ])


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(marks=st.lists(st.integers(-9, 9), min_size=2, max_size=12))
def test_whatever_it_says_it_only_permutes_the_candidates(world: RecallWorld, marks: list[int]) -> None:
    class Saying(FixtureCrossEncoder):
        def scores(self, question: str, texts: Sequence[str], still_wanted: Callable[[], bool]) -> list[float]:
            return [float(marks[n % len(marks)]) for n, _ in enumerate(texts)]

    world.inner_cross_encoder = Saying()
    deep, linear = ask(world), ask(world, rerank="linear")
    assert sorted(order(deep)) == sorted(order(linear))
    assert [hit.score for hit in deep.hits] == [hit.score for hit in linear.hits]
