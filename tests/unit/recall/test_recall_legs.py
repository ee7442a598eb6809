"""The legs of a recall: what each contributes, what its failure is called, and time that runs out."""

from __future__ import annotations

from typing import Any

import pytest

from local.controls.fixture_embedder import FixtureEmbedder
from neve.domain.indexing.passage import Source
from neve.ports.search import IndexModel
from tests.unit.recall_world import RecallWorld


def test_an_empty_query_searches_nothing_and_finds_nothing(world: RecallWorld) -> None:
    world.remember("User's sister is named Mary")
    world.pump()
    answer = world.ask("  ", question="who is Mary?")
    assert (answer.hits, answer.result_state, answer.degraded) == ([], "none", [])
    assert {report.status for report in answer.legs.values()} == {"skipped"}


def test_the_question_is_for_the_vector_leg_only(world: RecallWorld) -> None:
    mary = world.remember("User's sister is named Mary")
    world.pump()
    answer = world.ask("dinner plans", question="what is my sibling called?", debug=True)
    assert [hit.id for hit in answer.hits] == [mary]
    assert answer.debug is not None
    assert answer.debug["lexical_terms"] == ["dinner", "plans"]
    assert answer.debug["vector_text"] == "what is my sibling called?"


def test_only_the_legs_that_were_asked_for_run(world: RecallWorld) -> None:
    world.remember("User's sister is named Mary")
    world.pump()
    by_words = world.ask("Mary", legs=("lexical",))
    assert by_words.legs["vector"].status == "skipped" and by_words.degraded == []
    assert set(by_words.hits[0].components) >= {"bm25", "rank_lex"}
    by_sense = world.ask("Mary", legs=("vector",), threshold=0.0)
    assert by_sense.legs["lexical"].status == "skipped"
    assert "bm25" not in by_sense.hits[0].components


class OtherModel(FixtureEmbedder):
    @property
    def model(self) -> IndexModel:
        return IndexModel("another-384", 384)


# --- time ---------------------------------------------------------------------------------------


def test_a_manual_search_has_the_time_for_it(world: RecallWorld) -> None:
    world.remember("User's sister is named Mary")
    world.pump()
    world.broken("embed=slow:400")
    answer = world.ask("what is my sibling called?", mode="tool")
    assert answer.degraded == [] and answer.hits
    assert (answer.budget_ms, answer.elapsed_ms, answer.legs["vector"].embed_ms) == (10_000, 400, 400)


@pytest.mark.parametrize("budget_ms", [0, -5])
def test_no_time_at_all_is_an_overrun_from_the_start(world: RecallWorld, budget_ms: int) -> None:
    world.remember("User's sister is named Mary")
    world.pump()
    answer = world.ask("Mary", budget_ms=budget_ms)
    assert (answer.hits, answer.degraded, answer.result_state) == ([], ["deadline"], "not_searched")
    assert answer.elapsed_ms == 0 and answer.recall_id is not None


def test_a_row_store_that_is_down_degrades(world: RecallWorld) -> None:
    world.remember("User's sister is named Mary")
    world.pump()
    world.broken("table=error")
    answer = world.ask("Mary sister")
    assert (answer.hits, answer.result_state) == ([], "not_searched")
    assert answer.degraded == ["hydrate:error", "ledger:error"] and answer.recall_id is None


def test_a_row_store_that_goes_down_before_the_rows_are_read_gives_no_hit(world: RecallWorld) -> None:
    world.remember("User's sister is named Mary")
    world.pump()
    reads = world.rows.get_many
    made: list[object] = []

    def fail_from_the_second_on(keys: object, **how: Any) -> object:
        made.append(keys)
        if len(made) == 2:
            world.broken("table=error")
            return world.table.get_many([world.tenant.keys.of_user("ann").head])
        return reads(keys, **how)

    world.rows.get_many = fail_from_the_second_on  # type: ignore[method-assign]
    answer = world.ask("Mary sister")
    assert (answer.hits, answer.result_state) == ([], "not_searched")
    assert "hydrate:error" in answer.degraded


# --- remembered questions -----------------------------------------------------------------------


@pytest.mark.parametrize(("fault", "then"), [("embed=error", "miss"), ("embed=slow:400", "hit")])
def test_a_question_that_failed_is_embedded_again_and_one_that_came_too_late_is_known(
    world: RecallWorld, fault: str, then: str
) -> None:
    world.broken(fault)
    assert world.ask("where do I live?").degraded != []
    world.broken()
    answer = world.ask("where do I live?")
    assert (answer.degraded, answer.legs["vector"].embed_cache) == ([], then)


# --- refusals -----------------------------------------------------------------------------------


def test_memories_among_which_no_utterance_is_are_ranked_as_by_themselves(world: RecallWorld) -> None:
    """There is nothing to re-order, so that each leg goes as deep as it does for memories."""
    for number in range(45):
        world.remember(f"Mary drinks tea number {number} of {'many ' * (number % 7)}")
    world.pump()
    asked, alone = world.ask("Mary tea", k=10), world.ask("Mary tea", k=10, sources=(Source.MEMORY,))
    assert [(hit.id, hit.score) for hit in asked.hits] == [(hit.id, hit.score) for hit in alone.hits]
    assert {name: leg.depth for name, leg in asked.legs.items()} == {"lexical": 30, "vector": 30}


@pytest.mark.parametrize("indexed", [False, True])
def test_one_utterance_among_what_was_found_makes_both_legs_deeper(world: RecallWorld, *, indexed: bool) -> None:
    world.open()
    world.remember("Mary drinks tea")
    world.pump()
    world.say("Mary has some tea")
    if indexed:
        world.pump()
    legs = world.ask("Mary tea", session_id="s1", k=10).legs
    assert {name: leg.depth for name, leg in legs.items()} == {"lexical": 60, "vector": 60}
