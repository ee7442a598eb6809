"""The places where something was found in a text, and what stands there afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from neve.domain.privacy.classes import PiiClass

REMOVED = "[removed]"
SHORT = "[*]"
"""The marker where ``REMOVED`` would be longer than what it stands for: no text grows, so what fitted a limit fits it
still."""

PLACEHOLDER = re.compile(r"\[removed\]|\[\*\]|^[*x•.…]+$")


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text: ``text[start:end]`` is of class ``kind``."""

    start: int
    end: int
    kind: PiiClass


def marker(length: int) -> str:
    """Give what stands for so many characters; never more of them."""
    if length >= len(REMOVED):
        return REMOVED
    return SHORT if length >= len(SHORT) else "*" * length


def is_placeholder(value: str) -> bool:
    """Say whether a value is what an earlier screening, or a person, put in place of one."""
    return bool(PLACEHOLDER.search(value))


def merged(found: Iterable[Span]) -> Iterator[Span]:
    """Sort the spans and join those that overlap; the joined span is of the class of the longest."""
    last: Span | None = None
    for span in sorted(found, key=lambda s: (s.start, -s.end)):
        if last is None or span.start >= last.end:
            if last is not None:
                yield last
            last = span
            continue
        longer = span if span.end - span.start > last.end - last.start else last
        last = replace(longer, start=last.start, end=max(last.end, span.end))
    if last is not None:
        yield last
