"""Relative dates in English statements, resolved against the local day on which they were said
(docs/rules/observe.md#extractive).

``annotate`` puts the resolved date behind the words: ``tomorrow (meaning 2026-03-11)``, ``last weekend (meaning
2026-03-07 to 2026-03-08)``, ``two months ago (meaning about 2026-01)``. A day goes by the verb of its own clause: "I
signed the lease, moving on the 10th". Conventions where English has two: weeks run from Monday to Sunday; "next Friday"
is the Friday of the next week; "last Friday" is the latest Friday before today; a bare "on Friday" is the latest one in
a statement about the past, else the coming one. Recurring dates ("every Monday", "my birthday is on June 3"),
durations, what counts from something else and two dates of which one restricts the other ("in May next year") are left
alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from neve.observers.extractive.english.days import (
    DAY_NAME,
    MONTH_DAY,
    MONTH_NAME,
    MONTH_OF_DAY,
    MONTHS,
    NUMBER,
    PART_OF_DAY,
    SEASON_STARTS,
    WEEKDAYS,
    Frame,
    Rule,
    amount,
    check_year,
    in_month,
    in_year,
    month_end,
    months_from,
    on_day,
    span,
)
from neve.observers.extractive.english.verbs import is_past_form
from neve.observers.extractive.english.vocabulary import any_of

_EXPLICIT_NEXT = rf"(?!,?\s+(?:the\s+)?\d|,?\s+{MONTH_NAME}|s\b|'s?\b|’|\s+(?:morning|noon|afternoon|evening|night)s\b)"


@dataclass(frozen=True, slots=True)
class Dated:
    """A statement with its dates resolved. ``found``: it had any."""

    text: str
    found: bool


def annotate(text: str, today: date) -> Dated:
    """Put behind every relative date of one statement what it means. Years outside 1-9999 are left alone."""
    whole = speaks_of_past(text)
    found = False

    def resolved(match: re.Match[str]) -> str:
        nonlocal found
        kind, words = str(match.lastgroup), match[0].lower()
        before, after = text[: match.start()], text[match.end() :]
        if recurring and kind in _CALENDAR_KINDS and not words.startswith(_WHICH_ONE):
            return match[0]
        if _BESIDE.search(before) or _BESIDE_IT.match(after) or (kind == "range" and _MOVED.search(before)):
            return match[0]
        frame = Frame(today, _past_in_clause(before, after, whole=whole))
        try:
            meaning = _RULES[kind](words, frame, _leans_ahead(before))
        except (OverflowError, ValueError):
            meaning = None
        if meaning is None:
            return match[0]
        found = True
        return f"{match[0]} (meaning {meaning})"

    recurring = _RECURRING.search(text) is not None
    annotated = _PHRASE.sub(resolved, text)
    return Dated(annotated, found)


def is_date(text: str, first: int, end: int) -> bool:
    """Say whether a part of a statement is a date that is resolved, and nothing else."""
    return _PHRASE.fullmatch(text, first, end) is not None


def speaks_of_past(text: str) -> bool:
    """Say whether the first thing that a statement's verbs tell about is over."""
    if _FUTURE.search(text):
        return False
    return _tells_past(text)


def _past_in_clause(before: str, after: str, *, whole: bool) -> bool:
    """Say whether the clause that a date stands in tells of the past; a clause without a verb that tells goes by the
    ``whole`` statement: "I signed on the 3rd and will move in May"."""
    if _SINCE.search(before):
        return True
    clause = f"{_CLAUSE.split(before)[-1]} {_CLAUSE.split(after)[0]}"
    return not _FUTURE.search(clause) and (whole or _tells_past(clause))


