"""The legs of a recall: what each contributes, what its failure is called, and time that runs out."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.controls.fixture_embedder import FixtureEmbedder, similar_pair
from neve.adapters.embedders.no_embedder import NoEmbedder
from neve.domain.errors import NeveError
from neve.domain.indexing.passage import Source
from neve.ports.search import IndexModel
from neve.usecases.ask.recall.stages.legs import QUERY_VECTORS
from tests.unit.recall_world import RecallWorld


def test_a_paraphrase_is_found_by_meaning_and_only_so(world: RecallWorld) -> None:
    mary = world.remember("User's sister is named Mary")
    world.pump()
    answer = world.ask("what is my sibling called?")
    assert [hit.id for hit in answer.hits] == [mary]
    assert answer.hits[0].components["rank_vec"] == 1
    assert "rank_lex" not in answer.hits[0].components
    world.broken("vector=error")
    assert world.found("what is my sibling called?") == []


@pytest.mark.parametrize(
    ("faults", "degraded", "vector", "lexical", "state"),
    [
        (["embed=error"], ["vector:embed_error"], "error", "complete", "found"),
        (["embed=status:403"], ["vector:embed_error"], "error", "complete", "found"),
        (["vector=error"], ["vector:error"], "error", "complete", "found"),
        (["lexical=error"], ["lexical:error"], "complete", "error", "found"),
        (["lexical=error", "vector=error"], ["lexical:error", "vector:error"], "error", "error", "not_searched"),
    ],
)
def test_a_leg_that_fails_leaves_the_other_one(
    world: RecallWorld, faults: list[str], degraded: list[str], vector: str, lexical: str, state: str
) -> None:
    mary = world.remember("User's sister is named Mary")
    world.pump()
    world.broken(*faults)
    answer = world.ask("Mary sister")
    assert [hit.id for hit in answer.hits] == ([mary] if state == "found" else [])
    assert answer.degraded == degraded
    assert (answer.legs["vector"].status, answer.legs["lexical"].status) == (vector, lexical)
    assert answer.result_state == state
    assert len(answer.transparency) == 1 + len(degraded)


def test_nothing_relevant_is_none_and_not_an_error(world: RecallWorld) -> None:
    world.remember("User's sister is named Mary")
    world.pump()
    answer = world.ask("quantum chromodynamics lattice")
    assert (answer.hits, answer.result_state, answer.degraded) == ([], "none", [])
    assert answer.transparency == ["Loaded 0 relevant entries: (none)"]
    assert answer.injection_text == ""


def test_an_unknown_user_has_nothing(world: RecallWorld) -> None:
    answer = world.ask("anything", user="nobody")
    assert (answer.hits, answer.result_state, answer.degraded) == ([], "none", [])


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


def test_the_threshold_gates_the_vector_leg(world: RecallWorld) -> None:
    low, query = similar_pair(0.69)
    high, _ = similar_pair(0.71)
    below, above = world.remember(low), world.remember(high)
    world.pump()
    assert world.found(query) == [above]
    assert set(world.found(query, threshold=0.0)) == {above, below}
    answer = world.ask(query, debug=True)
    assert answer.debug is not None
    assert {"id": below, "reason": "below_threshold"} in answer.debug["dropped"]


def test_without_an_embedder_keywords_are_all_there_is(tmp_path: Path) -> None:
    world = RecallWorld.make(tmp_path, NoEmbedder())
    mary = world.remember("User's sister is named Mary")
    world.pump()
    answer = world.ask("Mary")
    assert [hit.id for hit in answer.hits] == [mary]
    assert answer.degraded == [] and answer.legs["vector"].status == "skipped"
    world.close()


class OtherModel(FixtureEmbedder):
    @property
    def model(self) -> IndexModel:
        return IndexModel("another-384", 384)


def test_vectors_of_another_model_are_never_compared(world: RecallWorld) -> None:
    mary = world.remember("User's sister is named Mary")
    world.pump()
    world.inner_embedder = OtherModel()
    answer = world.ask("Mary")
    assert [hit.id for hit in answer.hits] == [mary]
    assert answer.degraded == ["vector:dimension_mismatch"] and answer.legs["vector"].status == "error"


# --- time ---------------------------------------------------------------------------------------


def test_a_slow_embedder_is_not_waited_for(world: RecallWorld) -> None:
    mary = world.remember("User's sister is named Mary")
    world.pump()
    world.broken("embed=slow:400")
    answer = world.ask("Mary sister")
    assert [hit.id for hit in answer.hits] == [mary]
    assert answer.degraded == ["vector:embed_timeout"]
    assert (answer.legs["vector"].status, answer.legs["vector"].late) == ("error", True)
    assert (answer.budget_ms, answer.elapsed_ms) == (300, 240)


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


@pytest.mark.parametrize(
    ("fault", "found", "statuses"),
    [
        ("vector=slow:900", True, ("complete", "error")),
        ("lexical=slow:900", True, ("error", "complete")),
        ("table=slow:900", False, ("skipped", "skipped")),
    ],
)
def test_what_is_slower_than_the_budget_is_left_out(
    world: RecallWorld, fault: str, found: bool, statuses: tuple[str, str]
) -> None:
    mary = world.remember("User's sister is named Mary")
    world.pump()
    world.broken(fault)
    answer = world.ask("Mary sister")
    assert [hit.id for hit in answer.hits] == ([mary] if found else [])
    assert "deadline" in answer.degraded
    assert (answer.legs["lexical"].status, answer.legs["vector"].status) == statuses
    assert answer.elapsed_ms <= answer.budget_ms
    assert answer.result_state == ("found" if found else "not_searched")


def test_a_slow_row_store_leaves_too_little_time_for_verifying(world: RecallWorld) -> None:
    world.remember("User's sister is named Mary")
    world.pump()
    world.broken("table=slow:200")
    answer = world.ask("Mary sister")
    assert (answer.hits, answer.result_state, answer.elapsed_ms) == ([], "not_searched", 300)
    assert "deadline" in answer.degraded


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

    def fail_from_the_second_on(keys: object) -> object:
        made.append(keys)
        if len(made) == 2:
            world.broken("table=error")
            return world.table.get_many([world.tenant.keys.of_user("ann").head])
        return reads(keys)

    world.rows.get_many = fail_from_the_second_on  # type: ignore[method-assign]
    answer = world.ask("Mary sister")
    assert (answer.hits, answer.result_state) == ([], "not_searched")
    assert "hydrate:error" in answer.degraded


# --- remembered questions -----------------------------------------------------------------------


def test_the_same_question_is_embedded_once(world: RecallWorld) -> None:
    first = world.ask("where do I live?")
    second = world.ask("where do I live?")
    assert (first.legs["vector"].embed_cache, second.legs["vector"].embed_cache) == ("miss", "hit")
    assert len([call for call in world.calls.entries("embed") if call["operation"] == "query"]) == 1


@pytest.mark.parametrize(("fault", "then"), [("embed=error", "miss"), ("embed=slow:400", "hit")])
def test_a_question_that_failed_is_embedded_again_and_one_that_came_too_late_is_known(
    world: RecallWorld, fault: str, then: str
) -> None:
    world.broken(fault)
    assert world.ask("where do I live?").degraded != []
    world.broken()
    answer = world.ask("where do I live?")
    assert (answer.degraded, answer.legs["vector"].embed_cache) == ([], then)


def test_the_vectors_of_the_last_500_questions_are_remembered(world: RecallWorld) -> None:
    known = world.caches.of(QUERY_VECTORS)
    for n in range(501):
        known.put(("model", "t", f"question {n}"), b"v")
    assert known.get(("model", "t", "question 0")) is None
    assert known.get(("model", "t", "question 1")) == b"v"
    known.put(("model", "t", "one more"), b"v")
    assert known.get(("model", "t", "question 1")) == b"v", "it was used last"
    assert known.get(("model", "t", "question 2")) is None


# --- refusals -----------------------------------------------------------------------------------


def test_an_unknown_session_is_refused(world: RecallWorld) -> None:
    world.open("s1")
    world.open("theirs", user="bob")
    for session in ("nowhere", "theirs"):
        with pytest.raises(NeveError) as refused:
            world.ask("anything", session_id=session)
        assert refused.value.code == "session_not_found"


def test_the_session_scope_needs_a_session(world: RecallWorld) -> None:
    with pytest.raises(NeveError) as refused:
        world.ask("anything", scope="session")
    assert (refused.value.code, refused.value.errors[0].field) == ("validation_failed", "session_id")


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
