"""Turns text into the terms of the keyword index: the one analysis of what is stored, asked for and compared. Case
folded, stop words out, Snowball stems, accents beside the word without them; compounds whole and in parts; scripts
without spaces by pairs of characters. No I/O.

A text in another language than English has the stems of its own language beside these terms, behind a mark. So
English is asked for and scored as if there were no other language, and no stem is taken for a word of another one.

With any change of a term raise ``FORMAT_NUMBER`` of a local folder and ``MAPPING_VERSION`` of OpenSearch, so that no
index holds terms of two kinds. Apart from ``words``, because it needs PyStemmer, which most functions never load."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Final

import Stemmer  # type: ignore[import-not-found]

from neve.domain.languages import ENGLISH, LATIN, latin_language, script_of
from neve.domain.stop_words import OTHER_SCRIPTS, STOP_WORDS
from neve.domain.words import INDEX_STOP_WORDS, characters, chunks, fold, folded_word, pairs, parts, without_accents

STEM_MARK: Final = "~"
"""In front of a stem of another language than English: no chunk begins with it."""
CACHED_CHUNKS = 20_000
"""About 4 MB. A text repeats most of its chunks, and stemming is what analysis costs."""
CACHED_TEXTS = 2_000
"""Passages: some 20 MB. One message after the other of a conversation finds much the same hundred, and one of 500 turns
has 1,000 messages and the memories made of them."""
_MAX_CACHED = 64
"""Characters. What is longer is hardly a word that comes again."""


def terms(text: str) -> Iterator[str]:
    """Give every term of a text in order, repetitions included."""
    return chain.from_iterable(_terms_of_chunks(text))


@lru_cache(maxsize=CACHED_TEXTS)
def terms_in(text: str) -> frozenset[str]:
    """Give every term of a text, once: for a caller that only asks whether it holds some."""
    return frozenset(terms(text))


@lru_cache(maxsize=CACHED_TEXTS)
def count_of_terms(text: str) -> int:
    """Count the terms of a text, repetitions included."""
    return sum(map(len, _terms_of_chunks(text)))


def _terms_of_chunks(text: str) -> Iterator[tuple[str, ...]]:
    found = chunks(fold(text))
    latin = latin_language(text, found)
    return map(chunk_terms, found) if latin == ENGLISH else (chunk_terms(chunk, latin) for chunk in found)


def asked_terms(word: str) -> Iterator[str]:
    """Give the terms by which a text with this word of a query is found: all of its own, but of a script that is read
    by pairs no single characters, which are in every other word too."""
    for chunk in chunks(fold(word)):
        yield from pairs(single) if (single := characters(chunk)) else chunk_terms(chunk)


def asked_stems(word: str) -> Iterator[str]:
    """Give the terms by which a word of a query is found in other languages than English: those of every language that
    is written in its script."""
    return chain.from_iterable(map(_asked_stems, chunks(fold(word))))


@lru_cache(maxsize=CACHED_TEXTS)
def _asked_stems(chunk: str) -> tuple[str, ...]:
    languages = LATIN[1:] if script_of(chunk) is None else (ENGLISH,)
    return tuple(chain.from_iterable(_stems(chunk, latin) for latin in languages))


def whole_terms(words: Iterable[str]) -> list[str]:
    """Give the terms of lower-case words taken as they are, without the parts of compounds; stop words are left out."""
    return [stem(word) for word in words if word not in INDEX_STOP_WORDS]


def chunk_terms(chunk: str, latin: str = ENGLISH) -> tuple[str, ...]:
    """Give the terms of one chunk of a folded text: its whole form, then its parts, then the stems of other languages.
    ``latin``: the language of what is in Latin letters in the text."""
    if len(chunk) > _MAX_CACHED:
        return _chunk_terms(chunk, latin)
    return _cached_chunk_terms(chunk) if latin == ENGLISH else _cached_chunk_terms(chunk, latin)


def stem(word: str) -> str:
    """Give the Snowball English stem of a lower-case word; what holds more than letters stays as it is. A stemmer for
    each call (3 µs), because none may be used by two threads at a time."""
    return str(Stemmer.Stemmer("english", 0).stemWord(word)) if word.isalpha() else word


def _chunk_terms(chunk: str, latin: str = ENGLISH) -> tuple[str, ...]:
    if chunk.isascii():
        return (*whole_terms((folded_word(chunk), *parts(chunk))), *_stems(chunk, latin))
    if single := characters(chunk):
        return (*single, *(pairs(single) if len(single) > 1 else ()), *_stems(chunk, latin))
    words = (folded_word(chunk), *parts(chunk))
    forms = (form for word in words for form in dict.fromkeys((word, without_accents(word))))
    return (*whole_terms(forms), *_stems(chunk, latin))


_cached_chunk_terms = lru_cache(maxsize=CACHED_CHUNKS)(_chunk_terms)

# --- other languages than English ---------------------------------------------------------------

_STEMMERS: Final = {
    "de": "german",
    "es": "spanish",
    "fr": "french",
    "pt": "portuguese",
    "ar": "arabic",
    "hi": "hindi",
    "ru": "russian",
}
_BEFORE: Final = {
    "fr": (re.compile(r"^(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)'"), ""),
    "pt": (re.compile(r"[oõ]es$"), "ão"),
    "ru": (re.compile("ё"), "е"),
    "ar": (re.compile(r"(?<=\w{3})ت(?:ي|نا|ك|كم|ها?|هم)$|ه$"), "ة"),
}
"""What Snowball's stemmers leave as it is: the elision (``l'hôpital``), plurals (``aviões``), ``ё``, and the feminine
ending, which is folded, and another letter before a possessive (``زوجتي``)."""
_AND_THE: Final = re.compile("^[وف](?=ال)")
_STEMS_OF: Final = {**STOP_WORDS, **dict.fromkeys(("ar", "hi", "ru"), OTHER_SCRIPTS)}


def _stems(chunk: str, latin: str) -> list[str]:
    """Give the marked stems of a chunk in its language, ``latin`` where it is in Latin letters, each once; of a word
    with accents also that of the word without them."""
    language = script_of(chunk) or latin
    if language == "ko":
        return [STEM_MARK + noun] if len(noun := without_particle(chunk)) == 1 else []
    if language not in _STEMMERS:
        return []
    words = [word for word in (folded_word(chunk), *parts(chunk)) if word not in _STEMS_OF[language]]
    found = (_stem(form, language) for word in words for form in (word, without_accents(word)))
    return [STEM_MARK + stem for stem in dict.fromkeys(found) if stem]


def _stem(word: str, language: str) -> str:
    """Give the Snowball stem of a word without its accents; nothing for what holds more than letters."""
    if language in _BEFORE:
        word = _BEFORE[language][0].sub(_BEFORE[language][1], _AND_THE.sub("", word))
    if not (word.isalpha() or language == "hi"):
        return ""
    return without_accents(str(Stemmer.Stemmer(_STEMMERS[language], 0).stemWord(word)))


_PARTICLE: Final = re.compile(
    "(?<=[가-힣])(?:(?:에서|에|으로)(?:는|도|만)?|은|는|을|를)$"
    "|(?<=[가-힣]{2})(?:에게서?|한테서?|께서?|으?로부터|까지|부터|마다|처럼|보다|이?랑|하고|이나|이?라고|이에요|예요|입니다"
    "|[이가의와과도만로나])$"
)


def without_particle(chunk: str) -> str:
    """Give a Korean chunk without the particle that is glued to it; any other as it is."""
    return _PARTICLE.sub("", chunk)