_HAS_GOT = re.compile(r"(?:'ve|'s|\bhave|\bhas) got\b|\b(?:i|we) meant\b")
"""Tells nothing of the past: ``I've got an appointment on Tuesday``, ``I meant Friday``"""
_SINCE = re.compile(r"\b(?:ever )?since(?: (?:the|on))?\s*$", re.IGNORECASE)
_MOVED = re.compile(
    r"\b(?:moved|pushed|postponed|delayed|rescheduled|changed|shifted|brought forward)\b[^,;]*$", re.IGNORECASE
)
_CLAUSE = re.compile(r"[,;:]|\s[-–—]\s|\b(?:and|but|because|so|then)\b", re.IGNORECASE)
_FUTURE = re.compile(
    r"\b"
    + any_of(
        "will won't gonna must let's due remind tomorrow tonight next upcoming",
        "going to|(?:plans?|planning|wants?|hopes?|hoping|needs?|have|has) to|about to|looking forward|can't wait",
        "would like|'d like|was wondering if|was hoping to|help me",
    )
    + r"\b|'ll\b",
    re.IGNORECASE,
)
_RECURRING = re.compile(
    r"\b(?:every|each|birthdays?|anniversar(?:y|ies)|born|annually|yearly|weekly|usually|most)\b"
    rf"|\b(?:works?|opens?|teach(?:es)?|attends?|shifts?|classes)\b.*\b{DAY_NAME}\s+(?:to|till|until|through)\s+{DAY_NAME}\b",
    re.IGNORECASE,
)
_CALENDAR_KINDS = frozenset({"weekday", "range", "month", "monthday", "monthdate", "end"})
_WHICH_ONE = ("next", "last", "this", "past", "coming")
_AHEAD_OF_DATE = re.compile(
    r"\b(?:for|by|until|till|before|due|starting|starts|from|beginning|scheduled"
    r"|(?:moved|pushed|postponed|delayed|rescheduled|changed|shifted|brought forward)\b.*\bto)(?:\s+(?:on|the))?\s*$",
    re.IGNORECASE,
)


_ARRANGED = re.compile(
    r"\b"
    + any_of(
        "booked reserved scheduled rescheduled planned promised arranged registered agreed decided invited",
        "signed (?:\\w+ )?up|(?:got|made|gave (?:me|us)) (?:an appointment|a reservation|a booking|an invitation)"
        "|(?:got|bought|have) (?:\\w+ ){0,2}(?:tickets?|flights?|seats)",
    )
    + r"\b",
    re.IGNORECASE,
)
"""What is arranged is still to come, although it was arranged in the past: "I booked a table on Friday"."""


_OCCASION = any_of(
    "delivery wedding deadline appointment interview surgery exam closing pickup departure arrival start launch",
    "pick-up party flight meeting housewarming due",
)
_STARTS = any_of("leave start begin fly go come return arrive move get meet pick finish end travel")
_PLANNED = re.compile(
    rf"(?:(?:\b(?:am|is|are)|'(?:m|re)|\b(?:he|she|it|that)'s)\s+(?:\w+\s+)?\w+ing"
    rf"|(?<!did )\b(?:i|we|they|and|but|then)\s+{_STARTS}|[,;–—-]\s*(?:(?:and|with|the|my|our|a)\s+)*{_OCCASION}"
    r"|[,;–—-]\s*(?:and\s+|now\s+)?\w+ing|\b"
    + any_of(
        "starts begins ends opens closes arrives leaves comes returns lands departs expires gets goes picks runs moves",
        "finishes happens takes",
    )
    + r")\b(?P<between>[^,;]{0,40})$"
    r"|(?<!who )(?<!which )(?<!that )\b(?:is|are|it's|that's)(?:\s+\w+)?(?:\s+(?:on|in|at))?(?:\s+the)?\s*$",
    re.IGNORECASE,
)
"""What is still to come is told in the present, whenever it was heard of: "Mom said the party is on Saturday"; or with
its noun alone: "I sold the car, pick-up on Friday"."""


def _leans_ahead(before: str) -> bool:
    """Say whether the words in front of a date make it a coming one: booked for Friday, due by Monday, said it is on
    Saturday."""
    if _AHEAD_OF_DATE.search(before):
        return True
    behind = [before[found.end() :] for found in _ARRANGED.finditer(before)][-1:]
    behind += [found["between"] or "" for found in _PLANNED.finditer(before)]
    return not all(map(_tells_past, behind))


def _tells_past(words: str) -> bool:
    return any(map(is_past_form, re.findall(r"[a-z']+", _HAS_GOT.sub(" ", words.lower()))))


# --- rules --------------------------------------------------------------------------------------


def _named_day(words: str, frame: Frame, ahead: bool) -> str:
    del ahead
    if "day after tomorrow" in words:
        return on_day(frame.today + timedelta(days=2))
    if "day before yesterday" in words:
        return on_day(frame.today - timedelta(days=2))
    if "tomorrow" in words:
        return on_day(frame.today + timedelta(days=1))
    if "yesterday" in words or words.startswith("last night"):
        return on_day(frame.today - timedelta(days=1))
    return on_day(frame.today)


