"""Puts a correction before what it corrects, in a pack as among hits (docs/rules/pack.md#global)."""

from __future__ import annotations

from collections.abc import Sequence

from neve.domain.recall.corrections import Statement, corrections_first
from neve.domain.records.memories import Memory
from neve.domain.words import content_words, plain_words


def newer_first(best_first: Sequence[Memory]) -> list[Memory]:
    """Move each correction that stood behind directly before what it takes back; the rest keeps its order. Compared by
    plain words: where packs are built nothing stems."""
    order = list(best_first)
    for newer_id, older_id in corrections_first([_statement(memory) for memory in best_first], content_words):
        places = {memory.id: place for place, memory in enumerate(order)}
        here, there = places[newer_id], places[older_id]
        if here > there:
            order.insert(there, order.pop(here))
    return order


def _statement(memory: Memory) -> Statement:
    length = sum(1 for _ in plain_words(memory.text))
    return Statement(memory.id, memory.observed_at, None, memory.text, length, frozenset(memory.supersedes))
