"""Finds which documents may be about what was said (docs/rules/librarian.md#candidates): the paths that every user has,
those of the people who were named, and what a search for the words of the conversation finds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from neve.domain.documents.paths import PROFILE
from neve.domain.librarian.paths import IDENTITY, PREFERENCES, person_path
from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.transcript import event_text
from neve.domain.words import QUERY_STOP_WORDS, fold, plain_words

ALWAYS = (IDENTITY, PREFERENCES, f"{PROFILE}goals")
MAX_NAMES, MAX_WORDS = 12, 40
FOUND = 12
"""Documents that a search gives at most (*chosen*)."""
_NAME = re.compile(r"(?<![\w.'’])[^\W\d_a-zß-öø-ÿ][^\W\d_]+(?:['’-][^\W\d_]+)*")
"""A word that begins with a capital."""
_OPENERS = frozenset(("i", "i'm", "i've", "i'd", "i'll", "my", "the", "hi", "hello", "yes", "no", "ok"))


def names_in(text: str) -> list[str]:
    """Give the words that may be a person's name: with a capital, and not a word that sentences begin with."""
    found = (match.group() for match in _NAME.finditer(text.replace("’", "'")))
    return [name for name in found if name.casefold() not in _OPENERS and name.casefold() not in QUERY_STOP_WORDS]


def known_paths(events: Sequence[Event]) -> list[str]:
    """Give the paths to look at, whether there is a document or not: the profile's, and of the people named most."""
    names = Counter(name for event in _messages(events) for name in names_in(event_text(event)))
    people = [person_path(name) for name, _ in names.most_common(MAX_NAMES)]
    return list(dict.fromkeys([*ALWAYS, *people]))


def search_words(events: Sequence[Event]) -> str:
    """Write the query: what was said most, at most 40 words; empty when nothing was."""
    words = Counter(
        word
        for event in _messages(events)
        for word in plain_words(fold(event_text(event)))
        if word not in QUERY_STOP_WORDS and len(word) > 1
    )
    return " ".join(word for word, _ in words.most_common(MAX_WORDS))


def _messages(events: Sequence[Event]) -> Iterator[Event]:
    return (event for event in events if event.event_type in (EventType.USER_MESSAGE, EventType.ASSISTANT_RESPONSE))
