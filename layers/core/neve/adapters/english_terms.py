"""From text to the terms of the keyword index: the one analysis that every search engine shares, so that they find the
same. Lower-case, stop words out, Snowball stems; compounds whole and in parts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

import Stemmer  # type: ignore[import-not-found]

from neve.domain.words import INDEX_STOP_WORDS, chunks, fold, parts, whole

T = TypeVar("T")

REMEMBERED_CHUNKS = 20_000
"""About 4 MB. A text repeats most of its chunks, and stemming is what analysis costs."""
_LONGEST_REMEMBERED = 64


class EnglishTerms(Generic[T]):
    """``as_term``: what an engine makes of a stemmed word. Safe for threads."""

    def __init__(self, as_term: Callable[[str], T], *, remembered: int = REMEMBERED_CHUNKS) -> None:
        self._as_term = as_term
        self._remembered = remembered
        self._stemmer = Stemmer.Stemmer("english")
        self._stemming = threading.Lock()
        self._terms_of_chunk: dict[str, tuple[T, ...]] = {}

    def terms(self, text: str) -> Iterator[T]:
        """Every indexed term of a text, repetitions included."""
        known = self._terms_of_chunk
        for chunk in chunks(fold(text)):
            terms = known.get(chunk)
            yield from self._analyse_chunk(chunk) if terms is None else terms

    def whole_terms(self, words: Iterable[str]) -> list[T]:
        """The terms of words taken as they are, without the parts of compounds; stop words are left out."""
        return [self._term(word) for word in words if word not in INDEX_STOP_WORDS]

    def _analyse_chunk(self, chunk: str) -> tuple[T, ...]:
        terms = tuple(self.whole_terms((whole(chunk), *parts(chunk))))
        if len(chunk) <= _LONGEST_REMEMBERED:
            if len(self._terms_of_chunk) >= self._remembered:
                self._terms_of_chunk.clear()
            self._terms_of_chunk[chunk] = terms
        return terms

    def _term(self, word: str) -> T:
        if word.isalpha():
            with self._stemming:
                word = self._stemmer.stemWord(word)
        return self._as_term(word)
