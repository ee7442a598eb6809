"""A request that the provider does not take, and the checks that all its dialects share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Json = dict[str, Any]


class Refused(Exception):
    """Answered with 400. ``where``: the path of the field, as the provider writes it."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}")
        self.where, self.why = where, why


def closed(value: object, where: str, allowed: Iterable[str], required: Iterable[str] = ()) -> Json:
    """An object that has these fields and no other. Raises Refused."""
    if not isinstance(value, dict):
        raise Refused(where, "Input should be a valid dictionary")
    for name in required:
        if name not in value:
            raise Refused(f"{where}.{name}", "Field required")
    for name in value:
        if name not in allowed:
            raise Refused(f"{where}.{name}", "Extra inputs are not permitted")
    return value


def text(value: object, where: str, *, blank: bool = False) -> str:
    """A text with more than white space in it. Raises Refused."""
    if not isinstance(value, str):
        raise Refused(where, "Input should be a valid string")
    if not blank and not value.strip():
        raise Refused(where, "text content blocks must contain non-whitespace text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Refused(where, "invalid UTF-8: half of a surrogate pair") from None
    return value


def matching(value: object, where: str, pattern: re.Pattern[str]) -> str:
    """A text of this form. Raises Refused."""
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise Refused(where, f"String should match pattern '^{pattern.pattern}$'")
    return value


def array(value: object, where: str, *, most: int | None = None) -> list[Any]:
    """A list that is not empty. Raises Refused."""
    if not isinstance(value, list):
        raise Refused(where, "Input should be a valid list")
    if not value:
        raise Refused(where, "List should have at least 1 item")
    if most is not None and len(value) > most:
        raise Refused(where, f"List should have at most {most} items")
    return value


def one_of(value: object, where: str, values: Sequence[str]) -> str:
    """One of these words. Raises Refused."""
    if value not in values:
        raise Refused(where, f"Input should be {', '.join(repr(one) for one in values)}")
    return str(value)


def distinct(names: Iterable[str], where: str, what: str) -> None:
    """Refuse a name that stands twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise Refused(where, f"{what} must be unique: {name}")
        seen.add(name)


def between(body: Mapping[str, Any], name: str, low: float, high: float) -> None:
    """Refuse a number that is out of its range; one that is left out is fine."""
    value = body.get(name)
    if value is None and name not in body:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise Refused(name, f"Input should be between {low} and {high}")
