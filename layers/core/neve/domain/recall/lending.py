"""Memories lend what they are worth to what they were made from.

A memory and its utterances say the same. Side by side they take places from other answers, so a memory stands among the
hits only where nothing of its range of the log does; otherwise each utterance of the range borrows from its score."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Terms(NamedTuple):
    """The shares of a memory's score that each utterance of its range gets. ``of_lead``: of what the memory matches
    better than the utterance: both say the same, and one may say it in the question's words. ``of_score``: of the score
    itself, whichever matches better: what a memory was made from was worth keeping, a reply to it was not."""

    of_lead: float
    of_score: float


RRF_TERMS = Terms(of_lead=1.0, of_score=0.01)
"""The sums of two ranks lie close: a hundredth of the first is half a place (docs/retrieval.md)."""
RERANK_TERMS = Terms(of_lead=0.1, of_score=0.03)
"""Both of these were chosen on chats 1-5 of two sets (docs/retrieval.md)."""

WIDEST_RANGE = 4
"""The most events that a memory which lends was made from: a statement speaks of one as a rule. A memory of more, such
as a session's summary, says nothing of one of them."""

Place = tuple[str, int]
"""Session and seq."""


@dataclass(frozen=True, slots=True)
class Range:
    """The events of one session that a memory's passage was made from, both ends included."""

    session_id: str
    first: int
    last: int

    @property
    def wide(self) -> bool:
        return self.last - self.first >= WIDEST_RANGE

    def __contains__(self, place: Place) -> bool:
        session_id, seq = place
        return session_id == self.session_id and self.first <= seq <= self.last


def lenders(memories: Mapping[str, Range | None], utterances: Mapping[str, Place]) -> dict[str, list[str]]:
    """Return the memories that lend and so have no place of their own, by id, each with the utterances that borrow from
    it: none for a wide one. A memory of unknown range does not lend."""
    by_session: dict[str, list[str]] = defaultdict(list)
    for identifier, (session_id, _) in utterances.items():
        by_session[session_id].append(identifier)
    found: dict[str, list[str]] = {}
    for memory, covered in memories.items():
        if covered is not None:
            borrowers = [i for i in by_session[covered.session_id] if utterances[i] in covered]
            if borrowers:
                found[memory] = [] if covered.wide else borrowers
    return found


def best_lent(lending: Mapping[str, Iterable[str]], scores: Mapping[str, float], terms: Terms) -> dict[str, float]:
    """Return what each utterance borrows from the memory that lends it most. ``scores``: of memories and utterances, on
    one scale."""
    best: dict[str, float] = {}
    for memory, borrowers in lending.items():
        score = scores[memory]
        for borrower in borrowers:
            lent = terms.of_lead * max(0.0, score - scores[borrower]) + terms.of_score * score
            best[borrower] = max(lent, best.get(borrower, float("-inf")))
    return best
