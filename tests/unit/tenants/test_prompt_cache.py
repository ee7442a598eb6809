"""docs/rules/usage.md as literals: money, what a pack change made the cache write, and why a hit rate collapsed."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.records.packs import Trigger
from neve.domain.tenants.prices import LIST_PRICES, ModelPrice, family, price_of
from neve.domain.tenants.prompt_cache import (
    MAX_CHANGES,
    Counted,
    PromptReport,
    PromptTotals,
    Reason,
    SessionPrompts,
    count_report,
)

PRICE = ModelPrice(input=10, cache_read=1, cache_write=12.5, output=50)
FIRST = "2026-03-10T09:30:00.000Z"
SOON = "2026-03-10T09:34:59.000Z"
LATE = "2026-03-10T09:35:01.000Z"


def report(cache_read: int = 0, cache_write: int = 0, **more: Any) -> PromptReport:
    given = {"at": SOON, "model": "m", "pack_version": 1, "input": 100, "output": 10, **more}
    return PromptReport(cache_read=cache_read, cache_write=cache_write, **given)


def after(*reports: PromptReport, price: ModelPrice | None = PRICE, trigger: Trigger | None = "reflection") -> Counted:
    """What the last one counted."""
    session = SessionPrompts()
    for one in reports:
        counted = count_report(session, one, price, trigger)
        session = counted.session
    return counted


# --- prices -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "known_as"),
    [
        ("claude-opus-5-5", "claude-opus-5-5"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("anthropic/claude-sonnet-5", "claude-sonnet-5"),
        ("us.anthropic.claude-opus-5-20260724-v1:0", "claude-opus-5"),
        ("claude-sonnet-5@20260115", "claude-sonnet-5"),
        ("claude-opus-5-5[1m]", "claude-opus-5-5"),
        ("openai/gpt-4o-2024-08-06", "gpt-4o"),
        ("GPT-5-Mini", "gpt-5-mini"),
        ("claude-opus-4-9", None),
        ("gpt-5-pro", None),
        ("llama", None),
    ],
)
def test_a_model_is_priced_as_its_family_and_never_as_a_similar_one(model: str, known_as: str | None) -> None:
    assert price_of(model, {}) == (LIST_PRICES[known_as] if known_as else None)


def test_the_tenants_price_comes_first_by_name_and_by_family() -> None:
    own = {"My/Model-7": PRICE, "gpt-4o": PRICE}
    assert price_of("My/Model-7", own) == price_of("gpt-4o-2024-08-06", own) == PRICE
    assert price_of("gpt-4o-mini", own) == LIST_PRICES["gpt-4o-mini"]
    assert price_of("claude-opus-5-20260724", {"Claude-Opus-5": PRICE}) == PRICE, "in capitals or not"


def test_every_list_price_is_found_and_dated_and_reads_cheaper_than_it_writes() -> None:
    for name, price in LIST_PRICES.items():
        assert family(name) == name
        assert price.as_of and price.cache_read < price.input <= price.cache_write < price.output


def test_a_long_prompt_costs_more_of_every_token() -> None:
    haiku = LIST_PRICES["claude-haiku-5-5"]
    assert [haiku.pico("input", n) for n in (100_000, 100_001)] == [100_000, 500_000]
    assert [haiku.pico("cache_read", n) for n in (100_000, 100_001)] == [10_000, 50_000]
    assert [haiku.pico("output", n) for n in (100_000, 100_001)] == [500_000, 2_500_000]


# --- money --------------------------------------------------------------------------------------


def test_what_a_prompt_costs_and_would_have_cost() -> None:
    """The first prompt finds 800 tokens of the static prefix; the second reads all of it, and 9,000 would not have been
    read behind a pack that is new each time."""
    first = report(cache_read=800, cache_write=9_000, at=FIRST)
    counted = after(first, report(cache_read=9_800, cache_write=200))
    assert counted.added.cost == (100 * 10 + 9_800 * 1 + 200 * 12.5 + 10 * 50) * 1_000_000
    assert counted.added.uncached == (10_100 * 10 + 10 * 50) * 1_000_000
    assert counted.added.rebuilt == (800 * 1 + 9_300 * 10 + 10 * 50) * 1_000_000
    assert counted.session.totals.hit_rate == 10_600 / 20_000


def test_without_a_price_tokens_count_and_money_does_not() -> None:
    counted = after(report(cache_read=50, cache_write=50), price=None)
    assert counted.added == PromptTotals(
        reports=1, unpriced_reports=1, input=100, cache_read=50, cache_write=50, output=10
    )
    assert (counted.added.has_money, counted.added.hit_rate) == (False, 0.25)


def test_nothing_has_no_hit_rate() -> None:
    assert PromptTotals().hit_rate is None


# --- pack changes -------------------------------------------------------------------------------


def test_a_pack_change_pays_for_what_was_written_beyond_the_growth() -> None:
    first = report(cache_read=2_000, cache_write=8_000, at=FIRST)
    counted = after(first, report(cache_read=2_000, cache_write=8_300, pack_version=2))
    assert counted.change is not None
    assert (counted.change.pack_version, counted.change.trigger, counted.change.cache_writes) == (
        2,
        "reflection",
        8_000,
    )
    assert counted.change.cost == counted.added.pack_cost == 8_000 * 11_500_000
    assert (counted.added.pack_changes, counted.added.pack_writes) == (1, 8_000)


def test_an_expired_cache_would_have_been_written_all_the_same() -> None:
    counted = after(report(cache_write=8_000, at=FIRST), report(cache_write=8_300, pack_version=2, at=LATE))
    assert counted.change is not None and counted.change.cache_writes == 0
    assert counted.added.pack_writes == 0


def test_the_first_pack_is_no_change_and_the_last_changes_are_kept() -> None:
    assert after(report(cache_write=8_000)).change is None
    many = after(*(report(cache_write=10, pack_version=n) for n in range(1, MAX_CHANGES + 5)))
    assert [change.pack_version for change in many.session.changes] == list(range(5, MAX_CHANGES + 5))
    assert many.session.totals.pack_changes == MAX_CHANGES + 3


# --- collapses ----------------------------------------------------------------------------------

HELD = report(cache_read=2_000, cache_write=8_000, at=FIRST, prefix={"static": "a", "tools": "t"}, epoch=1)


@pytest.mark.parametrize(
    ("changed", "reason", "pack_version"),
    [
        ({}, "unknown", None),
        ({"pack_version": 2}, "pack_changed", 2),
        ({"pack_version": 2, "epoch": 2}, "compacted", 2),
        ({"epoch": 2}, "compacted", None),
        ({"model": "n"}, "prefix_changed", None),
        ({"prefix": {"static": "b"}, "pack_version": 2}, "prefix_changed", 2),
        ({"prefix": {"instructions": "i"}}, "unknown", None),
        ({"at": LATE}, "ttl_expired", None),
        ({"at": LATE, "pack_version": 2, "epoch": 2, "model": "n"}, "ttl_expired", 2),
    ],
)
def test_a_collapse_has_the_reason_that_explains_the_most(
    changed: dict[str, Any], reason: Reason, pack_version: int | None
) -> None:
    same = {"prefix": {"static": "a"}, "epoch": 1}
    counted = after(HELD, report(cache_read=4_999, cache_write=5_001, **(same | changed)))
    assert counted.collapse is not None
    assert (counted.collapse.reason, counted.collapse.expected) == (reason, 10_000)
    assert counted.collapse.pack_version == pack_version
    assert counted.collapse.trigger == ("reflection" if pack_version else None)
    assert getattr(counted.added, reason) == 1


def test_half_of_what_was_held_is_no_collapse() -> None:
    assert after(HELD, report(cache_read=5_000, epoch=2)).collapse is None


def test_nothing_held_cannot_collapse() -> None:
    assert after(report(), report(at=LATE)).collapse is None


def test_a_cache_that_lives_longer_is_not_expired() -> None:
    longer = ModelPrice(input=1, cache_read=0.1, cache_write=1.25, output=2, cache_ttl_s=1_800)
    expired = after(HELD, report(at=LATE, epoch=1), price=longer)
    assert expired.collapse is not None and expired.collapse.reason == "unknown"


# --- sums ---------------------------------------------------------------------------------------

counts = st.integers(0, 10**7)
reports = st.builds(
    PromptReport,
    at=st.sampled_from([FIRST, SOON, LATE]),
    model=st.sampled_from(["claude-opus-5-5", "claude-haiku-5-5", "nobody"]),
    pack_version=st.integers(0, 3),
    input=counts,
    cache_read=counts,
    cache_write=counts,
    output=counts,
    epoch=st.integers(0, 2),
)


@given(st.lists(reports, max_size=8))
def test_a_session_is_the_sum_of_what_its_reports_added(given_reports: list[PromptReport]) -> None:
    """Whoever adds them up, in whatever order: sums of whole numbers, to the last pico-USD."""
    session, added = SessionPrompts(), []
    for one in given_reports:
        counted = count_report(session, one, price_of(one.model, {}), None)
        session = counted.session
        added.append(counted.added)
    for f in fields(PromptTotals):
        assert getattr(session.totals, f.name) == sum(getattr(one, f.name) for one in reversed(added)), f.name
    reasons = sum(getattr(session.totals, name) for name in Reason.__args__)  # type: ignore[attr-defined]
    assert len(session.collapses) == min(reasons, MAX_CHANGES) == reasons
    assert session.totals.reports == len(given_reports)
