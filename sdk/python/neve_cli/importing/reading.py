"""Reads a dump of another product as records, each with where it stands: a line of JSON lines, or a place in a list."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

Record = dict[str, Any]
LISTS = ("observations", "rows", "results", "memories", "conversations", "messages", "data")
"""Members of an object that is a whole dump, in which the records may be."""
FURTHER = ("next", "next_page", "next_cursor", "next_page_token", "has_more")
"""Members of an object that is one page of several: what says that there is another."""
TOTALS = ("count", "total", "total_count")
MILLISECONDS = 10**11
"""An epoch above this is in milliseconds: in seconds it would be after the year 5000."""
NO_JSON = (ValueError, RecursionError)
"""The second is a text that opens one list after the other."""


class Malformed(ValueError):
    """Says why a record cannot be taken."""


class Read(NamedTuple):
    """``place``: the number of the line, or in a list that of the record, from 1."""

    place: int
    record: Record | Malformed


LeftOut = Counter[str]
"""How many of each kind a dump has that its lines do not have, by a noun in the plural."""
Convert = Callable[[Record, LeftOut], Iterable[Record]]
"""Makes the lines of a record, none where it is left out, which it counts. Raises Malformed."""


@dataclass
class Converted:
    """``malformed``: place and reason of each record that could not be read."""

    lines: list[str] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=Counter)
    malformed: list[tuple[int, str]] = field(default_factory=list)


def convert(text: str, to_lines: Convert) -> Converted:
    """Makes the lines of every record of a dump. A record that is malformed stops no other."""
    made = Converted()
    for place, record in read_records(text, made.left_out):
        try:
            if isinstance(record, Malformed):
                raise record
            made.lines += [_in_utf8(line) for line in to_lines(record, made.left_out)]
        except Malformed as reason:
            made.malformed.append((place, str(reason)))
    return made


def read_records(text: str, left_out: LeftOut | None = None) -> Iterator[Read]:
    """Reads the records of a JSON list, of an object that holds one, or of JSON lines. What a page says that is not on
    it is counted in ``left_out``."""
    try:
        whole = json.loads(text)
    except NO_JSON:
        yield from _lines(text)
        return
    listed, missing = _listed(whole)
    if left_out is not None:
        left_out.update(missing)
    for place, one in enumerate(listed, start=1):
        yield Read(place, one if isinstance(one, dict) else Malformed("is not an object"))


def _listed(whole: Any) -> tuple[list[Any], dict[str, int]]:
    """The records, and what the object around them says of others."""
    if not isinstance(whole, dict):
        return (whole if isinstance(whole, list) else [whole]), {}
    name = next((name for name in LISTS if isinstance(whole.get(name), list)), None)
    if name is None or (name == "messages" and whole.get("id")):
        return [whole], {}
    found = whole[name]
    missing = {f"{other} (a list beside {name})": len(rest) for other, rest in whole.items()
               if other != name and isinstance(rest, list) and rest}  # fmt: skip
    total = next((whole[one] for one in TOTALS if type(whole.get(one)) is int), len(found))
    if total > len(found):
        missing["records on other pages"] = total - len(found)
    elif any(whole.get(one) for one in FURTHER):
        missing["further pages"] = 1
    return found, missing


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


def _in_utf8(line: Record) -> str:
    """Writes a line as JSON. Raises Malformed for a lone surrogate, which is also what a byte outside UTF-8 was read
    as."""
    text = json.dumps(line, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Malformed("holds what is not UTF-8") from None
    return text


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
    return None if value is None else iso(moment_of(value, name))


def moment_of(value: Any, name: str) -> datetime:
    """Raises Malformed."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if value > MILLISECONDS else value, UTC)
        at = datetime.fromisoformat(value)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError, OSError):
        raise Malformed(f"{name} is not a time") from None


def iso(at: datetime) -> str:
    """Writes a moment as the service does: UTC with milliseconds."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def tags_of(value: Any, name: str) -> list[str]:
    """Raises Malformed for what is no list of texts."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise Malformed(f"{name} must be a list of texts")
    return list(dict.fromkeys(value))
