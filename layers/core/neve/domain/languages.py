"""Tells the language of a text by its script and, of those in Latin letters, by a vote of its function words
(docs/rules/recall.md#languages). No I/O."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Final

from neve.domain.stop_words import ENGLISH_VOTES, OTHER_SCRIPTS, STOP_WORDS, VOTES
from neve.domain.words import QUERY_STOP_WORDS, chunks, fold

ENGLISH: Final = "en"
LANGUAGES: Final = (ENGLISH, "de", "es", "fr", "pt", "zh", "ja", "ko", "ar", "hi", "ru")
"""The languages that Neve serves, as ISO 639-1 codes: their inflections and stop words are known."""
ANY_LANGUAGE: Final = "*"
"""Among the languages of a model that knows many."""
UNSERVED: Final = "und"
"""The language of a text in a script of which no language is served (ISO 639-2: undetermined)."""
LATIN: Final = (ENGLISH, "de", "es", "fr", "pt")
"""Those of LANGUAGES that are written in Latin letters."""

NOT_OBSERVED: Final = "observer:language"
"""Says in ``degraded`` that some of the user's messages are in a language that the observer does not know."""
MOST_READ: Final = 4_000
"""Characters (*chosen*): 0.2 ms."""
MIN_VOTES: Final = 2
"""Different function words that a text of another language than English has at least: one is in many a name."""
MANY_VOTES: Final = 6
SHARE_OF_VOTES: Final = 3
SHARE_ALONE: Final = 6
"""One in so many words of a text in another language is a function word at least, or MANY_VOTES in all: what has fewer
names places (``to La Jolla, Via del Corso``)."""

_SCRIPTS: Final[Mapping[str, str]] = {
    "ru": "\u0400-\u052f",
    "ar": "\u0600-\u06ff\u0750-\u077f",
    "hi": "\u0900-\u097f",
    "ko": "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3",
    "ja": "\u3041-\u30ff",
    "zh": "\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U000323af",
}
_DENSE: Final = ("zh", "ja", "ko")
_SIGNS_OF_A_WORD: Final = 3
"""A text of Chinese, Japanese or Korean has about so many letters fewer than one that says the same."""
_OF_OTHERS: Final = frozenset[str]().union(*VOTES.values())
_OTHER_LETTER = re.compile(r"[^\W\d_\u0000-\u036f\u1d00-\u1eff\u2000-\u2bff\ua720-\ua7ff]")
"""A letter that is not Latin."""
_SERVED: Final = {language: re.compile(f"[{of}]") for language, of in _SCRIPTS.items()}


def not_observed(messages: int) -> tuple[str, ...]:
    """Give the flag for so many messages in languages that the observer does not know; none for none."""
    return (NOT_OBSERVED,) if messages else ()


def is_known(text: str, languages: Collection[str]) -> bool:
    """Say whether a text is in one of the languages that a model or an observer names as its own."""
    return ANY_LANGUAGE in languages or language_of(text) in languages


def language_of(text: str) -> str:
    """Give the language of most of a text: one of LANGUAGES, ``it``, ``nl``, or UNSERVED. What no vote decides is
    English. Of a long text the beginning is read."""
    text = text[:MOST_READ]
    if not text.isascii() and (other := _OTHER_LETTER.findall(text)):
        counts = {language: sum(map(bool, map(of.match, other))) for language, of in _SERVED.items()}
        weight = _SIGNS_OF_A_WORD if any(counts[language] for language in _DENSE) else 1
        if weight * len(other) > sum(map(str.isalpha, text)) - len(other):
            return _of_script(counts, len(other))
    return latin_language(text, chunks(fold(text)))


def _of_script(counts: Mapping[str, int], letters: int) -> str:
    """``counts``: letters of each script. Kana make a text Japanese, whatever Chinese characters are beside them."""
    if 2 * sum(counts.values()) < letters:
        return UNSERVED
    if counts["ja"] and counts["zh"] >= counts["ko"]:
        return "ja"
    return max(counts, key=counts.__getitem__)


def script_of(word: str) -> str | None:
    """Give the language of LANGUAGES that a word's first letter belongs to, None for Latin letters and for a script
    that is not served; of Chinese characters ``zh``."""
    if word[:1] < "\u0400":
        return None
    return next((language for language, letter in _SERVED.items() if letter.match(word)), None)


def latin_language(text: str, words: Sequence[str]) -> str:
    """Give the language of a text in Latin letters by its ``words``, case kept: one of LATIN, ``it`` or ``nl``. Votes
    are the different function words in small letters and at the beginning, and for Spanish a mark that no other
    language begins a sentence with."""
    is_spanish = "¿" in text or "¡" in text
    return _voted(words, is_spanish=is_spanish) if is_spanish or not _OF_OTHERS.isdisjoint(words) else ENGLISH


def _voted(words: Sequence[str], *, is_spanish: bool) -> str:
    small = {word for word in words if word.islower()}.union(word.lower() for word in words[:MIN_VOTES])
    votes = {language: len(small & own) for language, own in VOTES.items()}
    votes["es"] += is_spanish
    language = max(votes, key=votes.__getitem__)
    of_english = len(small & ENGLISH_VOTES - STOP_WORDS[language])
    share = len(small) / (SHARE_OF_VOTES if of_english else SHARE_ALONE)
    needed = max(MIN_VOTES, of_english + 1, min(MANY_VOTES, share))
    return language if votes[language] >= needed else ENGLISH


@cache
def query_stop_words(latin: str) -> frozenset[str]:
    """Give the words that carry no content in a query. ``latin``: the language of what is in Latin letters in it."""
    return STOP_WORDS.get(latin, QUERY_STOP_WORDS) | OTHER_SCRIPTS
