"""Turns text into the terms of the keyword index: the one analysis of what is stored, asked for and compared. Case
folded, stop words out, Snowball stems, accents beside the word without them; compounds whole and in parts; scripts
without spaces by pairs of characters. No I/O.

With any change of a term raise ``FORMAT_NUMBER`` of a local folder and ``MAPPING_VERSION`` of OpenSearch, so that no
index holds terms of two kinds. Apart from ``words``, because it needs PyStemmer, which most functions never load."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain

import Stemmer  # type: ignore[import-not-found]

from neve.domain.words import INDEX_STOP_WORDS, characters, chunks, fold, folded_word, pairs, parts, without_accents

CACHED_CHUNKS = 20_000
"""About 4 MB. A text repeats most of its chunks, and stemming is what analysis costs."""
CACHED_TEXTS = 2_000
"""Passages: some 20 MB. One message after the other of a conversation finds much the same hundred, and one of 500 turns
has 1,000 messages and the memories made of them."""
_MAX_CACHED = 64
"""Characters. What is longer is hardly a word that comes again."""


def terms(text: str) -> Iterator[str]:
    """Give every term of a text in order, repetitions included."""
    for chunk in chunks(fold(text)):
        yield from chunk_terms(chunk)


@lru_cache(maxsize=CACHED_TEXTS)
def terms_in(text: str) -> frozenset[str]:
    """Give every term of a text, once: for a caller that only asks whether it holds some."""
    return frozenset(chain.from_iterable(map(chunk_terms, set(chunks(fold(text))))))


@lru_cache(maxsize=CACHED_TEXTS)
def count_of_terms(text: str) -> int:
    """Count the terms of a text, repetitions included."""
    return sum(len(chunk_terms(chunk)) for chunk in chunks(fold(text)))


def asked_terms(word: str) -> Iterator[str]:
    """Give the terms by which a text with this word of a query is found: all of its own, but of a script that is read
    by pairs no single characters, which are in every other word too."""
    for chunk in chunks(fold(word)):
        yield from pairs(single) if (single := characters(chunk)) else chunk_terms(chunk)


def whole_terms(words: Iterable[str]) -> list[str]:
    """Give the terms of lower-case words taken as they are, without the parts of compounds; stop words are left out."""
    return [stem(word) for word in words if word not in INDEX_STOP_WORDS]


def chunk_terms(chunk: str) -> tuple[str, ...]:
    """Give the terms of one chunk of a folded text: its whole form, then its parts."""
    return _cached_chunk_terms(chunk) if len(chunk) <= _MAX_CACHED else _chunk_terms(chunk)


def stem(word: str) -> str:
    """Give the Snowball English stem of a lower-case word; what holds more than letters stays as it is. A stemmer for
    each call (3 µs), because none may be used by two threads at a time."""
    return str(Stemmer.Stemmer("english", 0).stemWord(word)) if word.isalpha() else word


def _chunk_terms(chunk: str) -> tuple[str, ...]:
    if chunk.isascii():
        return tuple(whole_terms((folded_word(chunk), *parts(chunk))))
    if single := characters(chunk):
        return (*single, *pairs(single)) if len(single) > 1 else tuple(single)
    words = (folded_word(chunk), *parts(chunk))
    return tuple(whole_terms(form for word in words for form in dict.fromkeys((word, without_accents(word)))))


_cached_chunk_terms = lru_cache(maxsize=CACHED_CHUNKS)(_chunk_terms)
