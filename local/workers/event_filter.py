"""Filter patterns of an event source mapping: which records AWS hands to a function at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Pattern = Mapping[str, Any]
"""A mapping narrows down; a list names the values that are let through, or ``{"exists": true}``: any. Nothing else is
used here."""
_ANY = [{"exists": True}]


def check_pattern(pattern: Any) -> None:
    """Raises ValueError for what ``lets_through`` would not carry out as AWS does."""
    if isinstance(pattern, Mapping) and pattern:
        for part in pattern.values():
            check_pattern(part)
    elif pattern != _ANY and not (
        isinstance(pattern, list) and pattern and all(isinstance(value, str) for value in pattern)
    ):
        raise ValueError(f"only lists of texts are understood in a filter, not {pattern!r}")


def lets_through(patterns: Sequence[Pattern], record: Mapping[str, Any]) -> bool:
    """Whether one of the patterns matches; without any pattern everything does."""
    return not patterns or any(_matches(pattern, record) for pattern in patterns)


def attributes_of(patterns: Sequence[Pattern]) -> frozenset[str]:
    """The names in the patterns: whether a record is let through depends on no other attribute of its row."""
    return frozenset(name for pattern in patterns for name in _names(pattern))


def _names(pattern: Any) -> Iterator[str]:
    if isinstance(pattern, Mapping):
        for name, part in pattern.items():
            yield name
            yield from _names(part)


def _matches(pattern: Any, value: Any) -> bool:
    if isinstance(pattern, list):
        return pattern == _ANY or value in pattern
    return isinstance(value, Mapping) and all(
        name in value and _matches(part, value[name]) for name, part in pattern.items()
    )
