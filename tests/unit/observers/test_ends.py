"""When a statement ends that names its own end (docs/rules/observe.md#extractive)."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.observers.extractive.english.dates import annotate
from neve.observers.extractive.english.ends import end_of

WEDNESDAY = datetime(2026, 12, 2, 10, tzinfo=UTC)
VIENNA, HONOLULU = ZoneInfo("Europe/Vienna"), ZoneInfo("Pacific/Honolulu")


def end(said: str, said_at: datetime = WEDNESDAY) -> str | None:
    found = end_of(annotate(said, said_at.date()).text, said_at)
    return found.astimezone(UTC).isoformat() if found else None


def test_a_day_is_over_at_midnight_where_it_was_said() -> None:
    late = datetime(2026, 12, 3, 8, tzinfo=UTC)  # still Wednesday evening in Honolulu
    said = "User is in Rome until tomorrow"
    assert end(said, late.astimezone(VIENNA)) == "2026-12-04T23:00:00+00:00"
    assert end(said, late.astimezone(HONOLULU)) == "2026-12-04T10:00:00+00:00"


@pytest.mark.parametrize(
    ("said", "until"),
    [
        ("User is free for the next 2 hours", "2026-12-02T12:00:00+00:00"),
        ("User is away for the next day", "2026-12-04T00:00:00+00:00"),
        ("User is away for the next three months", "2027-03-03T00:00:00+00:00"),
        ("User is away for the next year", "2027-12-03T00:00:00+00:00"),
        ("User is in Rome till 5 December 2026", "2026-12-06T00:00:00+00:00"),
        ("Until Friday, User is in Rome", "2026-12-05T00:00:00+00:00"),
        ("User is in Rome until Friday, staying at the Harbour hotel", "2026-12-05T00:00:00+00:00"),
        ("User is on call through Sunday, so they can't travel", "2026-12-07T00:00:00+00:00"),
        ("User is in Rome with Ana and Ben until March 3, 2027, at the latest", "2027-03-04T00:00:00+00:00"),
        ("User walks through the park until Friday", "2026-12-05T00:00:00+00:00"),
        ("User said: We are away until Friday", "2026-12-05T00:00:00+00:00"),
    ],
)
def test_the_end_that_is_named(said: str, until: str) -> None:
    assert end(said) == until


@pytest.mark.parametrize(
    "said",
    [
        "User was in Rome until Friday",
        "User is in Rome until 2026-12-01",
        "User is in Rome until 2026-02-31",
        "User is in Rome until 31 February 2027",
        "User is in Rome until 2999-01-01",
        "User is in Rome until about Friday noon or so",
        "User goes by Tuesday's plan",
        "User is in Rome for 2 weeks",
        "User is away for the next 999 years",
        "User is in Rome",
        "User is vegetarian, but for the next two weeks they are eating fish",
        "User lives in Lyon and works from Berlin until Friday",
        "User lives in Lyon, until Friday they are in Rome",
        "User is in Rome until Friday, their home is in Lyon",
        "User is in Rome until Friday; they live in Lyon",
    ],
)
def test_what_names_no_end_or_none_that_may_be_told(said: str) -> None:
    assert end(said) is None


@given(
    st.datetimes(datetime(2020, 1, 1), datetime(2090, 1, 1)),
    st.sampled_from(("until", "till", "through", "by")),
    st.dates(date(2020, 1, 1), date(2100, 1, 1)),
)
def test_whatever_day_is_named_it_is_the_last_one(said: datetime, word: str, day: date) -> None:
    said_at = said.replace(tzinfo=VIENNA)
    found = end_of(f"User is away {word} {day.isoformat()}", said_at)
    behind = datetime.combine(day + timedelta(days=1), time.min, VIENNA)
    assert found == (behind if behind > said_at else None)
