"""Memories lend what they match better to what they were made from.

A memory and its utterances say the same. Side by side they take places from other answers, so a memory stands among the
hits only where nothing of its range of the log does. Otherwise it is another wording of each utterance of the range:
where it matches better, the utterance gets a part of the difference, and where it matches worse, nothing is lost and
nothing gained."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

SHARE = 0.5
"""Of how much better a memory matches than an utterance of its range: halfway. Of several memories the best counts
(docs/retrieval.md)."""

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


def lent_to_each(
    lending: Mapping[str, Iterable[str]], matches: Mapping[str, Mapping[str, float]], names: Collection[str]
) -> dict[str, dict[str, float]]:
    """What each utterance borrows of each match that a memory has more of. ``matches``: by id and name, of memories and
    utterances; what is not there is 0. ``names``: which of them are lent."""
    lent: dict[str, dict[str, float]] = defaultdict(dict)
    for memory, borrowers in lending.items():
        better = matches[memory]
        for borrower in borrowers:
            own, best = matches[borrower], lent[borrower]
            for name in names:
                more = SHARE * (better.get(name, 0.0) - own.get(name, 0.0))
                if more > best.get(name, 0.0):
                    best[name] = more
    return lent
