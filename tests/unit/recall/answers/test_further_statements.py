"""A row is one hit: what else it says about the query stands beside the statement that was found."""

from __future__ import annotations

from typing import Any

import pytest

from neve.domain.indexing.memory_passages import memory_passages
from neve.domain.indexing.passage import Source
from neve.domain.recall.query import query_terms, shape
from neve.domain.records.memories import Memory, MemoryPassage
from neve.domain.tokens import estimate
from neve.usecases.ask.recall.answer import Hit
from neve.usecases.ask.recall.further_statements import (
    FURTHER_TOKENS,
    MOST_FURTHER,
    _Shown,
    with_further_statements,
)
from neve.usecases.ask.recall.recall_rows import RecallRow
from tests.unit.domain_rows import AT, memory
from tests.unit.recall_world import RecallWorld

PETS = ("User has a cat called Milo.", "User paints boats.", "User has a dog called Rex.", "User's cat likes the dog.")
QUESTION = "the cat and the dog"
PLENTY = 10_000


@pytest.fixture
def world(recall_world: RecallWorld) -> RecallWorld:
    return recall_world


def row(*texts: str, id: str = "mem_A", **given: Any) -> Memory:
    """A pass's row, each statement of an event of its own."""
    lines = tuple(
        MemoryPassage(text, n, n, "tool" if "tool" in text else None) for n, text in enumerate(texts, start=1)
    )
    return memory("\n".join(texts), **{"id": id, "passages": lines, "session_id": "s1"} | given)


def hit(of: Memory | None, n: int = 0, **given: Any) -> Hit:
    shown = {"id": of.id, "source": "memory", "text": of.passages[n].text} if of else {"source": "event"}
    base: dict[str, Any] = {
        "kind": "observation",
        "tier": "episodic",
        "n": n,
        "rank": 1,
        "score": 1.0,
        "components": {},
    }
    row = of or memory("")
    dates = {"provenance": row.provenance, "created_at": AT, "observed_at": AT, "status": "active", "session_id": "s1"}
    return Hit(**base | dates | shown | given)


def found(of: Memory) -> RecallRow:
    return RecallRow(memory_passages(of), memory=of)


def further(hits: list[Hit], *memories: Memory, query: str = QUESTION, tokens: int = PLENTY) -> list[list[str]]:
    asked = query_terms(shape(query).text_query)
    extended = with_further_statements(hits, {one.id: found(one) for one in memories}, asked, tokens)
    assert [(one.id, one.text) for one in extended] == [(one.id, one.text) for one in hits]
    return [[one.text for one in hit.also] for hit in extended]


def test_those_that_hold_most_of_the_query_stand_first() -> None:
    pets = row(*PETS)
    assert further([hit(pets)], pets) == [[PETS[3], PETS[2]]]
    assert further([hit(pets, 2)], pets) == [[PETS[3], PETS[0]]]
    assert further([hit(pets)], pets, query="violin") == [[]]


def test_what_another_hit_shows_is_not_repeated() -> None:
    pets = row(*PETS)
    fact = row("User has a dog called Rex", id="mem_B")
    said = hit(None, id="evt:s1:4", text="My cat likes the dog", seq=4)
    elsewhere = hit(None, id="evt:s2:4", text="A cat, a dog", seq=4, session_id="s2")
    assert further([hit(pets), hit(fact)], pets, fact) == [[PETS[3]], []]
    assert further([hit(pets), said], pets) == [[PETS[2]], []]
    assert further([hit(pets), elsewhere], pets) == [[PETS[3], PETS[2]], []]
    same = row("User paints.", "User has a dog called Rex.", id="mem_D", session_id="s4")
    assert further([hit(pets), hit(same)], pets, same) == [[PETS[3], PETS[2]], []]
    three = row("A cat.", "A cat here.", "A cat there.", "A dog.")
    repeats = row("User paints.", "A dog.", id="mem_E", session_id="s5")
    assert further([hit(three), hit(repeats)], three, repeats) == [["A cat here.", "A cat there.", "A dog."], []]
    again = row("User has a cat.", "User's cat likes the dog", id="mem_C", session_id="s3")
    assert further([hit(pets), hit(again)], pets, again) == [[PETS[3], PETS[2]], []]


class Asked(frozenset[tuple[str, int]]):
    """Of which nobody asks for each message of a long range whether it is in it."""

    def __contains__(self, place: object) -> bool:
        raise AssertionError(f"{place} was looked for")


def test_it_is_not_the_length_of_a_range_that_it_takes() -> None:
    """An import may name a thousand million messages, and a recall that found the row did not end."""
    [first, *_] = memory_passages(memory("x", passages=(MemoryPassage("x", 1, 10**9),), session_id="s1"))
    assert not _Shown(Asked(), set())._said(first)
    assert not _Shown(Asked({("s2", 7), ("s1", 10**9 + 1)}), set())._said(first)
    assert _Shown(Asked({("s2", 7), ("s1", 10**9)}), set())._said(first)


def test_three_of_a_hit_and_no_more_than_there_is_room_for() -> None:
    cats = row(*(f"User has cat {n}." for n in range(9)))
    assert [len(one) for one in further([hit(cats)], cats)] == [MOST_FURTHER]
    size = estimate("User has cat 1.")
    assert [len(one) for one in further([hit(cats)], cats, tokens=2 * size)] == [2]
    other = row("A cat.", "Another cat.", id="mem_B", session_id="s2")
    assert further([hit(cats), hit(other)], cats, other, tokens=3 * size)[1] == []
    long = row("A cat.", "The cat " + "purrs " * FURTHER_TOKENS)
    assert further([hit(long)], long) == [[]]


def test_phrases_and_exclusions_hold_for_them() -> None:
    pets = row(*PETS)
    assert further([hit(pets)], pets, query='"a dog" cat') == [[PETS[2]]]
    assert further([hit(pets)], pets, query="cat dog -Rex") == [[PETS[3]]]


def test_a_tool_is_shown_them_and_a_prompt_is_not(world: RecallWorld) -> None:
    world.store(row("User has a cat called Milo.", "The tool says that the cat is a dog.", "User paints."))
    world.pump()
    asked: dict[str, Any] = {"sources": (Source.MEMORY,), "threshold": 0.0}
    [shown] = (answer := world.ask("cat Milo", mode="tool", **asked)).hits
    [also] = shown.also
    assert (also.n, also.seq_from, also.seq_to, also.trust) == (1, 2, 2, "tool")
    assert "Milo.\n  also: [said by a tool or a page, not by the user] The tool says" in answer.injection_text
    [bare] = (answer := world.ask("cat Milo", **asked)).hits
    assert bare.also == () and "also:" not in answer.injection_text
