"""Memories lend what they are worth to what they were made from.

A memory and its utterances say the same. Side by side they take places from other answers, so a memory stands among the
hits only where nothing of its range of the log does; otherwise each utterance of the range gets a part of its score."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SHARE = 0.25
"""Of a memory's score, to each utterance of its range. Of several memories the best counts (docs/retrieval.md)."""

Place = tuple[str, int]
"""Session and seq."""


@dataclass(frozen=True, slots=True)
class Range:
    """The events of one session that a memory's passage was made from, both ends included."""

    session_id: str
    first: int
    last: int

    def __contains__(self, place: Place) -> bool:
        session_id, seq = place
        return session_id == self.session_id and self.first <= seq <= self.last


def lenders(memories: Mapping[str, Range | None], utterances: Mapping[str, Place]) -> dict[str, list[str]]:
    """The memories that lend, by id, each with the utterances that borrow. One of unknown range lends nothing."""
    by_session: dict[str, list[str]] = defaultdict(list)
    for identifier, (session_id, _) in utterances.items():
        by_session[session_id].append(identifier)
    found: dict[str, list[str]] = {}
    for memory, covered in memories.items():
        if covered is not None:
            borrowers = [i for i in by_session[covered.session_id] if utterances[i] in covered]
            if borrowers:
                found[memory] = borrowers
    return found


def best_lent(lending: Mapping[str, Iterable[str]], scores: Mapping[str, float]) -> dict[str, float]:
    """What each utterance borrows: ``SHARE`` of the best score of a memory that lends to it."""
    best: dict[str, float] = {}
    for memory, borrowers in lending.items():
        for borrower in borrowers:
            best[borrower] = max(SHARE * scores[memory], best.get(borrower, float("-inf")))
    return best
