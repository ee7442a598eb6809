"""Rows of an observational-memory store as lines of an import (docs/integrating.md#from-other-stores).

Such a row has an id of its own, a kind, a priority, times in milliseconds, tags, and a text that may stand in
``<observation-group id="…" range="first:last">`` wrappers: what it was made from. The wrappers go, the ranges stay."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from neve_cli.importing.holding import end_of, holds
from neve_cli.importing.reading import LeftOut, Malformed, Record, first_of, tags_of, text_of, time_of

KINDS = ("observation", "reflection", "note", "manual")
PRIORITIES = ("high", "medium", "low")
_GROUP = re.compile(r"<observation-group\b([^>]*)>(.*?)</observation-group>", re.DOTALL)
_LOOSE = re.compile(r"</?observation-group\b[^>]*>")
_RANGE = re.compile(r"([0-9]{1,10}):([0-9]{1,10})")
MAX_SEQ = 10**9
"""Of a range that an import takes (``Seq``); the time of a message in milliseconds is beyond it."""
_ATTRIBUTE = re.compile(r'([\w-]+)\s*=\s*"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Group:
    """``first`` and ``last``: of the range, where both are numbers of messages."""

    text: str
    first: int | None
    last: int | None
    kind: str | None

    def passage(self) -> dict[str, Any]:
        return {"text": self.text} | ({"seq_from": self.first, "seq_to": self.last} if self.first else {})


def observation_lines(record: Record, left_out: LeftOut) -> Iterator[Record]:
    """Makes the line of a row; none for one that no longer holds, which is counted. Raises Malformed."""
    line = observation_line(record)
    if holds(record, left_out):
        end = end_of(record)
        yield {**line, "valid_until": end} if end else line


def observation_line(record: Record) -> Record:
    """Raises Malformed."""
    content = text_of(first_of(record, "content", "text", "observation"), "content")
    groups = groups_of(content)
    text = "\n".join(group.text for group in groups)
    if not text.strip():
        raise Malformed("content holds nothing but wrappers")
    line: dict[str, Any] = {
        "id": first_of(record, "id", "_id"),
        "text": text,
        "kind": _one_of(KINDS, _kind(record, groups), "kind"),
        "priority": _one_of(PRIORITIES, first_of(record, "priority"), "priority"),
        "tags": tags_of(first_of(record, "tags"), "tags"),
        "label": first_of(record, "label", "project"),
        "created_at": time_of(first_of(record, "createdAt", "created_at"), "createdAt"),
        "observed_at": time_of(first_of(record, "observedAt", "observed_at"), "observedAt"),
        "last_used_at": time_of(first_of(record, "lastUsedAt", "last_used_at"), "lastUsedAt"),
        "provenance": _origin(groups),
    }
    if len(groups) > 1:
        line["passages"] = [group.passage() for group in groups]
    return {name: value for name, value in line.items() if value not in (None, [], {})}


def groups_of(content: str) -> list[Group]:
    """The parts of a text in their order, each without its wrapper; what stands between wrappers has no range."""
    parts: list[Group] = []
    end = 0
    for found in _GROUP.finditer(content):
        parts += _plain(content[end : found.start()])
        attributes = dict(_ATTRIBUTE.findall(found[1]))
        first, last = _range(attributes.get("range", ""))
        body = _LOOSE.sub("", found[2]).strip()
        if body:
            parts.append(Group(body, first, last, attributes.get("kind")))
        end = found.end()
    return parts + _plain(content[end:])


def _plain(text: str) -> list[Group]:
    rest = _LOOSE.sub("", text).strip()
    return [Group(rest, None, None, None)] if rest else []


def _range(text: str) -> tuple[int, int] | tuple[None, None]:
    """Of message numbers. Ids of messages, be they numbers, are no places in a log of ours: such a range is left
    out."""
    found = _RANGE.fullmatch(text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]) <= MAX_SEQ:
        return None, None
    return int(found[1]), int(found[2])


def _origin(groups: list[Group]) -> dict[str, int]:
    """The range of the row: that of all its groups, if every one has one."""
    if not groups or any(group.first is None for group in groups):
        return {}
    firsts, lasts = [group.first or 0 for group in groups], [group.last or 0 for group in groups]
    return {"seq_from": min(firsts), "seq_to": max(lasts)}


def _kind(record: Record, groups: list[Group]) -> Any:
    given = first_of(record, "kind", "type")
    if given is not None:
        return given
    return "reflection" if any(group.kind == "reflection" for group in groups) else "observation"


def _one_of(known: tuple[str, ...], value: Any, name: str) -> str | None:
    if value is not None and value not in known:
        raise Malformed(f"{name} must be one of {', '.join(known)}")
    return value  # type: ignore[no-any-return]