def _ago(words: str, frame: Frame, ahead: bool) -> str:
    del ahead
    number, unit = amount(words.removesuffix("ago"))
    return _shifted(frame.today, -number, unit)


def _from_now(words: str, frame: Frame, ahead: bool) -> str | None:
    del ahead
    if frame.past:
        return None  # "finished it in two weeks" is a duration
    number, unit = amount(re.sub(r"^in\s+|\s+from\s+(?:now|today)|['’]?s?['’]?\s+time", "", words))
    return _shifted(frame.today, number, unit)


def _shifted(today: date, number: int, unit: str) -> str:
    """Resolve a date so many units away. Days are exact, and weeks nearly so; "three months ago" and "a year ago" say
    the month, more years the year."""
    if unit == "day":
        return on_day(today + timedelta(days=number))
    if unit == "week":
        day = today + timedelta(weeks=number)
        return f"about {day.isoformat()}"
    if unit == "month":
        return in_month(*months_from(today, number), about="about ")
    if abs(number) == 1:
        return in_month(today.year + number, today.month, about="about ")
    return in_year(today.year + number, about="about ")


def _weekday(words: str, frame: Frame, ahead: bool) -> str:
    wanted = next(n for n, name in enumerate(WEEKDAYS) if name in words)
    monday = frame.today - timedelta(days=frame.today.weekday())
    latest = frame.today - timedelta(days=(frame.today.weekday() - wanted - 1) % 7 + 1)
    coming = frame.today + timedelta(days=(wanted - frame.today.weekday() - 1) % 7 + 1)
    if re.match(r"(?:last|this past|past)\b", words):
        return on_day(latest)
    if words.startswith("next"):
        return on_day(monday + timedelta(days=7 + wanted))
    if re.match(r"this\s+(?!coming)", words):
        return on_day(monday + timedelta(days=wanted))
    if re.match(r"(?:this )?coming", words):
        return on_day(coming)
    return on_day(latest if frame.past and not ahead else coming)


def _day_of_week(words: str, frame: Frame, ahead: bool) -> str:
    del ahead
    monday = frame.today - timedelta(days=frame.today.weekday())
    day = next(n for n, name in enumerate(WEEKDAYS) if name in words)
    return on_day(monday + timedelta(weeks=-1 if "last" in words else int("next" in words), days=day))


def _end_of(words: str, frame: Frame, ahead: bool) -> str | None:
    """Resolve the last day of a period that is not over."""
    if frame.past and not ahead:
        return None
    today, which, unit = frame.today, "next" in words, words.split()[-1]
    if unit == "week":
        return on_day(today - timedelta(days=today.weekday()) + timedelta(days=6 + 7 * which))
    if unit == "year":
        return on_day(date(today.year + which, 12, 31))
    if unit == "month":
        return on_day(month_end(*months_from(today, int(which))))
    month = 1 + MONTHS.index(unit)
    return on_day(month_end(today.year + (month < today.month), month))


def _period(words: str, frame: Frame, ahead: bool) -> str | None:
    """Resolve a week, weekend, month, year or season with last, this or next before it."""
    which, unit = _which(words), words.split()[-1]
    today = frame.today
    monday = today - timedelta(days=today.weekday())
    if unit == "weekend":
        return _weekend(which, monday, frame, ahead)
    if unit == "week":
        first = monday + timedelta(weeks=which)
        return span(first, first + timedelta(days=6))
    if unit == "month":
        return in_month(*months_from(today, which))
    if unit == "year":
        return in_year(today.year + which)
    return _season(unit, which, today)


def _which(words: str) -> int:
    if words.startswith(("last", "past", "this past", "the past")):
        return -1
    return 1 if words.startswith(("next", "coming", "this coming", "the coming")) else 0


def _weekend(which: int, monday: date, frame: Frame, ahead: bool) -> str:
    """Resolve a weekend. "The weekend" and "this weekend" are the last one in a statement about the past made before
    Saturday."""
    over = frame.past and not ahead and frame.today.weekday() < 5
    saturday = monday + timedelta(days=5, weeks=which if which else -1 if over else 0)
    return span(saturday, saturday + timedelta(days=1))


