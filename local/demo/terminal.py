"""Text for a terminal of 100 columns: width as it is shown, colour only where somebody looks."""

from __future__ import annotations

import sys
import textwrap
import unicodedata

WIDTH = 100
_STYLES = {"bold": "1", "dim": "2", "green": "32", "yellow": "33", "cyan": "36"}


def styled(text: str, style: str) -> str:
    """``text`` unchanged when the output is not a terminal."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if sys.stdout.isatty() else text


def heading(text: str) -> str:
    return f"\n{styled(text, 'bold')}\n{styled('─' * WIDTH, 'dim')}"


def columns(text: str) -> int:
    """How many columns ``text`` takes; an emoji takes two."""
    return sum(_columns_of(character) for character in text)


def fitted(text: str, width: int) -> str:
    """One line of exactly ``width`` columns, cut with … or filled with blanks."""
    text = " ".join(text.split())
    if columns(text) > width:
        while columns(text) > width - 1:
            text = text[:-1]
        text += "…"
    return text + " " * (width - columns(text))


def wrapped(text: str, first: str, following: str) -> str:
    """``text`` broken into lines of at most ``WIDTH`` columns. ``first``, ``following``: what the lines begin with."""
    # an emoji counts as one character here and takes two columns, so there is room for a few of them
    lines = textwrap.wrap(text, WIDTH - 4, initial_indent=first, subsequent_indent=following)
    return "\n".join(lines)


def _columns_of(character: str) -> int:
    if unicodedata.combining(character) or character == "\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
