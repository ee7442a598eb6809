"""Put the newer of two statements about one thing first, where it takes the older one back.

That two texts contradict each other takes a model to see. What is seen here is what people say when they correct
themselves ("no longer", "Correction:", "it was moved to") in a message that shares its words with the older one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from neve.domain.recall.weighted_counts import SHORT

T = TypeVar("T")
TermsOf = Callable[[str], Iterable[str]]
WITHIN = 20
"""Candidates among which the order is put right: those behind them are not read."""
MIN_SHARED = 0.5
"""The share of the terms of the shorter of two texts that the other must hold to be about the same. With a fifth of
them one question in eight had something moved, and first places were lost; with half of them nearly none
(docs/retrieval.md)."""
CACHED_TEXTS = 2_000
"""Some 1 MB. One message after the other of a conversation finds much the same statements."""

_CUE = re.compile(
    r"\b(?:correction|scratch that|my mistake|i was wrong|i misspoke|no longer|not any ?more|anymore|"
    r"(?:moved|changed|switched|postponed|rescheduled)\b[^.!?]{0,40}\b(?:to|until|from))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A candidate, as corrections look at it. ``at``: when it was said, in stored form. ``length``: index terms of the
    whole message. ``replaces``: ids that it is known to take the place of."""

    id: str
    at: str
    speaker: str | None
    text: str
    length: int
    replaces: frozenset[str] = frozenset()

    @property
    def takes_something_back(self) -> bool:
        return self.length <= SHORT and _has_cue(self.text)


@lru_cache(maxsize=CACHED_TEXTS)
def _has_cue(text: str) -> bool:
    return _CUE.search(text) is not None


def newer_first(
    best_first: Sequence[T],
    statement_of: Callable[[T], Statement],
    terms_of: TermsOf,
    raised: Callable[[T, T], T] = lambda moved, _: moved,
) -> list[T]:
    """Move each newer statement that stood behind directly before the older one that it takes back; the rest keeps its
    order. The newest correction of a statement ends up before the others. ``terms_of``: the terms by which two texts
    are compared. ``raised``: what becomes of one that was moved before the other."""
    statements, order = [statement_of(one) for one in best_first], list(best_first)
    ids = [statement.id for statement in statements]
    for newer, older in _corrected(statements, _Terms(terms_of)):
        here, there = ids.index(newer.id), ids.index(older.id)
        if here > there:
            ids.insert(there, ids.pop(here))
            order.insert(there, raised(order.pop(here), order[there]))
    return order


class _Terms(dict[str, frozenset[str]]):
    """The terms of each text, worked out once."""

    def __init__(self, terms_of: TermsOf) -> None:
        super().__init__()
        self._terms_of = terms_of

    def __missing__(self, text: str) -> frozenset[str]:
        return self.setdefault(text, frozenset(self._terms_of(text)))


def _corrected(best_first: Sequence[Statement], held: _Terms) -> Iterator[tuple[Statement, Statement]]:
    for newer in sorted(best_first, key=lambda one: (one.at, one.id)):
        if newer.replaces or newer.takes_something_back:
            for older in best_first:
                if older.id in newer.replaces or _takes_back(newer, older, held):
                    yield newer, older


def _takes_back(newer: Statement, older: Statement, held: _Terms) -> bool:
    if not newer.takes_something_back or newer.speaker != older.speaker:
        return False
    if older.length > SHORT or newer.at <= older.at:
        return False
    here, there = held[newer.text], held[older.text]
    return len(here & there) >= max(1, MIN_SHARED * min(len(here), len(there)))