def _season(name: str, which: int, today: date) -> str:
    """Resolve a season. A winter is named by the year in which it begins and the next: winter 2025/26."""
    start = SEASON_STARTS[name]
    length_left = (start + 2) % 12 or 12
    year = today.year
    if name == "winter" and today.month <= 2:
        year -= 1
    over = today > month_end(year + (1 if name == "winter" else 0), length_left)
    begun = today >= date(year, start, 1)
    if which < 0 and not over:
        year -= 1
    if which > 0 and begun:
        year += 1
    shown = f"{year}/{(year + 1) % 100:02d}" if name == "winter" else str(year)
    check_year(year + (1 if name == "winter" else 0))
    return f"{name} {shown}"


def _month(words: str, frame: Frame, ahead: bool) -> str:
    month = 1 + next(n for n, name in enumerate(MONTHS) if name in words)
    today = frame.today
    year = today.year
    if words.startswith("last"):
        return in_month(year if month < today.month else year - 1, month)
    if words.startswith("next"):
        return in_month(year if month > today.month else year + 1, month)
    if words.startswith("this"):
        return in_month(year, month)
    if frame.past and not ahead:
        return in_month(year if month <= today.month else year - 1, month)
    return in_month(year if month >= today.month else year + 1, month)


def _month_day(words: str, frame: Frame, ahead: bool) -> str | None:
    """Resolve a day of a named month to the nearest one that there is, for February 29 within eight years."""
    found = _days_like(words, frame.today, -1 if frame.past and not ahead else 1)
    return next((on_day(day) for day in found), None)


def _day_of_month(words: str, frame: Frame, ahead: bool) -> str:
    number = int(re.findall(r"\d+", words)[0])
    past = frame.past and not ahead
    this_month = number <= frame.today.day if past else number >= frame.today.day
    months = 0 if this_month else (-1 if past else 1)
    return on_day(date(*months_from(frame.today, months), number))


def _range(words: str, frame: Frame, ahead: bool) -> str | None:
    """Resolve a range of days, of which one may lack its month: the latest that is over, or the first that is not."""
    first, last = re.split(_TO, re.sub(r"^from\s+", "", words), maxsplit=1)
    today, past = frame.today, frame.past and not ahead
    first = first if re.search(MONTH_OF_DAY, first) else f"{first} {re.findall(MONTH_OF_DAY, last)[0]}"
    last = last if re.search(MONTH_OF_DAY, last) else f"{last} {re.findall(MONTH_OF_DAY, first)[0]}"
    end = next(_days_like(last, today, -1 if past else 1))
    start = next(_days_like(first, end, -1))
    return span(start, end) if (end - start).days <= 366 else None


def _days_like(words: str, day: date, step: int) -> Iterator[date]:
    """Yield the days of the month and number that ``words`` name, from ``day`` on, into the future or the past, within
    eight years: February 29 is no day of every year."""
    month = 1 + next(n for n, name in enumerate(MONTHS) if re.search(rf"\b{name[:3]}", words))
    number = int(re.findall(r"\d+", words)[0])
    for year in range(day.year, day.year + 9 * step, step):
        if 1 <= number <= month_end(year, month).day and step * (date(year, month, number) - day).days >= 0:
            yield date(year, month, number)


