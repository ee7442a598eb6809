"""Observations of other conversations stand with the day on which they were said (docs/rules/pack.md#days): of two that
disagree a reader could not tell otherwise which one is newer."""

from __future__ import annotations

import re

from neve.domain.memories.marks import text_with_marks
from neve.domain.memories.text import for_pack
from neve.domain.records.memories import Kind, Memory

_DAY = re.compile(r"\d{4}-\d{2}-\d{2} ")


def with_its_day(memory: Memory) -> str:
    """Give the text with its marks; each line of an observation behind the day of what was said."""
    text = text_with_marks(memory)
    if memory.kind is not Kind.OBSERVATION or memory.observed_date is None:
        return text
    return "\n".join(f"{memory.observed_date} {line}" for line in for_pack(text).splitlines())


def without_day(line: str) -> str:
    """Give a line of a pack as it would stand there without a day."""
    return _DAY.sub("", line, count=1) if _DAY.match(line) else line
