"""Patterns of the scenarios: sdk/scenarios/README.md#patterns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Saved = dict[str, Any]
MISSING = object()


def difference(pattern: Any, found: Any, saved: Saved, at: str = "") -> str | None:
    """The first place at which something else was found; None where nothing was."""
    if isinstance(pattern, Mapping) and len(pattern) == 1 and (name := next(iter(pattern))) in SPECIAL:
        return SPECIAL[name](pattern[name], found, saved, at)
    if isinstance(pattern, Mapping):
        if not isinstance(found, Mapping):
            return f"{at}: {found!r} is no object"
        every = (difference(one, found.get(name, MISSING), saved, f"{at}.{name}") for name, one in pattern.items())
        return next((one for one in every if one), None)
    if isinstance(pattern, list):
        if not isinstance(found, list) or len(found) != len(pattern):
            return f"{at}: {found!r} is no list of {len(pattern)}"
        each = (difference(*both, saved, f"{at}[{n}]") for n, both in enumerate(zip(pattern, found, strict=True)))
        return next((one for one in each if one), None)
    return None if pattern == found else f"{at}: {found!r}, not {pattern!r}"


def value_of(path: str, saved: Saved) -> Any:
    """What was saved, or a field of it."""
    name, *fields = path.split(".")
    value = saved[name]
    for field in fields:
        value = value[field]
    return value


def _any(wanted: bool, found: Any, saved: Saved, at: str) -> str | None:
    return f"{at}: is missing" if found is MISSING or found is None else None


def _absent(wanted: bool, found: Any, saved: Saved, at: str) -> str | None:
    return None if found is MISSING or found is None else f"{at}: {found!r} is there"


def _empty(wanted: bool, found: Any, saved: Saved, at: str) -> str | None:
    return None if found is not MISSING and not found else f"{at}: {found!r} is not empty"


def _min(least: float, found: Any, saved: Saved, at: str) -> str | None:
    return None if isinstance(found, int | float) and found >= least else f"{at}: {found!r} is less than {least}"


def _has(patterns: list[Any], found: Any, saved: Saved, at: str) -> str | None:
    if not isinstance(found, list):
        return f"{at}: {found!r} is no list"
    for one in patterns:
        if all(difference(one, element, saved) for element in found):
            return f"{at}: {found!r} has nothing like {one!r}"
    return None


def _says(texts: list[str], found: Any, saved: Saved, at: str) -> str | None:
    return next((f"{at}: {found!r} does not say {text!r}" for text in texts if text not in str(found)), None)


def _same(path: str, found: Any, saved: Saved, at: str) -> str | None:
    wanted = value_of(path, saved)
    return None if found == wanted else f"{at}: {found!r}, not the same as {path}, {wanted!r}"


SPECIAL: dict[str, Callable[[Any, Any, Saved, str], str | None]] = {
    "$any": _any,
    "$absent": _absent,
    "$empty": _empty,
    "$min": _min,
    "$has": _has,
    "$says": _says,
    "$same": _same,
}
