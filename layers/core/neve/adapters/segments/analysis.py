"""Finds the terms of a passage for the keyword leg, and how much it holds of each."""

from __future__ import annotations

import hashlib
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np

from neve.domain.indexing.passage import Neighbour, Passage
from neve.domain.languages import latin_language
from neve.domain.recall.weighted_counts import Lengths, Terms, weighted_counts
from neve.domain.terms import chunk_terms
from neve.domain.words import chunks, fold

WEIGHTED_TERMS: Final = np.dtype([("key", "<u8"), ("count", "<f4")])
"""One term of a passage as the postings want it: the term, with a last bit that says whether it stands in the context
only (1) or in the text (0), and its weighted count."""

_CACHED_CHUNKS = 200_000
"""Of each language in Latin letters: about 40 MB."""
_MAX_CACHED = 64
_pack = struct.Struct("<Qf").pack

Term = int
"""63 bits of BLAKE2b of a stemmed word: the same in every process, and no dictionary keeps an erased user's words."""


class Analysed(NamedTuple):
    """``terms``: WEIGHTED_TERMS, packed. ``length``: index terms of the passage's whole message."""

    terms: bytes
    length: int


class Analyzer:
    """Safe for threads."""

    def __init__(self) -> None:
        self._terms_of_chunk: defaultdict[str, dict[str, tuple[Term, ...]]] = defaultdict(dict)
        self._lengths = Lengths(self.terms)

    def terms(self, text: str) -> Iterator[Term]:
        """Give every term of a text, repetitions included."""
        found = chunks(fold(text))
        latin = latin_language(text, found)
        known = self._terms_of_chunk[latin]
        for chunk in found:
            terms = known.get(chunk)
            yield from self._analyse_chunk(chunk, latin) if terms is None else terms

    def analyse(self, passage: Passage) -> Analysed:
        own = self._terms_of(passage)
        around = ((neighbour.distance, self._terms_of(neighbour)) for neighbour in passage.neighbours)
        counts = weighted_counts(own, self.terms(passage.date_text), around)
        in_text = set(own.own)
        packed = [_pack(term << 1 | (term not in in_text), count) for term, count in counts.items()]
        return Analysed(b"".join(packed), own.length)

    def _terms_of(self, indexed: Passage | Neighbour) -> Terms[Term]:
        own = list(self.terms(indexed.text))
        return Terms(own, len(own) + self._lengths.of(indexed.rest))

    def _analyse_chunk(self, chunk: str, latin: str) -> tuple[Term, ...]:
        terms = stored_terms(chunk_terms(chunk, latin))
        if len(chunk) <= _MAX_CACHED:
            known = self._terms_of_chunk[latin]
            if len(known) >= _CACHED_CHUNKS:
                known.clear()
            known[chunk] = terms
        return terms


def stored_terms(terms: Iterable[str]) -> tuple[Term, ...]:
    """Give terms as they are kept."""
    return tuple(map(_hashed, terms))


def _hashed(word: str) -> Term:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little") >> 1
