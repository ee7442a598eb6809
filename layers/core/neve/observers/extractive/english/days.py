"""Holds what the rules of English dates share: names, numbers, the day that they count from, and how a resolved date is
written."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date, timedelta

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = tuple(
    re.findall(r"\w+", "january february march april may june july august september october november december")
)
SEASON_STARTS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_WORDS = re.findall(r"\w+", "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen")
NUMBERS = {"a": 1, "an": 1, "a couple of": 2, "couple of": 2, **{word: n for n, word in enumerate(_WORDS, start=1)}}
NUMBERS |= {"twenty": 20, "thirty": 30, "sixty": 60, "ninety": 90}

NUMBER = r"(?:\d{1,3}|" + "|".join(sorted(NUMBERS, key=len, reverse=True)) + ")"
DAY_NAME = "(?:" + "|".join(WEEKDAYS) + ")"
MONTH_NAME = "(?:" + "|".join(MONTHS) + ")"
MONTH_OF_DAY = rf"(?:{MONTH_NAME}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
"""Short where a day stands beside it: "Dec 5"."""
MONTH_DAY = (
    rf"{MONTH_OF_DAY}\s+\d{{1,2}}(?:st|nd|rd|th)?(?!\d|:\d)|\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{MONTH_OF_DAY}"
)
PART_OF_DAY = r"(?:\s+(?:morning|noon|afternoon|evening|night))?"


@dataclass(frozen=True, slots=True)
class Frame:
    """The frame in which a date is read: the day of the statement, and whether it speaks of the past."""

    today: date
    past: bool


Rule = Callable[[str, Frame, bool], str | None]
"""Reads a date from its words in lower case, a frame, and whether the words before make it a coming day; None leaves
the words alone."""


def on_day(day: date) -> str:
    return day.isoformat()


def span(first: date, last: date) -> str:
    return f"{first.isoformat()} to {last.isoformat()}"


def check_year(year: int) -> None:
    """Raise ValueError for a year that no date can have."""
    if not MINYEAR <= year <= MAXYEAR:
        raise ValueError(f"no date can have the year {year}")


def in_month(year: int, month: int, about: str = "") -> str:
    check_year(year)
    return f"{about}{year:04d}-{month:02d}"


def in_year(year: int, about: str = "") -> str:
    check_year(year)
    return f"{about}{year:04d}"


def month_end(year: int, month: int) -> date:
    return date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)


def months_from(day: date, months: int) -> tuple[int, int]:
    years, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return years, month + 1


def amount(words: str) -> tuple[int, str]:
    number, unit = words.strip().rsplit(None, 1)
    number = " ".join(number.split())
    return NUMBERS.get(number) or int(number), unit.rstrip("s")
