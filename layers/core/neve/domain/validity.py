"""Say whether a memory or a document holds at a time (docs/rules/memories.md#validity). Pure. All times are in stored
form, whose order is that of time."""

from __future__ import annotations

from typing import Protocol

from neve.domain.errors import invalid

LAST_YEAR = 2200
"""The last year that a call takes in a time."""


class Valid(Protocol):
    """A row that says from when on it holds, and until when; None: always."""

    @property
    def valid_from(self) -> str | None: ...

    @property
    def valid_until(self) -> str | None: ...


def within(valid_from: str | None, valid_until: str | None, at: str) -> bool:
    """Say whether a time is in a span: from its beginning on, and before its end."""
    return (valid_from is None or valid_from <= at) and (valid_until is None or at < valid_until)


def holds_at(row: Valid, at: str) -> bool:
    return within(row.valid_from, row.valid_until, at)


def is_bounded(row: Valid) -> bool:
    """Say whether a row begins or ends: what is made of it beside others would not."""
    return row.valid_from is not None or row.valid_until is not None


def has_ended(row: Valid, at: str) -> bool:
    return row.valid_until is not None and row.valid_until <= at


def was_there(created_at: str, superseded_at: str | None, at: str) -> bool:
    """Say whether a row was there at a time, and had not been superseded by then."""
    return created_at <= at and (superseded_at is None or at < superseded_at)


def require_span(valid_from: str | None, valid_until: str | None, at: str = "") -> None:
    """Refuse an end that is not behind the beginning. ``at``: what the name of the field begins with. Raises 422."""
    if valid_from is not None and valid_until is not None and valid_until <= valid_from:
        raise invalid(f"{at}valid_until", f"must be later than valid_from ({valid_from})")
