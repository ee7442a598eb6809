"""Tells which sources a reflection was made from, and what it takes over from them beside their words: what people
filter by and rank by (docs/rules/reflect.md#result). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from neve.domain.memories.marks import words_of_trust
from neve.domain.observe.defaults import BASE_TAG, DEFAULT_CONFIDENCE, DEFAULT_IMPORTANCE
from neve.domain.observe.trust import SaidHere, is_of_a_tool, shared_runs
from neve.domain.records.memories import Memory
from neve.domain.records.sessions import Audience

V = TypeVar("V")

OWN_TAGS = (BASE_TAG, "reflection", "global-prune")
"""Tags of a night's row; a session's lacks the last one."""


@dataclass(frozen=True, slots=True)
class Inherited:
    importance: int
    confidence: float
    group: str | None
    label: str | None
    tags: tuple[str, ...]
    about: tuple[str, ...]
    audience: Audience | None


class Sources:
    """The memories that a model was shown, in that order; not empty."""

    def __init__(self, shown: Sequence[Memory]) -> None:
        self._shown = {memory.id: memory for memory in shown}
        self._runs = {memory.id: shared_runs(memory.text) for memory in shown}
        self._tools = {memory.id: words for memory in shown if (words := words_of_trust(memory, "tool"))}

    def of(self, text: str, named: Sequence[str]) -> list[Memory]:
        """Give the sources that a row names, or all where it names none, and behind them those that it repeats, or
        takes a tool's word from: a model may leave a source out, whose trust holds for its words, and with which they
        have to go."""
        chosen = [i for i in named if i in self._shown]
        if not chosen:
            return list(self._shown.values())
        own = shared_runs(text)
        repeated = [
            i
            for i, runs in self._runs.items()
            if i not in chosen and (not own.isdisjoint(runs) or self._is_told_by(i, text, chosen))
        ]
        return [self._shown[i] for i in (*chosen, *repeated)]

    def _is_told_by(self, source: str, text: str, chosen: Sequence[str]) -> bool:
        """Say whether a tool's word in the source stands in the text, and in none that the row names or that no tool
        said."""
        if source not in self._tools:
            return False
        others = [self._shown[i].text for i in self._shown if i in chosen or i not in self._tools]
        return is_of_a_tool(text, (), SaidHere((), tools=(self._tools[source],), users=others))


def inherited(sources: Sequence[Memory], own_tags: Sequence[str]) -> Inherited:
    """Give the highest importance; group, label, confidence and tags where all of them agree, tags behind the row's
    own; all who said any of it, and the narrowest audience. ``sources``: not empty."""
    confidence = _common([memory.confidence for memory in sources])
    shared = frozenset(sources[0].tags).intersection(*(memory.tags for memory in sources))
    return Inherited(
        importance=max(DEFAULT_IMPORTANCE, *(memory.importance for memory in sources)),
        confidence=DEFAULT_CONFIDENCE if confidence is None else confidence,
        group=_common([memory.group for memory in sources]),
        label=_common([memory.label for memory in sources]),
        about=tuple(dict.fromkeys(who for memory in sources for who in memory.about)),
        audience=next((memory.audience for memory in sources if memory.audience), None),
        tags=tuple(dict.fromkeys([*own_tags, *(tag for tag in sources[0].tags if tag in shared)])),
    )


def _common(values: Sequence[V | None]) -> V | None:
    """Give the value that all of them have; None where they differ."""
    return values[0] if len(set(values)) == 1 else None
