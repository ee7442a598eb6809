"""What an observation's text says of itself. Literals: docs/rules/values.md#priority."""

from __future__ import annotations

import hashlib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.memories.text import (
    cap_lines,
    fingerprint,
    for_pack,
    observed_date,
    priority_of,
    referenced_date,
    relative_date,
    time_of_day,
)
from neve.domain.records.memories import Priority


@pytest.mark.parametrize(
    ("text", "priority"),
    [
        ("✅ shipped", Priority.HIGH),
        ("🟡 working on it", Priority.MEDIUM),
        ("🟢 may like jazz", Priority.LOW),
        ("🟢 small\n🟡 more\nand 🔴 anywhere", Priority.HIGH),
        ("🟡 in work\n✅ done", Priority.HIGH),
        ("🟢 a\n🟡 b", Priority.MEDIUM),
        ("no mark", Priority.LOW),
        ("", Priority.LOW),
    ],
)
def test_priority(text: str, priority: Priority) -> None:
    assert priority_of(text) is priority


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("🟡 Ana   is  planning\ta trip", "Ana is planning a trip"),
        ("🔴 Ana lives in Nice\n\n\n🟢 may like jazz\n \n✅ moved", "🔴 Ana lives in Nice\nmay like jazz\n✅ moved"),
        ("🟡\ufe0f a 🟢b", "a b"),
        ("🟡", ""),
        ("", ""),
    ],
)
def test_for_pack(text: str, shown: str) -> None:
    assert for_pack(text) == shown


@given(st.text(alphabet="ab 🔴✅🟡🟢\n\t\ufe0f", max_size=60))
def test_for_pack_keeps_the_marks_that_matter_and_settles_at_once(text: str) -> None:
    shown = for_pack(text)
    assert for_pack(shown) == shown
    assert [mark for mark in shown if mark in "🔴✅ab"] == [mark for mark in text if mark in "🔴✅ab"]
    assert not set(shown) & set("🟡🟢\t")
    assert "  " not in shown
    assert "\n\n" not in shown


def test_lines_are_capped_at_10000_characters() -> None:
    assert cap_lines("a" * 10_000 + "\nb") == "a" * 10_000 + "\nb"
    assert cap_lines("a" * 10_001 + "\nb\n" + "c" * 20_000) == "a" * 9_999 + "…\nb\n" + "c" * 9_999 + "…"


@pytest.mark.parametrize(
    ("at", "timezone", "day"),
    [
        ("2026-03-10T09:30:00.000Z", "UTC", "2026-03-10"),
        ("2026-03-10T23:30:00.000Z", "Europe/Paris", "2026-03-11"),
        ("2026-03-10T03:00:00.000Z", "America/New_York", "2026-03-09"),
        ("2026-03-10T23:30:00.000Z", "Not/AZone", "2026-03-10"),
        ("2026-03-10T23:30:00.000Z", "", "2026-03-10"),
        ("2026-03-10T23:30:00.000Z", "../../etc/passwd", "2026-03-10"),
    ],
)
def test_observed_date(at: str, timezone: str, day: str) -> None:
    assert observed_date(at, timezone) == day


@pytest.mark.parametrize(
    ("hour", "name"),
    [
        ("04:59", "night"),
        ("05:00", "morning"),
        ("11:59", "morning"),
        ("12:00", "afternoon"),
        ("16:59", "afternoon"),
        ("17:00", "evening"),
        ("21:59", "evening"),
        ("22:00", "night"),
        ("00:00", "night"),
    ],
)
def test_time_of_day(hour: str, name: str) -> None:
    assert time_of_day(f"2026-03-10T{hour}:59.999Z", "UTC") == name


def test_time_of_day_is_local() -> None:
    assert time_of_day("2026-03-10T11:30:00.000Z", "Europe/Paris") == "afternoon"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("🟡 dentist tomorrow (meaning 2026-03-11)", "2026-03-11"),
        ("🟡 next week (meaning the week of 2026-03-16)", "2026-03-16"),
        ("🟡 (meaning 2026-03-11) and (meaning 2026-04-01)", "2026-03-11"),
        ("🟡 (meaning 2026-02-30), then (meaning 2026-03-02)", "2026-03-02"),
        ("🟡 (Meaning 2026-03-11)", "2026-03-11"),
        ("🟡 on 2026-03-11", None),
        ("🟡 (meaning soon)", None),
        ("🟡 (meaning 2026-03-111)", None),
        ("", None),
    ],
)
def test_referenced_date(text: str, found: str | None) -> None:
    assert referenced_date(text) == found


@pytest.mark.parametrize(
    ("observed", "referenced", "found"),
    [
        ("2026-03-10", "2026-03-11", "P1D"),
        ("2026-03-10", "2026-03-10", "P0D"),
        ("2026-03-01", "2026-02-26", "-P3D"),
        ("2026-03-10", None, None),
        (None, "2026-03-10", None),
    ],
)
def test_relative_date(observed: str | None, referenced: str | None, found: str | None) -> None:
    assert relative_date(observed, referenced) == found


def test_256_kib_of_open_brackets() -> None:
    assert referenced_date("(meaning " * 29_000) is None
    assert referenced_date("(meaning 2026-" * 18_000) is None


def test_fingerprint_literal() -> None:
    assert fingerprint("  Ana   lives in\nNICE ") == hashlib.sha256(b"ana lives in nice").hexdigest()
    assert fingerprint("a") == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"


@pytest.mark.parametrize(
    ("one", "other"), [("Café", "Cafe\u0301"), ("STRASSE", "straße"), ("a\u00a0b", "a b"), ("a\tb\n", "A  B")]
)
def test_the_same_statement_has_the_same_fingerprint(one: str, other: str) -> None:
    assert fingerprint(one) == fingerprint(other)


def test_other_statements_have_other_fingerprints() -> None:
    assert len({fingerprint(text) for text in ("ab", "a b", "a-b", "b a", "")}) == 5


@given(st.text(max_size=60))
def test_fingerprint_ignores_spelling_of_the_same_characters(text: str) -> None:
    assert fingerprint(text) == fingerprint(unicodedata.normalize("NFD", text))
    assert fingerprint(text) == fingerprint(f" {text}\n")
    assert len(fingerprint(text)) == 64


def test_fingerprint_survives_a_lone_surrogate() -> None:
    assert len(fingerprint("\ud83d")) == 64
