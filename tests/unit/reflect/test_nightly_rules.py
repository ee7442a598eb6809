"""Which rows a night takes, in which batches, what it keeps of an answer, and when it is (docs/rules/values.md)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import get_args
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.records.memories import Kind, Memory, Provenance, Scope, Trust
from neve.domain.reflect.nightly import (
    MIN_ROW,
    batches_of,
    due_again,
    eligible,
    fitted_rows,
    last_night,
    old_enough,
    runs_of,
    worth_a_run,
)
from neve.domain.times import iso
from neve.domain.tokens import estimate
from tests.unit.domain_rows import memory

NOW = datetime(2026, 3, 10, 9, 30, tzinfo=UTC)
DAY = timedelta(days=1)


def row(name: str, age: timedelta, *, tokens: int = 13, trust: Trust = "user", **more: object) -> Memory:
    at = iso(NOW - age)
    origin = Provenance("user_stated", trust=trust)
    return memory(name, id=f"mem_{name}", created_at=at, tokens=tokens, provenance=origin, **more)


@dataclass(frozen=True)
class Row:
    text: str


def names(batches: list[list[Memory]]) -> list[list[str]]:
    return [[one.text for one in batch] for batch in batches]


def test_batches_are_packed_oldest_first() -> None:
    """docs/rules/values.md#nightly-reflection: rows of 13 tokens, cap 30."""
    rows = [row(f"o{n}", timedelta(days=4 + n)) for n in range(6)]
    until = old_enough(NOW, 3)
    assert names(runs_of(eligible(rows, until), 30)) == [["o5", "o4"], ["o3", "o2"], ["o1", "o0"]]


def test_what_is_three_days_old_is_old_enough() -> None:
    rows = [row("young", DAY), row("five", 5 * DAY), row("seven", 7 * DAY)]
    assert [one.text for one in eligible(rows, old_enough(NOW, 3))] == ["seven", "five"]
    assert [one.text for one in eligible([row("exactly", 3 * DAY)], old_enough(NOW, 3))] == ["exactly"]
    just_under = row("under", 3 * DAY - timedelta(milliseconds=1))
    assert eligible([just_under], old_enough(NOW, 3)) == []


def test_a_row_above_the_cap_is_a_batch_of_its_own() -> None:
    rows = [row("a", 9 * DAY), row("big", 8 * DAY, tokens=100), row("b", 7 * DAY), row("c", 6 * DAY)]
    assert names(batches_of(rows, 30)) == [["a"], ["big"], ["b", "c"]]


@pytest.mark.parametrize(
    ("kind", "scope", "taken"),
    [
        (Kind.OBSERVATION, Scope.SESSION, True),
        (Kind.OBSERVATION, Scope.GLOBAL, True),
        (Kind.REFLECTION, Scope.SESSION, True),
        (Kind.REFLECTION, Scope.GLOBAL, False),
        (Kind.NOTE, Scope.SESSION, False),
        (Kind.MANUAL, Scope.GLOBAL, False),
        (Kind.FACT, Scope.GLOBAL, False),
        (Kind.SESSION_SUMMARY, Scope.GLOBAL, False),
    ],
)
def test_what_was_condensed_or_written_by_a_person_is_preserved(kind: Kind, scope: Scope, taken: bool) -> None:
    one = row("r", 90 * DAY, kind=kind, scope=scope)
    assert bool(eligible([one], old_enough(NOW, 3))) == taken


def test_what_a_tool_said_is_condensed_apart() -> None:
    rows = [
        row("t1", 9 * DAY, trust="tool"),
        row("u1", 8 * DAY),
        row("t2", 7 * DAY, trust="tool"),
        row("u2", 6 * DAY, trust="import"),
    ]
    assert names(runs_of(rows, 100)) == [["t1", "t2"], ["u1", "u2"]]


@given(st.lists(st.tuples(st.integers(0, 200), st.sampled_from(get_args(Trust)))), st.integers(1, 150))
def test_every_row_is_in_one_batch_and_no_batch_of_several_is_above_the_cap(
    given_rows: list[tuple[int, Trust]], cap: int
) -> None:
    rows = [row(f"r{n:03}", (300 - n) * DAY, tokens=size, trust=trust) for n, (size, trust) in enumerate(given_rows)]
    batches = runs_of(rows, cap)
    assert sorted(one.id for batch in batches for one in batch) == [one.id for one in rows]
    for batch in batches:
        assert len(batch) == 1 or sum(one.tokens for one in batch) <= cap
        assert [one.created_at for one in batch] == sorted(one.created_at for one in batch)
        assert len({one.provenance.trusted == "tool" for one in batch}) == 1


def test_the_cap_of_a_row() -> None:
    """docs/rules/values.md#nightly-reflection: ten rows of 1,000 characters."""
    rows = [Row("x" * 1_000)] * 10
    assert [estimate(text) for _, text in fitted_rows(rows, 500).rows] == [120, 120, 120, 120]
    assert [estimate(text) for _, text in fitted_rows(rows, 50).rows] == [120]


