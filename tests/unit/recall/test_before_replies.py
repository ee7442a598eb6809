"""Which messages are read because a short candidate may reply to them (docs/rules/compile.md#retrieved)."""

from __future__ import annotations

from neve.domain.indexing.passage import Source
from neve.ports.search import Candidate
from neve.usecases.ask.recall.stages.gate import Gated
from neve.usecases.ask.recall.stages.hydrate import MOST, SHORT_TERMS, before_replies, message_before


def candidate(identifier: str, length: int = 3) -> Candidate:
    return Candidate(identifier, 0, 1.0, 1, identifier, Source.EVENT, length)


def gated(lexical: list[Candidate] | None, vector: list[Candidate] | None) -> Gated:
    return Gated(lexical, vector, vector, (), {})


def test_the_best_placed_of_both_legs_come_first() -> None:
    legs = gated([candidate("evt:a:4"), candidate("evt:a:9")], [candidate("evt:b:7"), candidate("evt:a:4")])
    assert before_replies(legs, ()) == ["evt:a:3", "evt:b:6", "evt:a:8"]
    assert before_replies(legs, {"evt:b:6"}) == ["evt:a:3", "evt:a:8"]
    assert before_replies(gated(None, None), ()) == []
    many = gated([candidate(f"evt:a:{2 * n}") for n in range(1, 40)], None)
    assert len(before_replies(many, ())) == MOST


def test_only_of_short_messages_that_have_one_before() -> None:
    long, first = candidate("evt:a:4", SHORT_TERMS + 1), candidate("evt:a:1")
    assert before_replies(gated([long, first, candidate("mem_a")], []), ()) == []
    assert message_before("evt:a:b:2") == "evt:a:b:1" and message_before("doc_a") is None
