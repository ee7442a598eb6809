"""English days that need the words beside them: ``Friday next week``, ``next month on the 20th``, ``in June last
year``, ``the second Saturday in March``, ``the Sunday before last``. Read by themselves both halves would be dates, and
one of them a wrong one. What counts from something else ("the Friday before Easter") is left alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from neve.observers.extractive.english.days import (
    DAY_NAME,
    MONTH_DAY,
    MONTH_NAME,
    MONTH_OF_DAY,
    MONTHS,
    NUMBER,
    PART_OF_DAY,
    WEEKDAYS,
    Frame,
    Rule,
    amount,
    in_month,
    in_year,
    month_end,
    months_from,
    on_day,
    span,
)

_WHICH = r"(?:last|this|next)"
_STEPS = {"last": -1, "this": 0, "next": 1}
_NTH = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "1st": 0, "2nd": 1, "3rd": 2, "4th": 3, "5th": 4}
_LAST = -1
_NTHS = "(?:" + "|".join((*_NTH, "last")) + ")"
_ORDINAL = r"\d{1,2}(?:st|nd|rd|th)"
_FEASTS = "(?:good|holy|maundy|easter|palm|ash|shrove|whit|boxing|black|cyber|giving|super)"
_UNMOVED = "".join(f"(?<!{word} )" for word in ("moved", "changed", "postponed", "pushed", "rescheduled", "shifted"))
"""``moved from Saturday to Sunday`` is no span."""
_TO = r"\s*(?:\bto\b|\btill\b|\buntil\b|\bthrough\b|\bthru\b|[-–—])\s*"
_RANGE_JOINT = re.compile(rf"{_TO}|\s+and\s+")
_DAY = rf"(?:the\s+)?(?:{MONTH_DAY})"
_DAY_ONLY = r"the\s+\d{1,2}(?:st|nd|rd|th)"
_NUMBER_ONLY = r"(?:the\s+)?\d{1,2}(?:st|nd|rd|th)?"
_NO_YEAR = r"(?!\d|,?\s+\d{4}|[:.]\d|%|\s*(?:percent|years?|euros?|dollars?|people|hours?|minutes?)\b)"
_YEAR = 366
_UNITS = "(?:week|weekend|month|year)"


def _step(words: str, unit: str) -> int:
    """Return -1, 0 or 1 for the last, this and the next ``unit``."""
    found = re.search(rf"\b({_WHICH})\s+{unit}\b", words)
    return _STEPS[found[1]] if found else 0


def _weekday_in(words: str) -> int:
    return next(n for n, name in enumerate(WEEKDAYS) if name in words)


def _month_in(words: str) -> int:
    """Return the month that is named (1-12), also where its name is short."""
    return 1 + next(n for n, name in enumerate(MONTHS) if re.search(rf"\b{name[:3]}", words))


def _number_in(words: str) -> int:
    return int(re.findall(r"\d+", words)[0])


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _day_of_week(words: str, frame: Frame, ahead: bool) -> str:
    del ahead
    ago = re.search(rf"{NUMBER}\s+weeks?(?=\s+ago)", words)
    weeks = -amount(ago[0])[0] if ago else _step(words, "week")
    return on_day(_monday(frame.today) + timedelta(weeks=weeks, days=_weekday_in(words)))


def _days(words: str, frame: Frame, ahead: bool) -> str:
    """Resolve "from one weekday to another": both the latest, or both the coming ones."""
    first, last = (_weekday_in(part) for part in words.split(None, 2)[1:])
    today = frame.today
    length = timedelta(days=(last - first) % 7)
    if frame.past and not ahead:
        end = today - timedelta(days=(today.weekday() - last) % 7)
        return span(end - length, end)
    start = today + timedelta(days=(first - today.weekday() - 1) % 7 + 1)
    return span(start, start + length)


def _range(words: str, frame: Frame, ahead: bool) -> str | None:
    """Resolve a range of days, of which one may lack its month: the latest that is over, or the first that is not. The
    nearest in eight years: February 29 is no day of every year."""
    first, last = _RANGE_JOINT.split(re.sub(r"^(?:from|between)\s+", "", words), maxsplit=1)
    today, past = frame.today, frame.past and not ahead
    if _has_month(last) or not _has_month(first):
        spans = ((_nearest(first, end, -1), end) for end in _days_like(last, today, -1 if past else 1))
    else:
        starts = _days_like(first, today if past else today - timedelta(days=31), -1 if past else 1)
        spans = ((start, _nearest(last, start, 1)) for start in starts)
    return next((_within_a_year(a, b) for a, b in spans if (b <= today if past else b >= today)), None)


def _within_a_year(first: date, last: date) -> str | None:
    return span(first, last) if (last - first).days <= _YEAR else None


def new_day(words: str, before: str) -> tuple[str, str, str]:
    """Read a day that was moved ``from the 12th to the 3rd of March``, which is no range: return the kind and the words
    of the new day, and the words before them."""
    first, last = _RANGE_JOINT.split(words, maxsplit=1)
    return ("monthday" if _has_month(last) else "monthdate"), last, f"{before}{first} to "


def _months(words: str, frame: Frame, ahead: bool) -> str:
    """Resolve "from one month to another": both the latest that are over, or the first that are not."""
    first, last = (_month_in(part) for part in words.split(None, 2)[1:])
    today, past = frame.today, frame.past and not ahead
    year = today.year + (-1 if past and last > today.month else 1 if not past and last < today.month else 0)
    return f"{in_month(year - (first > last), first)} to {in_month(year, last)}"


def _nearest(words: str, day: date, step: int) -> date:
    return next(_days_like(words, day, step))


def _days_like(words: str, day: date, step: int) -> Iterator[date]:
    """Yield the days that ``words`` may mean, from ``day`` on, this included, into the future or the past. Raises
    ValueError."""
    number, month = _number_in(words), _month_in(words) if _has_month(words) else None
    for months in range(0, 97 * step, step):
        year, of_year = months_from(day, months)
        if (month or of_year) == of_year and 1 <= number <= month_end(year, of_year).day:
            found = date(year, of_year, number)
            if (found - day).days * step >= 0:
                yield found
    raise ValueError(f"{words} is no day")


def _has_month(words: str) -> bool:
    return re.search(MONTH_OF_DAY, words) is not None


def _day_of_month(words: str, frame: Frame, ahead: bool) -> str:
    del ahead
    return on_day(date(*months_from(frame.today, _step(words, "month")), _number_in(words)))


def _nth_weekday(words: str, frame: Frame, ahead: bool) -> str | None:
    """Resolve the nth weekday of a month that is named, or of the last, this or the next one; "of every month" is no
    date."""
    if re.search(rf"\b{_WHICH}\s+month\b", words):
        return on_day(_nth_of(words, *months_from(frame.today, _step(words, "month"))))
    if not re.search(rf"\b{MONTH_NAME}\b", words):
        return None
    step = -1 if frame.past and not ahead else 1
    for year in range(frame.today.year, frame.today.year + 2 * step, step):
        day = _nth_of(words, year, _month_in(re.sub(DAY_NAME, "", words)))
        if step * (day - frame.today).days >= 0:
            return on_day(day)
    return None


def _nth_of(words: str, year: int, month: int) -> date:
    """Return the nth weekday of a month. Raises ValueError where the month has no fifth one."""
    wanted, nth = _weekday_in(words), _NTH.get(words.split()[1], _LAST)
    first, last = date(year, month, 1), month_end(year, month)
    if nth == _LAST:
        return last - timedelta(days=(last.weekday() - wanted) % 7)
    return date(year, month, 1 + (wanted - first.weekday()) % 7 + 7 * nth)


def _year_of(words: str, today: date) -> int:
    ago = re.search(rf"{NUMBER}\s+years?(?=\s+ago)", words)
    return today.year + (-amount(ago[0])[0] if ago else _step(words, "year"))


def _month_of_year(words: str, frame: Frame, ahead: bool) -> str:
    del ahead
    return in_month(_year_of(words, frame.today), _month_in(words))


def _month_day_of_year(words: str, frame: Frame, ahead: bool) -> str:
    del ahead
    return on_day(date(_year_of(words, frame.today), _month_in(words), _number_in(words)))


def _two_away(words: str, frame: Frame, ahead: bool) -> str:
    """Resolve the week, weekend, month or year after the next, or before the last."""
    del ahead
    step = -2 if "before" in words else 2
    monday = _monday(frame.today) + timedelta(weeks=step)
    if "weekend" in words:
        return span(monday + timedelta(days=5), monday + timedelta(days=6))
    if "week" in words:
        return _or_end(words, monday, monday + timedelta(days=6))
    if "month" in words:
        year, month = months_from(frame.today, step)
        return on_day(month_end(year, month)) if "end" in words else in_month(year, month)
    year = frame.today.year + step
    return on_day(date(year, 12, 31)) if "end" in words else in_year(year)


def _or_end(words: str, first: date, last: date) -> str:
    return on_day(last) if "end" in words else span(first, last)


def _day_before_last(words: str, frame: Frame, ahead: bool) -> str:
    del ahead
    if "night" in words:
        return on_day(frame.today - timedelta(days=2))
    return on_day(frame.today - timedelta(days=(frame.today.weekday() - _weekday_in(words) - 1) % 7 + 8))


def _from_tomorrow(words: str, frame: Frame, ahead: bool) -> str:
    del ahead
    number, unit = amount(words.split(" from ")[0])
    return on_day(frame.today + timedelta(days=1 + number * (7 if unit == "week" else 1)))


def _resolve_nothing(words: str, frame: Frame, ahead: bool) -> None:
    """Resolve nothing; the words are no dates one by one either."""
    del words, frame, ahead


PATTERNS: dict[str, tuple[str, Rule]] = {
    "day_of_week": (
        rf"{_WHICH}\s+week(?:,?\s+on)?\s+{DAY_NAME}{PART_OF_DAY}(?!s\b|['’]|\s+the\s+\d)"
        rf"|{DAY_NAME}{PART_OF_DAY}\s+(?:of\s+)?{_WHICH}\s+week"
        rf"|{NUMBER}\s+weeks?\s+ago(?:\s+on)?(?:\s+a)?\s+{DAY_NAME}{PART_OF_DAY}",
        _day_of_week,
    ),
    "days": (rf"{_UNMOVED}from\s+{DAY_NAME}\s+(?:to|till|until|through)\s+{DAY_NAME}", _days),
    "range": (
        rf"{_UNMOVED}(?:(?:from\s+)?(?:{_DAY}{_TO}{_DAY}|(?:the\s+)?{_ORDINAL}{_TO}{_DAY}|\d{{1,2}}\s?[-–—]\s?{_DAY}"
        rf"|{_DAY}{_TO}{_NUMBER_ONLY})|from\s+{_NUMBER_ONLY}{_TO}{_DAY}){_NO_YEAR}"
        rf"|{_UNMOVED}from\s+{_DAY_ONLY}{_TO}{_DAY_ONLY}(?!\s+of\b)"
        rf"|between\s+(?:(?:{_DAY}|{_NUMBER_ONLY})\s+and\s+{_DAY}|{_DAY}\s+and\s+{_NUMBER_ONLY}"
        rf"|{_DAY_ONLY}\s+and\s+(?:the\s+)?{_ORDINAL}){_NO_YEAR}(?!\s+(?:floor|street|grade|place|edition)\b)",
        _range,
    ),
    "months": (rf"{_UNMOVED}from\s+{MONTH_NAME}{_TO}{MONTH_NAME}(?!,?\s+\d|\s+of\b)", _months),
    "day_of_month": (
        rf"{_WHICH}\s+month,?\s+on\s+the\s+{_ORDINAL}(?!\s+(?:of|floor))"
        rf"|(?:on\s+)?the\s+{_ORDINAL}\s+of\s+{_WHICH}\s+month",
        _day_of_month,
    ),
    "nth_weekday": (
        rf"the\s+{_NTHS}\s+{DAY_NAME}{PART_OF_DAY}"
        rf"(?:\s+(?:in|of)\s+(?:{MONTH_NAME}(?!,?\s+\d)|(?:the|{_WHICH}|every|each|a)\s+month))?",
        _nth_weekday,
    ),
    "month_of_year": (
        rf"{_WHICH}\s+year,?\s+in\s+{MONTH_NAME}(?!,?\s+\d)|(?:in\s+{MONTH_NAME}|{MONTH_NAME}\s+of)\s+{_WHICH}\s+year"
        rf"|in\s+{MONTH_NAME}\s+of\s+{_WHICH}\s+year"
        rf"|{NUMBER}\s+years?\s+ago,?\s+in\s+{MONTH_NAME}(?!,?\s+\d)|in\s+{MONTH_NAME}\s+{NUMBER}\s+years?\s+ago",
        _month_of_year,
    ),
    "monthday_of_year": (
        rf"{_WHICH}\s+year,?\s+on\s+(?:the\s+)?(?:{MONTH_DAY})(?!\d|,?\s+\d{{4}}|:\d)"
        rf"|(?:{MONTH_DAY})\s+(?:of\s+)?{_WHICH}\s+year",
        _month_day_of_year,
    ),
    "two_away": (
        rf"(?:(?:over|at|on|during)\s+)?(?:(?:the\s+)?(?:very\s+)?end\s+of\s+)?(?:the\s+)?{_UNITS}"
        r"\s+(?:after\s+next|before\s+last)",
        _two_away,
    ),
    "before_last": (rf"(?:on\s+)?(?:the\s+)?(?:{DAY_NAME}|night)\s+before\s+last", _day_before_last),
    "from_tomorrow": (rf"{NUMBER}\s+(?:day|week)s?\s+from\s+tomorrow{PART_OF_DAY}", _from_tomorrow),
    "counted_from": (
        rf"the\s+{DAY_NAME}{PART_OF_DAY}\s+(?:before|after)(?!\s+(?:next|last)\b)|{_FEASTS}\s+{DAY_NAME}",
        _resolve_nothing,
    ),
}
