"""Times as they are stored and sent: RFC 3339, UTC, milliseconds. The fixed width makes string order time order."""

from __future__ import annotations

from datetime import UTC, datetime

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def iso(at: datetime) -> str:
    """Write a time: ``2026-03-10T09:30:00.000Z``."""
    utc = at if at.tzinfo is UTC else at.astimezone(UTC)
    return utc.isoformat(timespec="milliseconds")[: -len("+00:00")] + "Z"


def parse(text: str) -> datetime:
    """Read what ``iso`` wrote; any RFC 3339 time with an offset is accepted. Raises ValueError."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"time without an offset: {text}")
    return at if at.tzinfo is UTC else at.astimezone(UTC)


def epoch_ms(text: str) -> int:
    """Give the milliseconds since 1970 of a stored time."""
    at = parse(text)
    return int(at.timestamp()) * 1000 + at.microsecond // 1000
