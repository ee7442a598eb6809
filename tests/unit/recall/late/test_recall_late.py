"""Late interaction in a recall: what it adds to the order, and what happens while some or all of it is missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from local.controls.fixture_token_encoder import FixtureTokenEncoder
from neve.ports.table import Delete, Put
from neve.store.keys import UserKeys
from neve.usecases.memories.update_memory import MemoryChange, update_memory
from neve.usecases.recall.answer import RecallAnswer
from tests.unit.recall_world import RecallWorld

ANN = UserKeys("acme", "ann")
QUESTION = "Which harbour crane did we paint?"
LINES = (
    "The crane in the harbour is what we paint next week",
    "Paint dries fast in the sun",
    "A crane is a bird as well",
    "We went to the harbour and then we had soup",
)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RecallWorld]:
    made = RecallWorld.make(tmp_path)
    made.inner_tokens = FixtureTokenEncoder()
    made.with_policy(rerank="late", recall_threshold=0.0)
    made.open()
    made.say(*LINES)
    made.pump()
    yield made
    made.close()


def ask(world: RecallWorld, rerank: str | None = None) -> RecallAnswer:
    return world.ask(QUESTION, k=10, mode="tool", rerank=rerank)


def order(answer: RecallAnswer) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in answer.hits]


def late(answer: RecallAnswer) -> dict[str, float]:
    return {hit.id: hit.components["late"] for hit in answer.hits if "late" in hit.components}


def test_every_candidate_shows_its_max_sim_and_the_best_is_of_the_line_with_most_words(world: RecallWorld) -> None:
    answer = ask(world)
    scores = late(answer)
    assert scores.keys() == {hit.id for hit in answer.hits} and len(scores) >= 3
    assert max(scores, key=lambda i: scores[i]) == "evt:s1:1" == answer.hits[0].id
    assert answer.degraded == []


@pytest.mark.parametrize("rerank", ["linear", "off"])
def test_a_recall_that_asks_for_less_has_none(world: RecallWorld, rerank: str) -> None:
    answer = ask(world, rerank)
    assert answer.hits and late(answer) == {}
    assert order(answer) != order(ask(world))


def test_without_any_token_vectors_it_is_the_linear_order(world: RecallWorld) -> None:
    for item in world.rows.query(ANN.token_vectors, limit=100).items:
        world.rows.write([Delete(ANN.tokens_of(item["sk"]))])
    assert order(ask(world)) == order(ask(world, "linear"))


def test_while_some_are_missing_the_others_are_weighed(world: RecallWorld) -> None:
    world.rows.write([Delete(ANN.tokens_of("evt:s1:2"))])
    answer = ask(world)
    assert "evt:s1:2" in {hit.id for hit in answer.hits}
    assert late(answer).keys() == {hit.id for hit in answer.hits} - {"evt:s1:2"}
    assert answer.degraded == []


def test_those_of_a_former_text_do_not_count(world: RecallWorld) -> None:
    memory = world.remember("We paint the crane of the harbour")
    world.pump()
    stored = world.rows.get(ANN.tokens_of(memory))
    assert stored is not None
    update_memory(world.user(), memory, MemoryChange({"text": "We never paint the crane of any harbour"}), None)
    world.pump()
    world.rows.write([Put(stored)])
    answer = ask(world)
    assert memory in {hit.id for hit in answer.hits}
    assert memory not in late(answer)


@pytest.mark.parametrize(
    ("fault", "flag"),
    [("late=error", "late:error"), ("late=status:403", "late:error"), ("late=slow:20000", "late:timeout")],
)
def test_an_encoder_that_fails_leaves_the_linear_order_and_is_said(world: RecallWorld, fault: str, flag: str) -> None:
    world.broken(fault)
    answer = ask(world)
    assert answer.degraded == [flag]
    assert late(answer) == {}
    world.broken()
    assert order(answer) == order(ask(world, "linear"))


def test_without_an_encoder_it_is_the_linear_order_and_is_said(world: RecallWorld) -> None:
    world.inner_tokens = None
    assert order(ask(world)) == order(ask(world, "linear"))
    assert ask(world).degraded == ["late:no_encoder"]
    assert ask(world, "linear").degraded == []


def test_the_same_question_is_encoded_once_for_a_tenant(world: RecallWorld) -> None:
    first = ask(world)
    world.broken("late=error")
    assert order(ask(world)) == order(first)
