"""The parts that patterns of English are written with."""

from __future__ import annotations

PLEASE = r"(?:(?:please|pls|now|just|can you|could you|would you|will you|help me(?: to)?)\s+)*"
"""Words in front of what the assistant is asked to do."""


def any_of(*lists: str) -> str:
    """Make a group that matches any of the entries. A list holds words between blanks, or, with a ``|`` in it, patterns
    between bars, which may hold blanks."""
    alternatives = [entry for entries in lists for entry in ([entries] if "|" in entries else entries.split())]
    return "(?:" + "|".join(alternatives) + ")"
