"""From text to terms, as the embedded keyword index holds them: about what OpenSearch makes of a text with its
``english`` analyzer and a word-delimiter sub-field."""

from __future__ import annotations

import hashlib
import struct
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np
import Stemmer  # type: ignore[import-not-found]

from neve.domain.words import INDEX_STOP_WORDS, chunks, fold, parts, whole
from neve.ports import CONTEXT_WEIGHTS

FIELDS: Final = tuple(CONTEXT_WEIGHTS)
TERM_COUNTS: Final = np.dtype([("term", "<u8"), ("counts", "u1", (len(FIELDS),))])
"""One term of a passage: how often it occurs in each of FIELDS, 255 at most."""
ANALYSIS: Final = f"1 {' '.join(FIELDS)}"
"""What the stored term counts were made with. A file with another value is analysed again when it is opened."""

_REMEMBERED_CHUNKS = 200_000
_LONGEST_REMEMBERED = 64
_pack_counts = struct.Struct(f"<Q{len(FIELDS)}B").pack

Term = int
"""63 bits of BLAKE2b of a stemmed word: the same in every process, and no dictionary keeps an erased user's words."""


class Analyzer:
    """Lower-case, English stop words out, Snowball stems; compounds whole and in parts. Safe for threads."""

    def __init__(self) -> None:
        self._stemmer = Stemmer.Stemmer("english")
        self._stemming = threading.Lock()
        self._terms_of_chunk: dict[str, tuple[Term, ...]] = {}

    def terms(self, text: str) -> Iterator[Term]:
        """Every indexed term of a text, repetitions included."""
        known = self._terms_of_chunk
        for chunk in chunks(fold(text)):
            terms = known.get(chunk)
            yield from self._analyse_chunk(chunk) if terms is None else terms

    def whole_terms(self, words: Iterable[str]) -> list[Term]:
        """The terms of words taken as they are, without the parts of compounds; stop words are left out."""
        return [self._term(word) for word in words if word not in INDEX_STOP_WORDS]

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
        terms = tuple(self.whole_terms((whole(chunk), *parts(chunk))))
        if len(chunk) <= _LONGEST_REMEMBERED:
            if len(self._terms_of_chunk) >= _REMEMBERED_CHUNKS:
                self._terms_of_chunk.clear()
            self._terms_of_chunk[chunk] = terms
        return terms

    def _term(self, word: str) -> Term:
        if word.isalpha():
            with self._stemming:
                word = self._stemmer.stemWord(word)
        return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little") >> 1
