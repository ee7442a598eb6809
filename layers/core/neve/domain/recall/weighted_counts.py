"""Weigh each term of a passage for the keyword leg: the one formula for every search engine (BM25F).

A message is measured against ``SHORT``. In a longer one a word says less, so its counts are divided by how many times
as long it is; and what surrounds it says less about it, so the counts of its neighbours fade with the square. Short
chat turns are untouched, and lean on their neighbours. The division is in the counts, so a search only saturates them:
its b is 0. Numbers: docs/retrieval.md."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

T = TypeVar("T")

K1: Final = 0.9
"""Saturation: ``count / (count + K1)``."""
SHORT: Final = 40
"""Index terms of a message up to which its length does not count."""
NEIGHBOURS: Final[Mapping[int, float]] = {-1: 0.6, 1: 0.3, -2: 0.2, 2: 0.2}
"""Weight of the passages around one, by their distance: -1 is the one before."""
MIN_COUNT: Final = 2.0**-8
"""A term that counts less is left out: it moves no score that is shown, and a long message between long ones would
carry a thousand such terms."""

_DROPPED_BITS: Final = 15
_CACHE_SIZE: Final = 10_000
_float, _int = struct.Struct("<f"), struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Terms(Generic[T]):
    """The terms of a passage. ``own``: the terms of one passage, repetitions included. ``length``: terms of the whole
    message that it is a part of."""

    own: Sequence[T]
    length: int


class Lengths:
    """Counts the terms of texts, and remembers the texts counted last: each part of a long message asks for the length
    of all the others. They are known by their hashes, so that no user's words stay here; a text keeps its own hash, so
    that the parts of the longest message cost no more than they are. Safe for threads."""

    def __init__(self, terms: Callable[[str], Iterable[object]]) -> None:
        self._terms = terms
        self._known: dict[tuple[int, int], int] = {}

    def of(self, texts: Iterable[str]) -> int:
        """Count the terms of all texts together."""
        return sum(map(self._length, texts))

    def _length(self, text: str) -> int:
        key = (hash(text), len(text))
        length = self._known.get(key)
        if length is None:
            if len(self._known) >= _CACHE_SIZE:
                self._known.clear()
            length = self._known[key] = sum(1 for _ in self._terms(text))
        return length


def weighted_counts(passage: Terms[T], date: Iterable[T], around: Iterable[tuple[int, Terms[T]]]) -> dict[T, float]:
    """Return the weighted count of each term. ``date``: the terms of the day on which it was said. ``around``: the
    passages of the same session near it, by distance."""
    counts: dict[T, float] = {}
    _add(counts, [*passage.own, *date], 1 / _times_as_long(passage.length))
    fading = gate(len(passage.own))
    for distance, neighbour in around:
        _add(counts, neighbour.own, fading * NEIGHBOURS[distance] / _times_as_long(neighbour.length))
    stored = ((term, nine_bits(count)) for term, count in counts.items())
    return {term: count for term, count in stored if count >= MIN_COUNT}


def gate(length: int) -> float:
    """Return 1 for a short message, fading to 0 for a long one: how much its surroundings, and its likeness to others,
    say about it."""
    return min(1.0, (SHORT / length) ** 2) if length else 1.0


def nine_bits(count: float) -> float:
    """Round to the nine significant bits that a search engine keeps of a number (Lucene's ``FeatureField``). Engines
    that round before they score give the same scores."""
    [bits] = _int.unpack(_float.pack(count))
    [kept] = _float.unpack(_int.pack(bits >> _DROPPED_BITS << _DROPPED_BITS))
    return float(kept)


def _times_as_long(length: int) -> float:
    return max(1.0, length / SHORT)


def _add(counts: dict[T, float], terms: Iterable[T], weight: float) -> None:
    for term, count in Counter(terms).items():
        counts[term] = counts.get(term, 0.0) + weight * count
