"""A message that has nothing to do with what is remembered finds nothing (docs/rules/recall.md#off-topic)."""

from __future__ import annotations

from typing import Any

import pytest

from local.controls.fixture_embedder import similar_pair
from neve.domain.indexing.passage import Source
from neve.domain.tenants.policy import Policy
from neve.ports.models import ANY_LANGUAGE
from neve.scope import Tenant
from neve.usecases.ask.recall.command import MIN_DEPTH, RecallCommand, resolve
from neve.usecases.ask.recall.recall import recall
from tests.unit.recall_world import RecallWorld

OFF_TOPIC = "explain how kayak races changed through medieval history"
"""One word of it is in the memory, and nothing else of it."""


@pytest.fixture
def world(new_recall_world: RecallWorld) -> RecallWorld:
    new_recall_world.remember("Ann paddles a kayak on the river")
    new_recall_world.pump()
    return new_recall_world


def test_a_shared_word_alone_is_no_reason_to_answer_a_prompt(world: RecallWorld) -> None:
    answer = world.ask(OFF_TOPIC, debug=True)
    assert (answer.hits, answer.result_state, answer.degraded) == ([], "none", [])
    assert answer.debug is not None
    assert [one["reason"] for one in answer.debug["dropped"]].count("off_topic") == 1


def test_a_tool_gets_what_it_asks_for(world: RecallWorld) -> None:
    assert len(world.found(OFF_TOPIC, mode="tool")) == 1


@pytest.mark.parametrize(("query", "found"), [("kayak tours", 0), ("kayak river", 1), ("kayak", 1)])
def test_half_of_two_words_are_no_reason(world: RecallWorld, query: str, found: int) -> None:
    """What is found is similar enough."""
    assert len(world.found(query)) == found


def test_similarity_is_reason_enough(world: RecallWorld) -> None:
    passage, query = similar_pair(0.75)
    near = world.remember(passage)
    world.pump()
    assert near in world.found(query)


@pytest.mark.parametrize(
    ("message", "understood"),
    [
        ("今日の天気は", False),
        ("und wie wird das Wetter", False),
        ("what about the Wetterhorn?", True),
        ("kayaks", True),
    ],
)
def test_languages_that_the_model_knows(message: str, understood: bool) -> None:
    request = resolve(Policy(), RecallCommand(message))
    assert request.for_a_model_of(("en",)).understood == understood
    assert request.for_a_model_of(("en", ANY_LANGUAGE)).understood
    assert request.for_a_model_of(()).understood, "there is no model"


def test_similarity_is_no_reason_where_the_model_does_not_know_the_language(world: RecallWorld) -> None:
    """It finds messages of one language near to each other, whatever they say."""
    passage, query = similar_pair(0.75)
    near = world.remember(passage)
    world.pump()
    foreign = "und wie wird das Wetter"
    asked = RecallCommand(foreign, question=f"{foreign} {query}"), RecallCommand(foreign, question=query)
    unknown, known = (recall(world.user("ann"), command) for command in asked)
    assert (unknown.hits, unknown.degraded) == ([], ["vector:language"])
    assert ([hit.id for hit in known.hits], known.degraded) == ([near], [])


def test_words_are_reason_enough_in_any_language(world: RecallWorld) -> None:
    told = world.remember("Ich habe eine Katze und sie ist schwarz")
    world.pump()
    answer = world.ask("wie ist meine Katze und habe ich eine")
    assert [hit.id for hit in answer.hits] == [told]
    assert answer.degraded == ["vector:language"]


def test_nobody_can_say_so_of_what_has_no_vector_yet(world: RecallWorld) -> None:
    new = world.remember("Ann sold her kayak")
    assert new in world.found(OFF_TOPIC)


@pytest.mark.parametrize("fault", ["vector=error", "embed=error"])
def test_nobody_can_say_so_without_the_vector_leg(world: RecallWorld, fault: str) -> None:
    world.broken(fault)
    assert len(world.found(OFF_TOPIC)) == 1


def test_the_policy_switches_it_off(world: RecallWorld) -> None:
    world.tenant = Tenant(world.tenant.id, Policy(prompt_share=0.0))
    assert len(world.found(OFF_TOPIC)) == 1


def test_nor_is_who_has_more_than_a_leg_goes_on_with_answered_because_of_one_word(world: RecallWorld) -> None:
    """Everything has its vector, and more of it is nearer than the one that has the word."""
    far = world.remember("Ann goes kayaking at dawn")
    for number in range(2 * MIN_DEPTH - 10):
        world.remember(f"A dusty page of some old history, {chr(97 + number % 26) * (2 + number // 26)}")
    world.pump()
    answer = world.ask(OFF_TOPIC, sources=(Source.MEMORY, Source.EVENT), rerank="off", debug=True)
    assert (answer.hits, answer.result_state) == ([], "none")
    assert answer.debug is not None
    assert {"id": far, "reason": "off_topic"} in answer.debug["dropped"]


@pytest.mark.parametrize(("similarity", "few", "many"), [(0.75, 15, 110), (0.85, 110, 400), (0.95, 400, 1_100)])
def test_among_many_what_is_a_little_alike_is_no_reason(
    world: RecallWorld, similarity: float, few: int, many: int
) -> None:
    passage, query = similar_pair(similarity)
    near = world.remember(passage)
    for first, others in ((0, few), (few, many)):
        dusty_pages(world, others, first=first)
        assert (near in world.found(query)) == (others == few)
        assert near in world.found(query, mode="tool")


def test_among_many_half_of_four_words_make_up_for_some_similarity(world: RecallWorld) -> None:
    world.remember("kayak sauna river ferry alder")
    dusty_pages(world, 900)
    assert world.found("kayak river tours lakes") != [], "two of four, calibrated 0.75"
    assert world.found("kayak tours lakes maps") == [], "one of four"
    assert world.found("kayak river tours") == [], "two of three, and nearer"


def test_words_of_something_far_are_no_reason(world: RecallWorld) -> None:
    own = "The kayak stands in the sauna, beside the river and the ferry"
    world.remember(f"{own}, between ladders, paint, cellar windows, garden chairs, roof tiles and firewood")
    dusty_pages(world, 300)
    assert world.found("kayak sauna tours lakes") == []


@pytest.mark.parametrize(
    ("given", "found"), [({}, False), ({"scope": "session", "session_id": "s1"}, True), ({"rerank": "off"}, False)]
)
def test_many_are_those_that_may_be_found(world: RecallWorld, given: dict[str, Any], found: bool) -> None:
    """What a filter keeps out cannot be alike by chance. How many a leg was asked for is no matter."""
    passage, query = similar_pair(0.75)
    world.open()
    near = world.remember(passage, session_id="s1")
    dusty_pages(world, 110)
    assert (near in world.found(query, **given)) == found


@pytest.mark.parametrize(("others", "found"), [(15, True), (110, False)])
def test_where_nobody_counted_as_many_as_were_found_are_many(world: RecallWorld, others: int, found: bool) -> None:
    passage, query = similar_pair(0.75)
    near = world.remember(passage)
    dusty_pages(world, others)
    world.broken("lexical=error")
    answer = world.ask(query)
    assert answer.degraded == ["lexical:error"]
    assert (near in [hit.id for hit in answer.hits]) == found


def dusty_pages(world: RecallWorld, count: int, *, first: int = 0) -> None:
    for number in range(first, count):
        world.remember(f"A dusty page of some old history, {chr(97 + number % 26) * (2 + number // 26)}")
    world.pump()
