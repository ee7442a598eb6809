"""Decides whether one statement says what another already says: by its content words, figures, dates and negation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from neve.domain.same.meaning import one_spelling
from neve.domain.terms import stem
from neve.domain.words import QUERY_STOP_WORDS, is_emoji, plain_words
from neve.observers.extractive.english.vocabulary import any_of, words

_MEANING = re.compile(r"\(meaning ([^()]*)\)")
_DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
_NEGATION = re.compile(
    r"\b(?:"
    + any_of("not no never none without hardly cannot dislikes? hates? stopped quit quits anymore", r"\w+n't|no longer")
    + r")\b",
    re.IGNORECASE,
)
_ENDED = re.compile(r"\bno longer\b|\bany ?more\b|\bany longer\b", re.IGNORECASE)
_EMPTY_WORDS = words("user said correction assistant wants asked today tomorrow yesterday standing wish")
TEXT_CACHE_SIZE = 4096
"""The same prior memories are shown to pass after pass, and each text has one meaning here."""
SHARED = 0.8
"""Share of the new statement's content words that the old one must hold; of the old one's, the new must hold half."""


@dataclass(frozen=True, slots=True)
class Content:
    """The parts of a statement that are compared. ``dates`` are the resolved ones."""

    words: frozenset[str]
    figures: frozenset[str]
    dates: frozenset[str]
    negated: bool


@lru_cache(maxsize=TEXT_CACHE_SIZE)
def content_of(text: str) -> Content:
    """Return the content of one line of a memory, its mark ignored."""
    dates = frozenset(_DATE.findall(" ".join(_MEANING.findall(text))))
    bare = one_spelling(_MEANING.sub(" ", text))
    plain = (
        word for word in plain_words(_ENDED.sub(" ", bare)) if word not in QUERY_STOP_WORDS and word not in _EMPTY_WORDS
    )
    return Content(
        words=frozenset(stem(word) for word in plain if not word.isdigit() and not is_emoji(word)),
        figures=frozenset(_FIGURE.findall(bare)),
        dates=dates,
        negated=_NEGATION.search(bare) is not None,
    )


def adds_nothing(new: Content, old: Content) -> bool:
    """Say whether ``new`` restates ``old``. A figure or date that ``old`` lacks is something new, and so is a
    denial."""
    if not new.words or new.negated != old.negated or not new.figures <= old.figures:
        return False
    if new.dates and new.dates != old.dates:
        return False
    return _share_words(new, old)


def on_one_matter(new: Content, old: Content) -> bool:
    """Say whether ``new`` restates ``old`` or denies it, or says it with another figure."""
    return (not (new.dates and old.dates) or new.dates == old.dates) and _share_words(new, old)


def _share_words(new: Content, old: Content) -> bool:
    shared = len(new.words & old.words)
    return shared >= SHARED * len(new.words) and 2 * shared >= len(old.words) > 0


# --- what a correction changes ------------------------------------------------------------------

NOT_THE_OLD = re.compile(r"(?:\b(?:is|are|was|at|on)|'s)\s[^,;]{1,40},\s+not\s+(?!to\b|that\b|just\b)\S", re.IGNORECASE)
"""``it's 8pm, not 7``"""

_MONTHS = any_of(
    "january february march april june july august september october november december",
    r"may(?= \d)|(?<=in |to |by |of |\d\d )may",
)
_VALUES = {
    "figure": re.compile(
        r"\d|\b" + any_of("one two three four five six seven eight nine ten eleven twelve noon midnight") + r"\b",
        re.IGNORECASE,
    ),
    "day": re.compile(
        r"\b" + any_of(r"\w{3,6}day|today|tomorrow|tonight|yesterday|\d{1,2}(?:st|nd|rd|th)", _MONTHS) + r"\b",
        re.IGNORECASE,
    ),
    "name": re.compile(rf"(?<=[a-z,;:] )(?!I\b|\w{{3,6}}day\b|(?i:{_MONTHS})\b)[A-Z][\w'-]*"),
}


def values_in(statement: str) -> frozenset[str]:
    """Return which of ``figure``, ``day`` and ``name`` a statement holds. A first word is no name, however it is
    written."""
    return frozenset(kind for kind, pattern in _VALUES.items() if pattern.search(statement))


def values_said_in(statement: str) -> frozenset[str]:
    """Return the values of a statement without the day that a date means."""
    return values_in(_MEANING.sub("", statement))