_TO = r"\s*(?:\bto\b|\btill\b|\buntil\b|\bthrough\b|[-–—])\s*"
_DAY = rf"(?:the\s+)?(?:{MONTH_DAY})"
_NUMBER_ONLY = r"(?:the\s+)?\d{1,2}(?:st|nd|rd|th)?"
_PERIOD = (
    rf"(?:(?:last|this|next)\s+(?:week|weekend|month|year)|{MONTH_NAME}|{DAY_NAME}{PART_OF_DAY}"
    r"|\d{1,2}(?:st|nd|rd|th))"
)
_JOINT = rf"(?:,?\s+(?:(?:on|of|in|from|after|the|a|every)\s+)*|{_TO})"
_BESIDE = re.compile(
    rf"(?:\b{_PERIOD}{_JOINT}|\b(?:first|second|third|fourth|fifth|last|black|good|easter|ago(?: on)?(?: a)?)\s+)$"
    rf"|\bweeks?\s+(?:from|on|after)\s+$",
    re.IGNORECASE,
)
_BESIDE_IT = re.compile(
    rf"{_JOINT}(?:{_PERIOD}|month\b|{MONTH_DAY})|\s+(?:before|after)\b|\s+week\b|,?\s+in\s+{MONTH_NAME}", re.IGNORECASE
)
"""What stands beside a date and makes another one of it: ``in May next year``, ``the Monday after Easter``."""
_BEFORE_DAY = ("for", "by", "until", "till", "from", "since", "before", "after", "day is", "date is", "deadline is")
_BEHIND = "(?:" + "|".join(f"(?<={words} )" for words in _BEFORE_DAY) + ")"
"""What a bare day of the month stands behind: "booked for the 22nd", "my last day is the 15th"."""
_PATTERNS: dict[str, tuple[str, Rule]] = {
    "range": (
        rf"(?:from\s+)?(?:{_DAY}{_TO}{_DAY}|{_NUMBER_ONLY}{_TO}{_DAY}|{_DAY}{_TO}{_NUMBER_ONLY})"
        r"(?!\d|,?\s+\d{4}|[:.]\d|%|\s*(?:percent|years?|euros?|dollars?|people|hours?|minutes?)\b)",
        _range,
    ),
    "named": (
        rf"(?:(?:the\s+)?day\s+after\s+tomorrow|(?:the\s+)?day\s+before\s+yesterday|tomorrow{PART_OF_DAY}|yesterday{PART_OF_DAY}"
        r"|last\s+night|tonight|today|this\s+(?:morning|afternoon|evening))(?:['’]s)?",
        _named_day,
    ),
    "ago": (rf"{NUMBER}\s+(?:day|week|month|year)s?\s+ago", _ago),
    "hence": (
        rf"(?<!time )(?<!once )in\s+{NUMBER}\s+(?:day|week|month|year)s?(?:['’]?s?['’]?\s+time)?"
        rf"(?!\s+(?:from|on|after)\s+{DAY_NAME})"
        rf"|{NUMBER}\s+(?:day|week|month|year)s?\s+from\s+(?:now|today)",
        _from_now,
    ),
    "end": (
        rf"(?:the\s+)?(?:very\s+)?end\s+of\s+(?:(?:the|this|next)\s+(?:week|month|year)|{MONTH_NAME}(?!,?\s+\d))",
        _end_of,
    ),
    "monthday": (
        rf"{MONTH_OF_DAY}\s+\d{{1,2}}(?:st|nd|rd|th)?(?!\d|,?\s+\d{{4}}|:\d)"
        rf"|\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{MONTH_OF_DAY}(?!,?\s+\d{{4}})",
        _month_day,
    ),
    "day_of_week": (
        rf"(?:last|this|next)\s+week(?:,?\s+on)?\s+{DAY_NAME}{PART_OF_DAY}(?!s\b)"
        rf"|{DAY_NAME}{PART_OF_DAY}\s+(?:of\s+)?(?:last|this|next)\s+week",
        _day_of_week,
    ),
    "weekday": (
        r"(?<!\ba )(?:(?:next|last|past|this\s+coming|this\s+past|this|coming)\s+)?"
        rf"{DAY_NAME}{PART_OF_DAY}{_EXPLICIT_NEXT}",
        _weekday,
    ),
    "period": (
        r"(?<!the )(?:next|last|this\s+coming|this\s+past|this|the\s+coming)\s+"
        r"(?:weekend|week|month|year|spring|summer|autumn|fall|winter)|(?:over|at|on|during)\s+the\s+weekend",
        _period,
    ),
    "month": (rf"(?:in|last|next|this)\s+{MONTH_NAME}(?!,?\s+\d|\s+of\b)", _month),
    "monthdate": (
        r"on\s+the\s+\d{1,2}(?:st|nd|rd|th)(?!\s+(?:of|floor|street|avenue|anniversary|birthday|century|grade|hole))"
        rf"|{_BEHIND}the\s+\d{{1,2}}(?:st|nd|rd|th)(?=\s*(?:$|[,.;!)]|\b(?:and|at|with|in|when|because|so|but|or|if|on)\b))",
        _day_of_month,
    ),
}
_RULES: dict[str, Rule] = {name: rule for name, (_, rule) in _PATTERNS.items()}
_PHRASE = re.compile(
    r"(?<![\w-])(?<!like )(?<!like just )(?:"
    + "|".join(f"(?P<{name}>{pattern})" for name, (pattern, _) in _PATTERNS.items())
    + r")"
    r"(?![\w-])(?!\s*\(meaning)",
    re.IGNORECASE,
)
