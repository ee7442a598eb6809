"""Time zones by name, as the user's client sent them."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from neve.domain.times import iso, parse

_NOT_IANA = frozenset({"localtime", "posixrules", "Factory"})
_OTHER_CLOCKS = ("posix/", "right/")
"""The names that a machine's database may hold beside the zones: its own time, a zone that is none, and the zones once
more, below ``right/`` on a clock that counts leap seconds. Another machine has none of them."""


@lru_cache(maxsize=64)
def zone(name: str) -> ZoneInfo:
    """Find the IANA zone called ``name``; UTC when there is none, so that a client's odd value never stops an
    observation."""
    return _named(name) or ZoneInfo("UTC")


def is_zone(name: str) -> bool:
    return _named(name) is not None


def _named(name: str) -> ZoneInfo | None:
    if name in _NOT_IANA or name.startswith(_OTHER_CLOCKS):
        return None
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # not a zone; a path outside the database; an unreadable one
        return None


def local_time(stored: str, tz: ZoneInfo) -> datetime:
    """Give a stored time on the clock of ``tz``; in UTC at the very edges of the calendar, where the offset leads out
    of it."""
    at = parse(stored)
    try:
        return at.astimezone(tz)
    except OverflowError:
        return at


def day_end(day: str, timezone: str) -> str:
    """Give the stored time at which a local day (``2026-03-10``) is over: midnight behind it."""
    behind = date.fromisoformat(day) + timedelta(days=1)
    return iso(datetime.combine(behind, time.min, zone(timezone)))


def local_day(stored: str, timezone: str) -> str:
    """Give the calendar day (``2026-03-10``) of a stored time in the zone of that name, as a prompt tells it: a model
    that is told the user's time takes every day for one of theirs."""
    return local_time(stored, zone(timezone)).date().isoformat()