@pytest.mark.parametrize(
    ("texts", "target", "left_out", "cut"),
    [
        ([" short ", "", "\n"], 500, 0, 0),
        (["x" * 1_000] * 10, 500, 10, 4),
        (["short", "x" * 1_000], 240, 1, 1),
        (["x" * 380] * 4, 240, 2, 0),
        (["x" * 10_001 + "\nshort"], 5_000, 1, 1),
    ],
    ids=["whole", "dropped and cut", "cut", "dropped", "a line too long"],
)
def test_what_has_no_room_as_a_whole_is_counted(texts: list[str], target: int, left_out: int, cut: int) -> None:
    fitting = fitted_rows([Row(text) for text in texts], target)
    assert (fitting.left_out, fitting.cut) == (left_out, cut)


@given(st.lists(st.text(max_size=600), max_size=12), st.integers(0, 2_000))
def test_kept_rows_stay_within_the_target(texts: list[str], target: int) -> None:
    answer = fitted_rows([Row(text) for text in texts], target)
    sizes = [estimate(text) for _, text in answer.rows]
    assert bool(sizes) == any(text.strip() for text in texts)
    dropped = sum(bool(text.strip()) for text in texts) - len(sizes)
    assert answer.left_out - answer.cut == dropped
    assert answer.cut == sum(row.text.strip() != text for row, text in answer.rows)
    assert len(sizes) <= 1 or sum(sizes) <= target
    assert all(size <= max(MIN_ROW, target) for size in sizes)


def test_twenty_rows_or_eight_thousand_tokens_are_worth_a_run() -> None:
    assert not worth_a_run([row("r", DAY)] * 19, 20, 8_000)
    assert worth_a_run([row("r", DAY)] * 20, 20, 8_000)
    assert worth_a_run([row("r", DAY, tokens=8_000)], 20, 8_000)
    assert not worth_a_run([row("r", DAY, tokens=7_999)], 20, 8_000)


def test_a_user_is_due_again_with_the_row_that_makes_a_run_worth_it() -> None:
    until = old_enough(NOW, 3)
    young = [row(f"y{n}", timedelta(hours=n)) for n in range(5)]
    assert due_again(young, until, lambda rows: len(rows) >= 3) == iso(NOW - timedelta(hours=2))
    assert due_again(young, until, lambda rows: len(rows) >= 6) is None
    remaining = [row("old", 9 * DAY)]
    assert due_again(remaining, until, lambda _: True) == iso(NOW - 3 * DAY + timedelta(milliseconds=1))


# --- when it is night -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "timezone", "night"),
    [
        ("2026-03-10T03:00:00Z", "UTC", "2026-03-10T03:00:00Z"),
        ("2026-03-10T02:59:59Z", "UTC", "2026-03-09T03:00:00Z"),
        ("2026-07-01T12:00:00Z", "Europe/Berlin", "2026-07-01T01:00:00Z"),
        ("2026-12-01T12:00:00Z", "Europe/Berlin", "2026-12-01T02:00:00Z"),
        ("2026-03-10T12:00:00Z", "Asia/Kathmandu", "2026-03-09T21:15:00Z"),
        # at 03:00 the clocks go to 04:00: the night is when they do
        ("2026-03-29T12:00:00Z", "Europe/Helsinki", "2026-03-29T01:00:00Z"),
        # at 04:00 they go back to 03:00: the night is the first of the two
        ("2026-10-25T00:30:00Z", "Europe/Helsinki", "2026-10-25T00:00:00Z"),
        ("2026-10-25T12:00:00Z", "Europe/Helsinki", "2026-10-25T00:00:00Z"),
        ("2026-03-10T12:00:00Z", "Nowhere/Land", "2026-03-10T03:00:00Z"),
    ],
)
def test_the_night_of_a_time_zone(now: str, timezone: str, night: str) -> None:
    assert last_night(datetime.fromisoformat(now), timezone) == datetime.fromisoformat(night)


@given(
    st.datetimes(datetime(2000, 1, 1), datetime(2035, 1, 1)),
    st.sampled_from(["UTC", "Europe/Helsinki", "America/St_Johns", "Pacific/Apia", "Africa/Casablanca"]),
)
def test_an_hourly_planner_meets_one_night_a_day(naive: datetime, timezone: str) -> None:
    now = naive.replace(tzinfo=UTC)
    nights = {last_night(now + timedelta(hours=n), timezone) for n in range(24 * 30)}
    spans = sorted(nights)
    gaps = [later - earlier for earlier, later in itertools.pairwise(spans)]
    assert all(timedelta(hours=22) <= gap <= timedelta(hours=26) or _lost_a_day(timezone) for gap in gaps)
    assert all(last_night(night, timezone) == night for night in nights)
    days = [night.astimezone(ZoneInfo(timezone)).date() for night in spans]
    assert len(set(days)) == len(days)


def _lost_a_day(timezone: str) -> bool:
    """Samoa left out 30 December 2011."""
    return timezone == "Pacific/Apia"
