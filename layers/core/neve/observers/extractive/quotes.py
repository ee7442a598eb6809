"""Lines that say what was said, in the words in which it was said: ``Ada: "I moved to Bergen."``, and, where it means
something only behind another statement, ``Assistant: "What's her name?" → Ada: "Mary."`` A quotation cannot end before
its line does: it has no line break and no double quotation mark in it."""

from __future__ import annotations

import re

BEHIND = " → "
_SPOKEN = r'[^\s"→][^"→:]{0,80}: "[^"]*"'
_LINE = re.compile(rf"{_SPOKEN}(?:{BEHIND}{_SPOKEN})*")
_PARTS = re.compile(r'(?P<who>[^"→:]+): "(?P<said>[^"]*)"')
_NOT_INSIDE = str.maketrans({'"': "'", "“": "'", "”": "'", "„": "'", "→": "->"})


def quoted(who: str, said: str) -> str:
    """Write what a speaker said as one line."""
    return f'{" ".join(who.translate(_NOT_INSIDE).replace(":", " ").split())}: "{_plain(said)}"'


def behind(first: str, then: str) -> str:
    """Join two statements of which the second says what became of the first."""
    return f"{first}{BEHIND}{then}"


def is_quote(line: str) -> bool:
    """Say whether a line without its mark has the form that ``quoted`` writes."""
    return _LINE.fullmatch(line) is not None


def spoken_in(line: str) -> list[tuple[str, str]]:
    """Return the speakers and the words that a line quotes, in order; an empty list for a line of another form."""
    return [(found["who"].strip(), found["said"]) for found in _PARTS.finditer(line)] if is_quote(line) else []


def what_it_follows(line: str) -> str | None:
    """Return the line behind which the last statement of this one stands."""
    head, joint, last = line.rpartition(BEHIND)
    return head if joint and is_quote(last) else None


def _plain(said: str) -> str:
    """Drop the last full stop: with it, a statement would seem to end inside of the line."""
    plain = " ".join(said.translate(_NOT_INSIDE).split())
    return plain if plain.endswith("..") else plain.rstrip(".!")
