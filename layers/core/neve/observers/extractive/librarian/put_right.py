"""Finds what a person has corrected of what is remembered of a session: the statement that it puts right is filed in
their words (docs/rules/librarian.md#corrected)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from neve.domain.librarian.filing import Remembered
from neve.domain.memories.text import statements_in
from neve.observers.extractive.sameness import Content, adds_nothing, content_of

SHARED = 0.5
"""Share of a statement's content words that the corrected words of its range must hold (*chosen*): somebody who puts a
value right leaves the rest, and of ``prefers tea`` that is one word of two."""


class Statement(NamedTuple):
    """A statement of the user. ``seq``: of the event that states it; ``at``: when the last event that it rests on was
    appended."""

    text: str
    seq: int
    at: str


def corrected_words(stated: Sequence[Statement], remembered: Sequence[Remembered]) -> Mapping[int, str]:
    """Return a person's corrections, by the places in ``stated`` of the statements that they put right. A person's new
    line puts right the one statement of its range that it is most like, but none that something remembered still
    says."""
    if not any(one.corrected_at for one in remembered):
        return {}
    contents = [content_of(one.text) for one in stated]
    still = [content_of(line) for one in remembered for line in statements_in(one.text)]
    open_ = {n for n, content in enumerate(contents) if not any(adds_nothing(content, said) for said in still)}
    new = [one for one in _lines(remembered) if not any(adds_nothing(content, one.content) for content in contents)]
    pairs = (
        (_share(contents[n], line.content), -n, place)
        for place, line in enumerate(new)
        for n in open_
        if line.of.corrects(stated[n].seq, stated[n].at)
    )
    found: dict[int, str] = {}
    used: set[int] = set()
    for share, at, place in sorted(pairs, reverse=True):
        if share >= SHARED and -at not in found and place not in used:
            found[-at] = new[place].text
            used.add(place)
    return found


class _Line(NamedTuple):
    text: str
    content: Content
    of: Remembered


def _lines(remembered: Sequence[Remembered]) -> Iterator[_Line]:
    for row in remembered:
        if row.corrected_at is not None:
            for line in statements_in(row.text):
                yield _Line(line, content_of(line), row)


def _share(old: Content, new: Content) -> float:
    return len(old.words & new.words) / len(old.words) if old.words else 0.0
