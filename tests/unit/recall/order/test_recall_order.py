"""The order of hits, with the literal values of docs/rules/values.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from local.controls.fixture_embedder import MODEL
from neve.domain.indexing.passage import Passage, Source
from neve.domain.recall.query import TextQuery
from neve.domain.records.memories import Kind, Scope
from neve.ports.search import Candidate, FoundByWords, IndexModel, Owner, SearchFilter
from neve.usecases.ask.recall.answer import RecallAnswer
from neve.usecases.ask.recall.command import RecallFilters
from tests.unit.domain_rows import memory
from tests.unit.recall_world import RecallWorld


@dataclass
class ScriptedIndex:
    """Answers each leg with items in a given order, all at one cosine unless a test says otherwise."""

    vector: Sequence[str] = ()
    lexical: Sequence[str] = ()
    cosines: dict[str, float] = field(default_factory=dict)
    lexical_n: dict[str, int] = field(default_factory=dict)

    def model(self) -> IndexModel:
        return MODEL

    def search_text(self, owner: Owner, query: TextQuery, where: SearchFilter, depth: int) -> FoundByWords:
        found = [self._candidate(name, 2.0 - place / 10) for place, name in enumerate(self.lexical)]
        placed = [one._replace(n=self.lexical_n.get(one.item_id[-1], 0)) for one in found]
        return FoundByWords(placed, len(placed))

    def search_vector(self, owner: Owner, vector: bytes, where: SearchFilter, depth: int) -> list[Candidate]:
        return [self._candidate(name, self.cosines.get(name, 0.5)) for name in self.vector]

    def _candidate(self, name: str, score: float) -> Candidate:
        return Candidate(f"mem_{name}", 0, score, 1, f"fp-{name}", Source.MEMORY, length=2)

    def upsert(self, owner: Owner, passages: Sequence[Passage]) -> None:
        raise AssertionError("recall does not write to the index")

    def trim(self, owner: Owner, item_id: str, *, keep: int, version: int) -> None:
        raise AssertionError("recall does not write to the index")

    def erase(self, owner: Owner, *, at_most: int | None = None) -> int:
        raise AssertionError("recall does not write to the index")

    def count(self, owner: Owner) -> int:
        raise AssertionError("recall does not count")


class Ranking:
    """Rows by name, 40 days old and of importance 3 unless a test says otherwise, and the legs that found them."""

    def __init__(self, world: RecallWorld) -> None:
        self.world, self.index = world, ScriptedIndex()
        world.search = self.index

    def row(self, name: str, **given: Any) -> None:
        neutral: dict[str, Any] = {
            "id": f"mem_{name}",
            "text": f"statement {name}",
            "kind": Kind.FACT,
            "scope": Scope.GLOBAL,
            "observed_at": self.world.ago(days=40),
            "created_at": self.world.ago(days=40),
            "last_used_at": self.world.ago(days=1),
            "fingerprint": f"fp-{name}",
        }
        self.world.store(memory(**neutral | given))

    def rows(self, names: str) -> None:
        for name in names:
            self.row(name)

    def ask(self, **given: Any) -> RecallAnswer:
        return self.world.ask("something else entirely", **{"threshold": 0.5} | given)

    def order(self, **given: Any) -> str:
        return "".join(hit.id.removeprefix("mem_") for hit in self.ask(**given).hits)


@pytest.fixture
def ranking(tmp_path: Path) -> Iterator[Ranking]:
    world = RecallWorld.make(tmp_path)
    yield Ranking(world)
    world.close()


def test_an_item_below_the_threshold_leaves_the_vector_leg_only(ranking: Ranking) -> None:
    ranking.rows("ABCDE")
    ranking.index.vector, ranking.index.lexical = "ABCD", "CEA"
    ranking.index.cosines = {"D": 0.1}
    assert ranking.order() == "ACBE"
    ranking.index.lexical = "CEAD"
    assert ranking.order() == "ACBED"
    hit = ranking.ask().hits[-1]
    assert "rank_vec" not in hit.components and "sim_raw" not in hit.components


def test_the_threshold_is_inclusive(ranking: Ranking) -> None:
    ranking.rows("A")
    ranking.index.vector = "A"
    ranking.index.cosines = {"A": 0.375}
    assert ranking.order(threshold=0.675) == "A"
    assert ranking.order(threshold=0.676) == ""


def test_a_time_bound_of_the_query_turns_the_recency_boost_off(ranking: Ranking) -> None:
    ranking.row("X")
    ranking.row("Y", observed_at=ranking.world.ago(days=2))
    ranking.index.vector = "XY"
    filters = RecallFilters(after=ranking.world.ago(days=100))
    assert ranking.order(legs=("vector",), filters=filters) == "XY"


def test_of_rows_with_the_same_text_the_better_one_is_answered(ranking: Ranking) -> None:
    ranking.rows("AB")
    for name in "AB":
        ranking.world.change(f"mem_{name}", fingerprint="same")
    ranking.index.vector = "BA"
    answer = ranking.ask(debug=True)
    assert [hit.id for hit in answer.hits] == ["mem_B"]
    assert answer.debug is not None
    assert {"id": "mem_A", "reason": "repeats_another"} in answer.debug["dropped"]


def test_what_is_shown_is_the_passage_of_the_leg_that_ranks_the_row_better(ranking: Ranking) -> None:
    ranking.row("A")
    ranking.row("L", text="one\n\ntwo")
    ranking.index.lexical_n = {"L": 1}
    ranking.index.vector, ranking.index.lexical = "LA", "AL"
    assert shown(ranking) == (0, "one")
    ranking.index.vector, ranking.index.lexical = "AL", "LA"
    assert shown(ranking) == (1, "two\n(from: one)")
    ranking.index.vector, ranking.index.lexical = "LA", "LA"
    assert shown(ranking) == (1, "two\n(from: one)")


def shown(ranking: Ranking) -> tuple[int, str]:
    [hit] = [hit for hit in ranking.ask().hits if hit.id == "mem_L"]
    return hit.n, hit.text
