"""What a session says of the user: their messages without handed-over text, without what belongs to a scene that they
play, and without what they asked not to have remembered (docs/rules/librarian.md#extractive)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from neve.domain.compact.extract import sentences_of
from neve.domain.librarian.looking import names_in
from neve.domain.observe.unwanted import wanted_sentences
from neve.domain.records import Event, EventType
from neve.domain.sessions.transcript import event_text
from neve.observers.extractive.speech import is_role, own_words, quotes_another


def own_events(events: Sequence[Event]) -> list[Event]:
    """Without the messages of which nothing is left. What others said stays as it is."""
    parts: set[str] = set()
    kept: list[Event] = []
    for event in events:
        if event.event_type is not EventType.USER_MESSAGE:
            kept.append(event)
            continue
        said, own = sentences_of(event_text(event)), _own(event_text(event), parts)
        if own:
            kept.append(event if own == said else replace(event, content="\n".join(own)))
    return kept


def _own(text: str, parts: set[str]) -> list[str]:
    """Up to the sentence with which a scene begins, or goes on: one in which somebody speaks as a part of it.
    ``parts``: the names in the scenes so far."""
    own: list[str] = []
    said = wanted_sentences(sentences_of(own_words(text)))
    for n, sentence in enumerate(said):
        begins = is_role(sentence)
        if begins or _speaks_as(sentence, parts):
            if begins:
                parts.update(name for one in said[n:] for name in names_in(one))
            break
        if not quotes_another(sentence):
            own.append(sentence)
    return own


def _speaks_as(sentence: str, parts: set[str]) -> bool:
    return any(re.search(rf"\b(?:I am|I'm|[Mm]y name is) {re.escape(name)}\b", sentence) for name in parts)
