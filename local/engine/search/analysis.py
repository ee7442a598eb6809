"""The terms of the embedded keyword index, and how often a passage holds each."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from neve.domain.terms import chunk_terms
from neve.domain.words import chunks, fold
from neve.ports import CONTEXT_WEIGHTS

FIELDS: Final = tuple(CONTEXT_WEIGHTS)
TERM_COUNTS: Final = np.dtype([("term", "<u8"), ("counts", "u1", (len(FIELDS),))])
"""One term of a passage: how often it occurs in each of FIELDS, 255 at most."""
ANALYSIS: Final = f"2 {' '.join(FIELDS)}"
"""What the stored term counts were made with. A file with another value is analysed again when it is opened."""

_CACHED_CHUNKS = 200_000
"""About 40 MB."""
_LONGEST_CACHED = 64
_pack_counts = struct.Struct(f"<Q{len(FIELDS)}B").pack

Term = int
"""63 bits of BLAKE2b of a stemmed word: the same in every process, and no dictionary keeps an erased user's words."""


class Analyzer:
    """Safe for threads."""

    def __init__(self) -> None:
        self._terms_of_chunk: dict[str, tuple[Term, ...]] = {}

    def terms(self, text: str) -> Iterator[Term]:
        """Every term of a text, repetitions included."""
        known = self._terms_of_chunk
        for chunk in chunks(fold(text)):
            terms = known.get(chunk)
            yield from self._analyse_chunk(chunk) if terms is None else terms

    def term_counts(self, texts: Sequence[str]) -> bytes:
        """The TERM_COUNTS of a passage, packed; ``texts`` are its FIELDS in order."""
        found: dict[Term, list[int]] = {}
        for field, text in enumerate(texts):
            for term in self.terms(text):
                counts = found.get(term)
                if counts is None:
                    counts = found[term] = [0] * len(FIELDS)
                if counts[field] < 255:
                    counts[field] += 1
        return b"".join([_pack_counts(term, *counts) for term, counts in found.items()])

    def _analyse_chunk(self, chunk: str) -> tuple[Term, ...]:
        terms = stored_terms(chunk_terms(chunk))
        if len(chunk) <= _LONGEST_CACHED:
            if len(self._terms_of_chunk) >= _CACHED_CHUNKS:
                self._terms_of_chunk.clear()
            self._terms_of_chunk[chunk] = terms
        return terms


def stored_terms(terms: Iterable[str]) -> tuple[Term, ...]:
    """Terms as the file holds them."""
    return tuple(map(_hashed, terms))


def _hashed(word: str) -> Term:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little") >> 1
