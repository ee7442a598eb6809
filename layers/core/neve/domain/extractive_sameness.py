"""Whether one statement says what another already says: by its content words, figures, dates and negation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from neve.domain.words import QUERY_STOP_WORDS, light_stem, plain_words

_MEANING = re.compile(r"\(meaning ([^()]*)\)")
_DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")
_NEGATION = re.compile(r"\b(?:not|no|never|none|without|hardly|no longer|\w+n't|cannot|dislikes?|hates?|stopped|quit|anymore)\b", re.IGNORECASE)
_EMPTY_WORDS = frozenset({"user", "said", "correction", "assistant", "wants", "asked", "today", "tomorrow", "yesterday"})
SHARED = 0.8
"""Share of the new statement's content words that the old one must hold, and half of the old one's that the new one must."""


@dataclass(frozen=True, slots=True)
class _Content:
    words: frozenset[str]
    figures: frozenset[str]
    dates: frozenset[str]
    negated: bool


def restates(new: str, old: str) -> bool:
    """True iff ``new`` adds nothing to ``old``. A figure or a date that ``old`` lacks is something new, and so is a denial."""
    fresh, known = _content(new), _content(old)
    if not fresh.words or fresh.negated != known.negated or not fresh.figures <= known.figures:
        return False
    if fresh.dates and fresh.dates != known.dates:
        return False
    shared = len(fresh.words & known.words)
    return shared >= SHARED * len(fresh.words) and shared >= SHARED / 2 * len(known.words)


@lru_cache(maxsize=4_096)
def _content(text: str) -> _Content:
    dates = frozenset(_DATE.findall(" ".join(_MEANING.findall(text))))
    bare = _MEANING.sub(" ", text)
    words = [word for word in plain_words(bare) if word not in QUERY_STOP_WORDS and word not in _EMPTY_WORDS]
    return _Content(
        words=frozenset(light_stem(word) for word in words if not word.isdigit()),
        figures=frozenset(re.findall(r"\d+(?:[.,:]\d+)*", bare)),
        dates=dates,
        negated=_NEGATION.search(bare) is not None,
    )
