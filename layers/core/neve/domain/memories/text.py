"""Reads what the text of an observation says about itself: priority, dates, identity, and how it stands in a pack."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from datetime import date
from functools import lru_cache
from typing import Literal

from neve.domain.records.memories import Priority
from neve.domain.zones import local_day, local_time, zone

LINE_CHARACTERS = 10_000
"""Longest line of a stored row (docs/rules/observe.md#answer)."""
CACHED_STATEMENTS = 2_000
"""Some 1 MB. One message after the other of a conversation finds much the same memories."""

TimeOfDay = Literal["morning", "afternoon", "evening", "night"]

HIGHEST = "🔴"
"""Marks what no conversation should go without: an allergy, a standing wish."""
_HIGH = (HIGHEST, "✅")
_MEDIUM = "🟡"
_DROPPED_IN_PACK = re.compile("[🟡🟢]\ufe0f?")
_MARK = re.compile("^\\s*(?:🔴|✅|🟡|🟢)\ufe0f?\\s*")
_MEANING = re.compile(r"\(meaning\s[^()\n]{0,60}?(\d{4}-\d{2}-\d{2})(?!\d)", re.IGNORECASE)


def priority_of(text: str) -> Priority:
    """Read the priority of a text: 🔴 or ✅ anywhere is high, else 🟡 is medium, else low."""
    if any(mark in text for mark in _HIGH):
        return Priority.HIGH
    return Priority.MEDIUM if _MEDIUM in text else Priority.LOW


def for_pack(text: str) -> str:
    """Give the text as a pack shows it: without 🟡 and 🟢, runs of spaces as one, no blank lines."""
    lines = (" ".join(line.split()) for line in _DROPPED_IN_PACK.sub(" ", text).splitlines())
    return "\n".join(line for line in lines if line)


def statements_in(text: str) -> list[str]:
    """Give the lines of a memory without their marks."""
    return [said for line in text.splitlines() if (said := " ".join(_MARK.sub("", line).split()))]


def cap_lines(text: str) -> str:
    """Cut every line at ``LINE_CHARACTERS``, the ellipsis included."""
    return "\n".join(
        line if len(line) <= LINE_CHARACTERS else line[: LINE_CHARACTERS - 1] + "…" for line in text.split("\n")
    )


def observed_date(at: str, timezone: str) -> str:
    """Give the local calendar day (``2026-03-10``) of a stored time; an unknown time zone counts as UTC."""
    return local_day(at, timezone)


def time_of_day(at: str, timezone: str) -> TimeOfDay:
    """Name the part of a day: ``morning`` from 5, ``afternoon`` from 12, ``evening`` from 17, ``night`` from 22 o'clock
    local time."""
    hour = local_time(at, zone(timezone)).hour
    if 5 <= hour < 12:
        return "morning"
    if 12 <= hour < 17:
        return "afternoon"
    return "evening" if 17 <= hour < 22 else "night"


def referenced_date(text: str) -> str | None:
    """Give the first real date in a ``(meaning DATE)``, as ISO."""
    for found in _MEANING.finditer(text):
        try:
            return date.fromisoformat(found[1]).isoformat()
        except ValueError:
            continue
    return None


def relative_date(observed: str | None, referenced: str | None) -> str | None:
    """Say how far a referenced day is from the day on which it was spoken of, as an ISO 8601 duration: ``P1D`` for
    tomorrow, ``-P3D`` for three days before. None where one of them is unknown."""
    if observed is None or referenced is None:
        return None
    days = (date.fromisoformat(referenced) - date.fromisoformat(observed)).days
    return f"{'-' if days < 0 else ''}P{abs(days)}D"


def fingerprint(text: str) -> str:
    """Hash the NFC, case-folded, space-collapsed text (sha256, hex): the same statement has the same fingerprint."""
    folded = " ".join(unicodedata.normalize("NFC", text).casefold().split())
    return hashlib.sha256(folded.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=CACHED_STATEMENTS)
def statement_fingerprint(line: str) -> str:
    """Give the fingerprint of what a line says, without its mark and its final stop."""
    return fingerprint(_MARK.sub("", line).rstrip(" .!"))
