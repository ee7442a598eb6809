"""Read when a statement stops holding, where it names its own end: *until*, *through* or *by* a date, and *for the
next* so many days (docs/rules/observe.md#extractive). The dates are those that ``dates.annotate`` has resolved."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

from neve.domain.validity import LAST_YEAR
from neve.observers.extractive.english.dates import is_date, speaks_of_past
from neve.observers.extractive.english.days import MONTH_DAY, MONTHS, NUMBER, amount, month_end, months_from
from neve.observers.extractive.english.person import as_said

_UP_TO = r"\b(?:until|till|through|by)"
_RESOLVED = re.compile(
    rf"{_UP_TO}\s+(?P<words>(?:(?!{_UP_TO}\b)[^()])+?)\s*\(meaning (?P<meaning>[^)]+)\)", re.IGNORECASE
)
_WRITTEN = re.compile(
    rf"{_UP_TO}\s+(?:the\s+)?(?:(?P<iso>\d{{4}}-\d\d-\d\d)|(?P<day>{MONTH_DAY}),?\s+(?P<year>\d{{4}}))\b", re.IGNORECASE
)
_FOR_THE_NEXT = re.compile(
    rf"\bfor the next\s+(?:(?P<number>{NUMBER})\s+)?(?P<unit>hour|day|week|month|year)s?\b", re.IGNORECASE
)


_JOINS = re.compile(
    r";|\b(?:and|or|but|although|though|whereas|however|while|yet|otherwise|except|unless)\b", re.IGNORECASE
)
_TWO_NAMES = re.compile(r"\b[A-Z][\w'-]* (?:and|or) [A-Z][\w'-]*")
_BESIDE = re.compile(
    r"\s*(?:\w+ing|so|because|since|as|which|where|with|at|in|on|for|to|until|till|through|by|\d\S*)\b", re.IGNORECASE
)
_OF_A_CLAUSE = 3
"""Words from which on what stands between commas may be a clause of its own."""


def end_of(statement: str, said_at: datetime) -> datetime | None:
    """Return the end of a statement that was made at a local time: that of the day or the period that it names, at
    midnight there. None where it names none, or one that is over, or tells of the past, and where it may say something
    else that lasts: "I'm vegan, but until Friday I eat fish"."""
    spoken = as_said(statement)
    words = spoken[1] if spoken else statement
    if speaks_of_past(words) or _JOINS.search(_TWO_NAMES.sub("", words)):
        return None
    try:
        end = _end_of_span(words, said_at) or _end_of_day(words, said_at)
    except (OverflowError, ValueError):
        return None  # a day that there is not
    return end if end is not None and end > said_at and end.year < LAST_YEAR else None


def _end_of_span(words: str, said_at: datetime) -> datetime | None:
    found = _FOR_THE_NEXT.search(words)
    if found is None or _says_more(words, found.start()):
        return None
    number, unit = amount(f"{(found['number'] or 'one').lower()} {found['unit'].lower()}")
    today = said_at.date()
    if unit == "hour":
        return said_at + timedelta(hours=number)
    if unit in ("day", "week"):
        return _midnight_behind(today + timedelta(days=number * (7 if unit == "week" else 1)), said_at)
    year, month = months_from(today, number * (12 if unit == "year" else 1))
    return _midnight_behind(min(date(year, month, 1) + timedelta(days=today.day - 1), month_end(year, month)), said_at)


def _end_of_day(words: str, said_at: datetime) -> datetime | None:
    for found in _RESOLVED.finditer(words):
        day = _last_day(found["meaning"]) if is_date(words, *found.span("words")) else None
        if day is not None and not _says_more(words, found.start()):
            return _midnight_behind(day, said_at)
    written = _WRITTEN.search(words)
    if written is None or _says_more(words, written.start()):
        return None
    iso = written["iso"]
    day = date.fromisoformat(iso) if iso else _day(written["day"].lower(), int(written["year"]))
    return _midnight_behind(day, said_at)


def _last_day(meaning: str) -> date | None:
    """Return the last day of a resolved date; None for one that is not known to a month."""
    last = meaning.rpartition(" to ")[2]
    if re.fullmatch(r"\d{4}-\d\d-\d\d", last):
        return date.fromisoformat(last)
    if re.fullmatch(r"\d{4}-\d\d", last):
        return month_end(*map(int, last.split("-")))
    return None


def _day(words: str, year: int) -> date:
    month = 1 + next(n for n, name in enumerate(MONTHS) if re.search(rf"\b{name[:3]}|\d{name[:3]}", words))
    return date(year, month, int(re.findall(r"\d+", words)[0]))


def _midnight_behind(day: date, said_at: datetime) -> datetime:
    return datetime.combine(day + timedelta(days=1), time.min, said_at.tzinfo)


def _says_more(words: str, at: int) -> bool:
    """Say whether there is another clause between commas than the one in which the end is named ``at`` a place."""
    parts = words.split(",")
    own = words.count(",", 0, at)
    others = [part for n, part in enumerate(parts) if n != own and len(part.split()) >= _OF_A_CLAUSE]
    if own + 1 < len(parts) and len(words[at:].split(",")[0].split()) == len(parts[own].split()):
        others = [part for part in others if part is not parts[own + 1]]  # "Until Friday, I'm in Rome"
    return not all(map(_BESIDE.match, others))
