"""Tells of a record whether what it says still holds at its source: a store keeps in its dump what it no longer shows.

What does not is left out, and what will end some day ends in the line, too."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from neve_cli.importing.reading import LeftOut, Record, iso, moment_of

_ENDS = re.compile(r"(expir|invalid_?(at|from)|valid_?(until|to)|deleted_?at|archived_?at|superseded_?at|ends?_?at)")
"""Names of fields that hold the moment from which a record does not hold."""
_NOT = re.compile(r"(is_?)?(deleted|removed|archived|hidden|disabled|paused|expired|superseded|forgotten|invalid)")
"""Names that say it by themselves, where their value is true, or the id of what took the record's place."""
_HOLDS = re.compile(r"(is_?)?(active|enabled|valid|current)")
_STATE = ("state", "status")
_GOOD_STATES = ("active", "enabled", "current", "ready", "succeeded", "completed", "done", "add", "update", "none", "")
_BY = re.compile(r"(superseded|replaced|invalidated)_?by")
_TERMS = re.compile(r"immutable|do_?not|private|confidential|consent|retention|ttl")
"""Names of terms under which a record is kept at its source, which no line of an import has."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_LAST_YEAR = 2200
"""Of a time that the service takes: what ends later does not end."""


def holds(record: Record, left_out: LeftOut) -> bool:
    """Tells whether a record belongs into the lines. What does not, and terms that a line cannot have, are counted.
    Raises Malformed for an end that is no time."""
    reasons = [reason for name, value in record.items() if (reason := _reason(_snake(name), value))]
    for reason in reasons:
        if reason.startswith(LEFT):
            left_out[reason] += 1
            return False
    left_out.update(set(reasons))
    return True


def end_of(record: Record) -> str | None:
    """The first time from which the record does not hold, as a line has it; None where it names none. Raises
    Malformed."""
    named = ((_snake(name), value) for name, value in record.items())
    ends = [_end(value, name) for name, value in named if _is_end(name, value)]
    return iso(min(ends)) if ends and min(ends).year < _LAST_YEAR else None


def _is_end(name: str, value: Any) -> bool:
    return _ENDS.match(name) is not None and value not in (None, "", []) and not isinstance(value, bool)


LEFT = "memories that "


def _reason(name: str, value: Any) -> str | None:
    if value is None or value == "" or value == []:
        return None
    if _BY.fullmatch(name):
        return f"{LEFT}something else took the place of ({name})"
    if _NOT.fullmatch(name) and value is not False and value != 0:
        return f"{LEFT}no longer hold there ({name})"
    if _HOLDS.fullmatch(name) and value is False:
        return f"{LEFT}no longer hold there ({name}: false)"
    if name in _STATE and isinstance(value, str) and value.lower() not in _GOOD_STATES:
        return f"{LEFT}no longer hold there ({name}: {value[:40]})"
    if _is_end(name, value) and _end(value, name) <= datetime.now(UTC):
        return f"{LEFT}have expired ({name})"
    if _TERMS.match(name) and value is not False:
        return f"terms of memories ({name}); they are taken without"
    return None


def _snake(name: str) -> str:
    """``expiresAt`` is ``expires_at``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _end(value: Any, name: str) -> datetime:
    """The moment behind which a record does not hold: a day is over when it has passed."""
    whole_day = isinstance(value, str) and _DATE.fullmatch(value)
    return moment_of(value, name) + (timedelta(days=1) if whole_day else timedelta())
