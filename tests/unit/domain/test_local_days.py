"""Days as a model is told them: the user's own, as the time is beside them (docs/rules/sessions.md#days)."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.compact.extract import extract_summary
from neve.domain.compact.prompt import summary_content
from neve.domain.librarian.extract import account_of
from neve.domain.librarian.filing import Remembered, ShownDocument
from neve.domain.librarian.prompt import filing_content
from neve.domain.records.sessions import Event, SessionHead
from neve.domain.reflect.condense_prompt import condense_content
from neve.domain.reflect.prompt import reflection_content
from neve.domain.sessions.transcript import render_line, under_their_days
from neve.domain.times import iso
from neve.domain.zones import local_day
from neve.observers.extractive.observer import ExtractiveObserver
from neve.observing import FilingInput, ReflectGroup, SummaryInput
from tests.unit.domain_rows import event

LOS_ANGELES = "America/Los_Angeles"
LATE = "2026-03-10T03:00:00.000Z"
"""Monday the 9th, 20:00 in Los Angeles."""
TIMES = st.datetimes(timezones=st.just(UTC)).map(iso)


def said(text: str, at: str = LATE, seq: int = 1) -> Event:
    return event(seq, text, created_at=at)


@pytest.mark.parametrize(
    ("at", "timezone", "day"),
    [
        (LATE, "UTC", "2026-03-10"),
        (LATE, LOS_ANGELES, "2026-03-09"),
        ("2026-03-10T18:14:59.999Z", "Asia/Kathmandu", "2026-03-10"),
        ("2026-03-10T18:15:00.000Z", "Asia/Kathmandu", "2026-03-11"),
        # the clocks go from 23:59:59 to 01:00
        ("2026-09-06T03:59:59.999Z", "America/Santiago", "2026-09-05"),
        ("2026-09-06T04:00:00.000Z", "America/Santiago", "2026-09-06"),
        # 23:30 twice on one day
        ("2026-04-05T02:30:00.000Z", "America/Santiago", "2026-04-04"),
        ("2026-04-05T03:30:00.000Z", "America/Santiago", "2026-04-04"),
        # a day that there was not
        ("2011-12-30T09:59:59.999Z", "Pacific/Apia", "2011-12-29"),
        ("2011-12-30T10:00:00.000Z", "Pacific/Apia", "2011-12-31"),
        ("0001-01-01T00:00:00.000Z", "America/New_York", "0001-01-01"),
        (LATE, "Mars/Base", "2026-03-10"),
        (LATE, "", "2026-03-10"),
    ],
)
def test_the_day_of_a_time_zone(at: str, timezone: str, day: str) -> None:
    assert local_day(at, timezone) == day


@given(TIMES, st.sampled_from(["UTC", "Mars/Base", ""]))
def test_where_nobody_named_a_zone_the_day_is_what_the_stored_time_begins_with(at: str, timezone: str) -> None:
    assert local_day(at, timezone) == at[: len("2026-03-10")]


@pytest.mark.parametrize(
    ("meta", "timezone"), [({}, "UTC"), ({"timezone": ""}, "UTC"), ({"timezone": LOS_ANGELES}, LOS_ANGELES)]
)
def test_a_session_tells_its_time_zone(meta: dict[str, str], timezone: str) -> None:
    assert SessionHead("s1", "open", LATE, user_meta=meta).timezone == timezone


@given(st.lists(TIMES, max_size=8).map(sorted))
def test_in_utc_events_stand_under_the_days_that_they_always_stood_under(times: list[str]) -> None:
    log = [said("hello", at, n) for n, at in enumerate(times)]
    expected: list[str] = []
    for n, one in enumerate(log):
        if n == 0 or log[n - 1].created_at[:10] != one.created_at[:10]:
            expected.append(f"--- {one.created_at[:10]} ---")
        expected.append(render_line(one))
    assert under_their_days(log, "UTC") == expected


def test_a_summary_is_asked_for_with_the_users_days() -> None:
    log = [said("I fly tomorrow."), said("Today, that is.", "2026-03-10T16:00:00.000Z", 2)]
    text = str(summary_content(log, None, 100, LOS_ANGELES)[0]["text"])
    assert "--- 2026-03-09 ---\n\nuser #1: I fly tomorrow.\n\n--- 2026-03-10 ---\n\nuser #2: Today" in text
    assert "--- 2026-03-09" not in str(summary_content(log, None, 100, "UTC")[0]["text"])


def test_an_extract_quotes_with_the_users_days() -> None:
    log = [said("I prefer tea.")]
    assert extract_summary(log, "brief", timezone=LOS_ANGELES).preferences == ("user (2026-03-09): I prefer tea.",)
    assert extract_summary(log, "brief").preferences == ("user (2026-03-10): I prefer tea.",)
    summarised = ExtractiveObserver().summarise(SummaryInput("s1", log, "brief", 250, timezone=LOS_ANGELES))
    assert summarised.summary.preferences == ("user (2026-03-09): I prefer tea.",)
    account = account_of(log, None, None, timezone=LOS_ANGELES)
    assert account.text.preferences == ("user (2026-03-09): I prefer tea.",)


def test_a_librarian_is_shown_the_users_days() -> None:
    given_input = FilingInput(
        "s1", [said("I fly tomorrow.")], (), LOS_ANGELES, remembered=[Remembered("They fly.", 1, 1, LATE)]
    )
    text = str(filing_content(given_input)[0]["text"])
    assert "--- 2026-03-09 ---\n\nuser #1: I fly tomorrow." in text
    assert "# Put right\n\n[2026-03-09]\n" in text
    assert "2026-03-10" not in text


def test_a_librarian_by_rules_dates_its_documents_in_the_users_days() -> None:
    """A line, what it displaces, the path of a decision, and the account."""
    home = ShownDocument("/profile/identity", 1, "# Identity\n\n- User lives in Rome (2026-01-01)")
    log = [said("I moved to Lisbon last week."), said("We decided to go with Postgres for billing.", seq=2)]
    filed = ExtractiveObserver().file_away(FilingInput("s1", log, [home], LOS_ANGELES))
    texts = {action.path: action.text or "" for action in filed.actions}
    assert "(2026-03-09)" in texts["/profile/identity"] and "(until 2026-03-09)" in texts["/profile/identity"]
    [decision] = [path for path in texts if "/decisions/" in path]
    assert decision.split("/decisions/")[1].startswith("2026-03-09-")
    assert filed.account is not None and "(2026-03-09)" in str(filed.account.text)
    assert "2026-03-10" not in str(filed)


@pytest.mark.parametrize("content", [reflection_content, condense_content])
def test_notes_stand_behind_the_users_day_where_it_is_another_one(content: Any) -> None:
    def shown(day: str | None) -> str:
        return str(content([ReflectGroup("mem_7", "Flies tomorrow.", None, None, LATE, day=day)], 100)[0]["text"])

    assert f"[group id: mem_7] {LATE} (2026-03-09 for the user)\n" in shown("2026-03-09")
    assert f"[group id: mem_7] {LATE}\n" in shown("2026-03-10") == shown(None)
