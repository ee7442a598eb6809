"""Put a correction before the statement that it corrects (docs/rules/recall.md#corrections)."""

from __future__ import annotations

from collections.abc import Sequence

from neve.domain.recall.corrections import WITHIN, Statement, newer_first
from neve.domain.terms import terms
from neve.usecases.ask.recall.stages.rank_candidates import Ranked


def with_corrections_first(best_first: Sequence[Ranked]) -> list[Ranked]:
    """Put corrections before what they correct: one that stood behind gets the score of the row that it now stands
    before."""
    order = newer_first(best_first[:WITHIN], _statement, terms, lambda moved, other: moved.raised_to(other.final))
    return [*order, *best_first[WITHIN:]]


def _statement(one: Ranked) -> Statement:
    passage, utterance, memory = one.row.passages[one.n], one.row.utterance, one.row.memory
    return Statement(
        id=one.row.id,
        at=passage.observed_at,
        speaker=utterance.speaker if utterance else None,
        text=utterance.parts[one.n] if utterance else passage.text,
        length=one.length,
        replaces=frozenset(memory.supersedes) if memory else frozenset(),
    )
