"""A dump of another memory store as records, each with where it stands: a line of JSON lines, or a place in a list."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from neve.domain.times import iso

Record = dict[str, Any]
LISTS = ("observations", "rows", "results", "memories", "data")
"""Members of an object that is a whole dump, in which the records may be."""
MILLISECONDS = 10**11
"""An epoch above this is in milliseconds: in seconds it would be after the year 5000."""


NO_JSON = (ValueError, RecursionError)
"""The second is a text that opens one list after the other."""


class Malformed(ValueError):
    """Why a record cannot be taken."""


class Read(NamedTuple):
    """``place``: the number of the line, or in a list that of the record, from 1."""

    place: int
    record: Record | Malformed


def read_records(text: str) -> Iterator[Read]:
    """Of a JSON list, of an object that holds one, or of JSON lines. A record that is none stops no other."""
    try:
        whole = json.loads(text)
    except NO_JSON:
        yield from _lines(text)
        return
    for place, one in enumerate(_listed(whole), start=1):
        yield Read(place, one if isinstance(one, dict) else Malformed("is not an object"))


def _listed(whole: Any) -> list[Any]:
    if isinstance(whole, list):
        return whole
    if isinstance(whole, dict):
        return next((whole[name] for name in LISTS if isinstance(whole.get(name), list)), [whole])
    return [whole]


def _lines(text: str) -> Iterator[Read]:
    for place, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            one = json.loads(line)
        except NO_JSON:
            yield Read(place, Malformed("is not JSON"))
            continue
        yield Read(place, one if isinstance(one, dict) else Malformed("is not an object"))


# --- fields -------------------------------------------------------------------------------------


def first_of(record: Record, *names: str) -> Any:
    """The value of the first name that has one."""
    return next((record[name] for name in names if record.get(name) is not None), None)


def text_of(value: Any, name: str) -> str:
    """Raises Malformed for what is no text, or a blank one."""
    if not isinstance(value, str) or not value.strip():
        raise Malformed(f"{name} must be text that is not blank")
    return value


def time_of(value: Any, name: str) -> str | None:
    """RFC 3339, or seconds or milliseconds since 1970; a time without an offset is taken as UTC. Raises Malformed."""
    if value is None:
        return None
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return iso(datetime.fromtimestamp(value / 1000 if value > MILLISECONDS else value, UTC))
        at = datetime.fromisoformat(value)
        return iso(at if at.tzinfo else at.replace(tzinfo=UTC))
    except (ValueError, TypeError, OverflowError, OSError):
        raise Malformed(f"{name} is not a time") from None


def tags_of(value: Any, name: str) -> list[str]:
    """Raises Malformed for what is no list of texts."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise Malformed(f"{name} must be a list of texts")
    return list(dict.fromkeys(value))
