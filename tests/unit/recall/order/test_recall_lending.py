"""Memories beside utterances: who stands, who lends, and what corrects."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from neve.domain.indexing.memory_passages import memory_passages
from neve.domain.indexing.utterances import Utterance, utterance_passages
from neve.domain.recall.query import TextQuery, query_terms
from neve.domain.records.memories import Kind, Memory, MemoryPassage, Provenance, Scope
from neve.domain.times import parse
from neve.usecases.ask.recall.answer import RecallAnswer
from neve.usecases.ask.recall.recall_rows import RecallRow
from neve.usecases.ask.recall.stages.rank_candidates import CandidateScores, Match, rank_candidates
from neve.usecases.ask.recall.stages.rerank import with_what_memories_lend
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from tests.unit.domain_rows import memory
from tests.unit.recall_world import RecallWorld


@pytest.fixture
def world(recall_world: RecallWorld) -> RecallWorld:
    return recall_world


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


def test_memories_take_no_places_of_utterances_in_a_leg(world: RecallWorld) -> None:
    """More memories match better than a leg is deep."""
    world.say("I drink tea at home", "Nice", "We had tea in the garden", "Lovely")
    for n in range(40):
        world.remember(f"tea time {n}", kind=Kind.OBSERVATION)
    world.pump()
    answer = world.ask("tea time", k=10, threshold=0.0, rerank="off", legs=("lexical",))
    utterances = {hit.id: hit.components["rank_lex"] for hit in answer.hits if hit.id.startswith("evt:")}
    assert utterances == {"evt:s1:1": 1, "evt:s1:3": 2}


@pytest.mark.parametrize("rerank", [True, False])
def test_a_memory_stands_where_nothing_of_its_range_is_found(world: RecallWorld, rerank: bool) -> None:
    world.say("I paddle a kayak", "Nice", "good morning", "hello", "good evening", "good night")
    world.pump()
    remember(world, "User has a red kayak", (5, 6))
    answer = world.ask("kayak", rerank=rerank, threshold=1.0)
    [hit] = [hit for hit in answer.hits if hit.id == "mem_A"]
    assert (hit.session_id, hit.seq_from, hit.seq_to) == ("s1", 5, 6)


@pytest.mark.parametrize("rerank", [True, False])
def test_what_a_person_has_corrected_stands_beside_the_words_that_it_corrects(world: RecallWorld, rerank: bool) -> None:
    """It does not say what it was made from any more: it was dropped, and lifted the words that no longer hold."""
    world.say("I moved to Lisbon, where I live", "Nice")
    world.pump()
    moved = remember(world, "User lives in Lisbon", (1, 1))
    assert set(order(world.ask("lives Lisbon", rerank=rerank, threshold=0.0))) == {"evt:s1:1"}
    update_memory(world.user(), moved, MemoryChange({"text": "User lives in Porto"}), None)
    world.pump()
    answer = world.ask("lives Porto", rerank=rerank, threshold=0.0)
    assert order(answer)[0] == moved
    [said] = [hit for hit in answer.hits if hit.id == "evt:s1:1"]
    assert "lent" not in said.components


def test_a_memory_of_no_range_stands_always(world: RecallWorld) -> None:
    world.say("I paddle a kayak")
    world.pump()
    manual = world.remember("User has a red kayak", kind=Kind.MANUAL, scope=Scope.GLOBAL)
    world.pump()
    assert set(order(world.ask("kayak", threshold=0.0))) == {"evt:s1:1", manual}


def test_what_a_memory_lends_is_said_in_the_components(world: RecallWorld) -> None:
    """A hundredth of its RRF where it matches no better, before the priors."""
    world.say("I paddle a kayak")
    world.pump()
    remember(world, "User has a red kayak", (1, 1))
    [hit] = world.ask("kayak", rerank="off", threshold=0.0).hits
    found = hit.components
    assert found["lent"] == pytest.approx(0.01 * 2 / 62, rel=0.05)
    assert found["final"] == hit.score == pytest.approx((found["rrf"] + found["lent"]) * found["prior"], abs=1e-12)


def test_a_memory_stands_by_the_passage_that_it_is_shown_by() -> None:
    """Two legs that found two statements of a row agree on neither; what both found is above what each found."""
    at = "2026-01-05T10:00:00.000Z"
    lines = (MemoryPassage("User rows.", 5, 5), MemoryPassage("User paints.", 6, 6))
    ranges: dict[str, Any] = {"session_id": "s1", "passages": lines, "last_used_at": at, "observed_at": at}
    split, same = (memory("User rows.\nUser paints.", id=i, **ranges) for i in ("mem_split", "mem_same"))
    said = Utterance("s1", 1, "user", "user", ("I row",), at)
    rows = {one.id: RecallRow(memory_passages(one), memory=one) for one in (split, same)}
    rows[said.id] = RecallRow(utterance_passages([said]), utterance=said)

    def match(n: int) -> Match:
        return Match(n, share=1.0, length=2, score=1.0)

    words = {split.id: match(0), same.id: match(1), said.id: match(0)}
    near = {split.id: match(1), same.id: match(1), said.id: match(0)}
    query = TextQuery((("row",),), min_match=1)
    scores = CandidateScores(query_terms(query), parse(at) + timedelta(days=30), time_bound=False)
    ranked = rank_candidates(scores, rows, words, near)
    assert [one.row.id for one in ranked] == [said.id, split.id, same.id]
    standing = with_what_memories_lend(ranked)
    assert [one.row.id for one in standing] == [said.id, same.id, split.id]
    last = standing[-1]
    assert last.final == last.components["final"] == pytest.approx(last.components["shown_rrf"] * 1.0, abs=1e-12)
    assert last.components["shown_rrf"] == pytest.approx(1 / 61, abs=1e-12)
    assert [one.components.get("shown_rrf") for one in standing[:2]] == [None, None]
    alone = [one for one in ranked if one.row.memory]
    assert with_what_memories_lend(alone) == alone


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
