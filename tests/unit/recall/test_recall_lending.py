"""Memories beside utterances: who stands, who lends, and what corrects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from neve.domain.records import Kind, Memory, Provenance, Scope
from neve.usecases.recall.answer import RecallAnswer
from tests.unit.domain_rows import memory
from tests.unit.recall_world import RecallWorld


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RecallWorld]:
    made = RecallWorld.make(tmp_path)
    made.open()
    yield made
    made.close()


def remember(world: RecallWorld, text: str, seqs: tuple[int, int], **given: Any) -> str:
    """An observation of the events ``seqs``, first to last."""
    row: Memory = memory(
        text, id="mem_A", **{"provenance": Provenance("user_stated", "s1", *seqs), "session_id": "s1"} | given
    )
    world.store(row)
    world.pump()
    return row.id


def order(answer: RecallAnswer) -> list[str]:
    return [hit.id for hit in answer.hits]


@pytest.mark.parametrize("rerank", [True, False])
def test_a_memory_takes_no_place_beside_what_it_was_made_from(world: RecallWorld, rerank: bool) -> None:
    world.say("I paddle a kayak", "Nice", "My kayak is red", "Red is nice")
    world.pump()
    alone = world.ask("kayak", rerank=rerank, threshold=0.0)
    remember(world, "User has a red kayak", (3, 3))
    answer = world.ask("kayak", rerank=rerank, threshold=0.0, debug=True)
    assert set(order(answer)) == set(order(alone))
    lifted, before = ({hit.id: hit.rank for hit in found.hits}["evt:s1:3"] for found in (answer, alone))
    assert lifted == 1 <= before
    assert answer.debug is not None
    assert {"id": "mem_A", "reason": "lent_to_its_utterances"} in answer.debug["dropped"]


@pytest.mark.parametrize("rerank", [True, False])
def test_a_memory_stands_where_nothing_of_its_range_is_found(world: RecallWorld, rerank: bool) -> None:
    world.say("I paddle a kayak", "Nice", "good morning", "hello", "good evening", "good night")
    world.pump()
    remember(world, "User has a red kayak", (5, 6))
    answer = world.ask("kayak", rerank=rerank, threshold=1.0)
    [hit] = [hit for hit in answer.hits if hit.id == "mem_A"]
    assert (hit.session_id, hit.seq_from, hit.seq_to) == ("s1", 5, 6)


def test_a_memory_of_no_range_stands_always(world: RecallWorld) -> None:
    world.say("I paddle a kayak")
    world.pump()
    manual = world.remember("User has a red kayak", kind=Kind.MANUAL, scope=Scope.GLOBAL)
    world.pump()
    assert set(order(world.ask("kayak", threshold=0.0))) == {"evt:s1:1", manual}


def test_what_a_memory_lends_is_said_in_the_components(world: RecallWorld) -> None:
    """A quarter of its RRF, before the priors."""
    world.say("I paddle a kayak")
    world.pump()
    remember(world, "User has a red kayak", (1, 1))
    [hit] = world.ask("kayak", rerank="off", threshold=0.0).hits
    found = hit.components
    assert found["lent"] == pytest.approx(0.25 * 2 / 62, rel=0.05)
    assert found["final"] == hit.score == pytest.approx((found["rrf"] + found["lent"]) * found["prior"], abs=1e-12)


# --- corrections ----------------------------------------------------------------------------------


def test_what_corrects_stands_before_what_it_corrects(world: RecallWorld) -> None:
    """The older one matches better: it holds the question's words, and more of them."""
    world.say("The glaze workshop starts at ten. When does the glaze workshop start? At ten.", "Noted")
    world.clock.move(days=3)
    world.open("s2")
    world.say("Correction: the glaze workshop begins at two, not at ten", session="s2")
    world.pump()
    answer = world.ask("When does the glaze workshop start?", threshold=0.0)
    assert order(answer)[:2] == ["evt:s2:1", "evt:s1:1"]
    newer, older = answer.hits[:2]
    assert newer.components["corrects"] > 0 and newer.score == older.score
    assert "corrects" not in older.components


def test_another_statement_about_the_same_stays_where_it_is(world: RecallWorld) -> None:
    world.say("The glaze workshop starts at ten. When does the glaze workshop start? At ten.", "Noted")
    world.clock.move(days=3)
    world.open("s2")
    world.say("I love the workshop", session="s2")
    world.pump()
    assert order(world.ask("When does the glaze workshop start?", threshold=0.0))[0] == "evt:s1:1"
