"""Rows that the search index does not have yet, or has in an older form."""

from __future__ import annotations

import pytest

from neve.domain.recall.fusion import Placed, keyword_ranking
from neve.domain.recall.query import TextQuery
from neve.domain.records.memories import Kind
from neve.ports.search import FoundByWords, Owner, SearchFilter
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from tests.unit.recall_world import RecallWorld


def edit(world: RecallWorld, memory_id: str, text: str) -> None:
    update_memory(world.user("ann"), memory_id, MemoryChange({"text": text}), None)


# --- one ranking --------------------------------------------------------------------------------


def test_a_new_row_stands_behind_the_hits_that_match_more() -> None:
    indexed = [Placed("a", 1.0), Placed("b", 0.5), Placed("c", 0.25)]
    assert keyword_ranking(indexed, [Placed("new", 0.75)]) == ["a", "new", "b", "c"]
    assert keyword_ranking(indexed, [Placed("new", 0.5)]) == ["a", "new", "b", "c"], "before those of an equal share"
    assert keyword_ranking(indexed, [Placed("new", 0.1)]) == ["a", "b", "c", "new"]


def test_indexed_hits_keep_their_order_whatever_their_shares() -> None:
    indexed = [Placed("a", 0.25), Placed("b", 1.0), Placed("c", 0.5)]
    assert keyword_ranking(indexed, [Placed("new", 0.5)]) == ["a", "new", "b", "c"]
    assert keyword_ranking(indexed, []) == ["a", "b", "c"]


def test_new_rows_among_themselves_go_by_share_then_age_then_id() -> None:
    new = [Placed("z", 0.5, "2026-01-01"), Placed("y", 0.5, "2026-01-02"), Placed("x", 0.5, "2026-01-01")]
    assert keyword_ranking([], [*new, Placed("w", 0.75, "2025-01-01")]) == ["w", "y", "x", "z"]


# --- memories -----------------------------------------------------------------------------------


@pytest.mark.parametrize("searched_first", [True, False])
def test_a_row_that_comes_into_the_index_under_a_recall_is_not_missed(world: RecallWorld, searched_first: bool) -> None:
    """With its words and its vector, just before or behind the keyword leg's search."""
    tea, search = world.remember("Mary drinks oolong tea"), world.index.search_text

    def while_it_comes(owner: Owner, query: TextQuery, where: SearchFilter, depth: int) -> FoundByWords:
        found = search(owner, query, where, depth)
        world.pump()
        return found if searched_first else search(owner, query, where, depth)

    world.index.search_text = while_it_comes  # type: ignore[method-assign]
    assert world.found("oolong", legs=("lexical",)) == [tea]
    world.index.search_text = search  # type: ignore[method-assign]
    hits = world.ask("oolong", legs=("lexical",)).hits
    assert [hit.id for hit in hits] == [tea] and "bm25" in hits[0].components, "the index has it by now"


@pytest.mark.parametrize("searched_first", [True, False])
def test_nor_is_an_utterance(world: RecallWorld, searched_first: bool) -> None:
    world.open()
    world.say("I adopted a capybara")
    search = world.index.search_text

    def while_it_comes(owner: Owner, query: TextQuery, where: SearchFilter, depth: int) -> FoundByWords:
        found = search(owner, query, where, depth)
        world.pump()
        return found if searched_first else search(owner, query, where, depth)

    world.index.search_text = while_it_comes  # type: ignore[method-assign]
    assert world.found("capybara", legs=("lexical",), session_id="s1") == ["evt:s1:1"]


def test_a_new_row_and_an_indexed_one_are_in_one_ranking(world: RecallWorld) -> None:
    both = world.remember("Mary drinks oolong tea")
    one = world.remember("oolong is a plant")
    world.pump()
    new = world.remember("some oolong with Mary")
    answer = world.ask("oolong with Mary", legs=("lexical",))
    assert [hit.id for hit in answer.hits] == [new, both, one]
    assert [hit.components["rank_lex"] for hit in answer.hits] == [1, 2, 3]


def test_a_required_phrase_and_an_excluded_word_hold_for_new_rows(world: RecallWorld) -> None:
    wanted = world.remember("Mary drinks oolong tea")
    world.remember("oolong and then Mary drinks")
    world.remember("Mary drinks oolong coffee")
    assert world.found('"drinks oolong" -coffee', mode="tool") == [wanted]


def test_an_edited_row_is_found_by_its_new_words_only(world: RecallWorld) -> None:
    tea = world.remember("Mary drinks oolong")
    world.pump()
    world.clock.move(minutes=10)
    edit(world, tea, "Mary drinks espresso")
    assert world.found("espresso") == [tea]
    answer = world.ask("oolong", debug=True)
    assert answer.hits == [] and answer.debug is not None
    assert answer.debug["dropped"] == [{"id": tea, "reason": "changed_since_indexed"}]
    world.pump()
    assert world.found("espresso") == [tea] and world.found("oolong") == []


def test_an_edited_row_competes_by_what_it_says_now(world: RecallWorld) -> None:
    """The index still holds the long text; its second passage no longer exists."""
    tea = world.remember("Mary drinks oolong.\n\nShe grows roses.")
    world.pump()
    edit(world, tea, "Mary grows roses and drinks oolong")
    world.clock.move(minutes=10)
    hits = world.ask("roses").hits
    assert [(hit.id, hit.n, hit.text) for hit in hits] == [(tea, 0, "Mary grows roses and drinks oolong")]


def test_the_best_passage_of_a_new_row_is_shown(world: RecallWorld) -> None:
    world.remember("Mary drinks oolong.\n\nShe grows roses.", kind=Kind.NOTE)
    hit = world.ask("roses").hits[0]
    assert (hit.n, hit.text) == (1, "She grows roses.\n(from: Mary drinks oolong.)")


# --- events -------------------------------------------------------------------------------------


def test_what_was_just_said_in_the_session_is_found(world: RecallWorld) -> None:
    world.open()
    world.say("I adopted a capybara", "A capybara!")
    world.clock.move(hours=1)
    hits = world.ask("capybara", session_id="s1").hits
    assert [(hit.id, hit.seq, hit.speaker) for hit in hits] == [("evt:s1:1", 1, "user"), ("evt:s1:2", 2, "assistant")]
    assert world.found("capybara") == [], "without its session nobody looks at the tail of its log"


def test_the_tail_is_the_last_fifty_events(world: RecallWorld) -> None:
    world.open()
    world.say("I adopted a capybara", *(f"line {n}" for n in range(40)))
    world.say(*(f"more {n}" for n in range(9)))
    assert world.found("capybara", session_id="s1") == ["evt:s1:1"]
    world.say("one too many")
    assert world.found("capybara", session_id="s1") == []


def test_an_indexed_event_competes_in_the_index_only(world: RecallWorld) -> None:
    world.open()
    world.say("I adopted a capybara")
    world.pump()
    components = world.ask("capybara", session_id="s1").hits[0].components
    assert "bm25" in components


def test_what_neve_rendered_is_never_searched(world: RecallWorld) -> None:
    world.open()
    world.say("<neve-memory>capybara</neve-memory> what do you know?", "<neve-retrieved>capybara</neve-retrieved>")
    for _ in ("new", "indexed"):
        assert world.found("capybara", session_id="s1") == []
        world.pump()


def test_new_rows_contribute_nothing_to_a_keyword_leg_that_failed(world: RecallWorld) -> None:
    world.remember("Mary drinks oolong tea")
    world.broken("lexical=error")
    assert world.found("oolong") == []
