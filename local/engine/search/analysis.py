"""The terms of the embedded keyword index, and how often a passage holds each."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from typing import Final

import numpy as np

from neve.adapters.english_terms import EnglishTerms
from neve.ports import CONTEXT_WEIGHTS

FIELDS: Final = tuple(CONTEXT_WEIGHTS)
TERM_COUNTS: Final = np.dtype([("term", "<u8"), ("counts", "u1", (len(FIELDS),))])
"""One term of a passage: how often it occurs in each of FIELDS, 255 at most."""
ANALYSIS: Final = f"1 {' '.join(FIELDS)}"
"""What the stored term counts were made with. A file with another value is analysed again when it is opened."""

_REMEMBERED_CHUNKS = 200_000
_pack_counts = struct.Struct(f"<Q{len(FIELDS)}B").pack

Term = int
"""63 bits of BLAKE2b of a stemmed word: the same in every process, and no dictionary keeps an erased user's words."""


class Analyzer(EnglishTerms[Term]):
    """Safe for threads."""

    def __init__(self) -> None:
        super().__init__(_hashed, remembered=_REMEMBERED_CHUNKS)

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


def _hashed(word: str) -> Term:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little") >> 1
