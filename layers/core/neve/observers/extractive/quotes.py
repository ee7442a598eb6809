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
    """What somebody said, as one line."""
    return f'{" ".join(who.translate(_NOT_INSIDE).replace(":", " ").split())}: "{_plain(said)}"'


def behind(first: str, then: str) -> str:
    """Two statements of which the second says what became of the first."""
    return f"{first}{BEHIND}{then}"


def is_quote(line: str) -> bool:
    """Whether a line without its mark has this form."""
    return _LINE.fullmatch(line) is not None


def spoken_in(line: str) -> list[tuple[str, str]]:
    """Who said what in it, in order; nothing of a line that has another form."""
    return [(found["who"].strip(), found["said"]) for found in _PARTS.finditer(line)] if is_quote(line) else []


def what_it_follows(line: str) -> str | None:
    """The line behind which the last statement of this one stands."""
    head, joint, last = line.rpartition(BEHIND)
    return head if joint and is_quote(last) else None


def _plain(said: str) -> str:
    """Without its last stop: behind one a statement would end inside of the line."""
    plain = " ".join(said.translate(_NOT_INSIDE).split())
    return plain if plain.endswith("..") else plain.rstrip(".!")
