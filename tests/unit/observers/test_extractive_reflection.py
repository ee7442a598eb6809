"""Folding rows without a model: what is merged, what is left out first, and what always stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.reflect.prompt import Group
from neve.domain.tokens import estimate
from neve.observers.extractive.observer import ExtractiveObserver
from neve.observers.extractive.reflection import LAST_LINE, folded_rows
from neve.observing import CondenseInput, ReflectGroup, ReflectInput


def group(n: int, text: str) -> ReflectGroup:
    return ReflectGroup(f"mem_{n}", text, n, n, f"2026-03-{n:02d}T09:30:00.000Z")


def lines_of(groups: list[ReflectGroup], target: int) -> list[str]:
    """What stays of a session's rows, without the day behind a line."""
    rows = ExtractiveObserver().reflect(ReflectInput("s1", groups, target)).rows
    return [line.partition(" (2026-")[0] for row in rows for line in row.text.splitlines()]


def test_duplicates_are_merged_and_the_order_is_that_of_the_conversation() -> None:
    said = [
        group(1, "🔴 User lives in Bergen\n🟢 User might sell the house"),
        group(2, "🟡 User went to the market"),
        group(3, "🔴 User lives in  bergen.\n✅ User sold the boat on 2026-03-03"),
    ]
    reflected = ExtractiveObserver().reflect(ReflectInput("s1", said, 325))
    assert [(row.text, row.group_ids) for row in reflected.rows] == [
        (
            "🟢 User might sell the house (2026-03-01)\n"
            "🟡 User went to the market (2026-03-02)\n"
            "🔴 User lives in  bergen. (2026-03-03)\n"
            "✅ User sold the boat on 2026-03-03",
            ("mem_1", "mem_2", "mem_3"),
        )
    ]
    assert (reflected.model, reflected.left_out, reflected.over_target) == ("extractive", 0, 0)


def test_a_night_keeps_what_lasts_in_rows_of_its_own() -> None:
    said = [group(1, "✅ User bought a lamp\n🔴 User never eats pork"), group(2, "🔴 User has a nut allergy")]
    rows = ExtractiveObserver().condense(CondenseInput(said, 300)).rows
    assert [(row.text, row.group_ids) for row in rows] == [
        ("🔴 User never eats pork (2026-03-01)\n🔴 User has a nut allergy (2026-03-02)", ("mem_1", "mem_2")),
        ("✅ User bought a lamp (2026-03-01)", ("mem_1",)),
    ]


@pytest.mark.parametrize("apart", [False, True])
def test_lines_go_oldest_first_the_tentative_then_the_done_then_the_rest(apart: bool) -> None:
    marks = ["🟡", "🟢", "🔴", "✅", "🟡", "✅", "🟢"]
    said = [group(n, f"{mark} line {n}") for n, mark in enumerate(marks, 1)]
    size = estimate("🟡 line 1 (2026-03-01)\n")
    left = [
        {line for row in folded_rows(said, size * room, apart=apart).rows for line in row.text.splitlines()}
        for room in range(8)
    ]
    gone = [sorted(left[room + 1] - left[room]) for room in reversed(range(1, 7))]
    assert [line[: len("🟢 line 2")] for [line] in gone] == [
        *("🟢 line 2", "🟢 line 7"),
        *("✅ line 4", "✅ line 6"),
        *("🟡 line 1", "🟡 line 5"),
    ]
    assert left[0] == left[1] == {"🔴 line 3 (2026-03-03)"}


def test_what_lasts_stays_whole_above_the_target_and_it_is_told_by_how_much() -> None:
    said = [group(n, f"🔴 User's rule {n}: {'word ' * 30}end") for n in range(1, 25)] + [group(25, "🟡 a note")]
    for answer in (
        ExtractiveObserver().reflect(ReflectInput("s1", said, 100)),
        ExtractiveObserver().condense(CondenseInput(said, 100)),
    ):
        text = "\n".join(row.text for row in answer.rows)
        assert all(f"rule {n}: " in text for n in range(1, 25))
        assert "note" not in text
        assert text.count("end") == 24
        assert answer.left_out == 1
        assert answer.over_target == sum(estimate(f"{line}\n") for line in text.splitlines()) - 100
        assert all(150 <= estimate(row.text) <= 600 for row in answer.rows)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("🔴 User prefers tea to coffee", "🔴 User prefers coffee to tea"),
        (
            "🔴 User is allergic to nuts, milk, eggs, soy and kiwi",
            "🔴 User is allergic to nuts, milk, eggs, soy and figs",
        ),
        ("🔴 User eats before training", "🔴 User eats after training"),
        ("🔴 User writes C", "🔴 User writes C++"),
        ("🔴 User's flight is on Friday (meaning 2026-03-13)", "🔴 User's flight is on Friday (meaning 2026-03-20)"),
    ],
)
def test_lines_that_only_look_alike_both_stay(one: str, other: str) -> None:
    assert lines_of([group(1, one), group(2, other)], 1) == [one, other]


def test_a_line_that_was_said_with_a_stronger_mark_keeps_it() -> None:
    said = [group(1, "🔴 User is in a wheelchair"), group(2, "🟡 User is in a wheelchair")]
    assert lines_of(said, 1) == ["🔴 User is in a wheelchair"]


def test_a_line_without_a_mark_goes_with_the_one_above_it() -> None:
    assert lines_of([group(1, "🔴 Standing rules:\nno calls on Sundays"), group(2, "a plain row")], 1) == [
        "🔴 Standing rules:",
        "no calls on Sundays",
    ]


def test_a_blocker_that_was_solved_is_open_no_more() -> None:
    said = [
        group(1, '🔴 User: "The build keeps failing"'),
        group(2, '✅ User: "The build keeps failing" → User: "fixed it"'),
    ]
    assert lines_of(said, 200) == ['✅ User: "The build keeps failing" → User: "fixed it"']
    again = '🔴 User: "The build keeps failing"'
    assert lines_of([*said, group(3, again)], 1) == [again]


def test_the_day_that_a_fold_put_behind_a_line_makes_it_no_other_line() -> None:
    said = [group(1, "🔴 User lives in Bergen (2026-02-01)"), group(2, "🔴 User lives in Bergen")]
    rows = ExtractiveObserver().condense(CondenseInput(said, 200)).rows
    assert [row.text for row in rows] == ["🔴 User lives in Bergen (2026-03-02)"]


def test_a_line_without_a_date_gets_the_users_day() -> None:
    """In Auckland it is the next day from noon on, by UTC."""
    said = [ReflectGroup("mem_1", "🔴 User lives in Bergen", 1, 2, "2026-03-10T12:30:00.000Z", day="2026-03-11")]
    assert ExtractiveObserver().reflect(ReflectInput("s1", said, 325)).rows[0].text.endswith("(2026-03-11)")
    assert ExtractiveObserver().condense(CondenseInput(said, 325)).rows[0].text.endswith("(2026-03-11)")


def test_rows_are_atomic() -> None:
    said = [group(n % 28 + 1, f"🔴 User owns thing {n} {'detail ' * 20}") for n in range(60)]
    rows = ExtractiveObserver().reflect(ReflectInput("s1", said, 32_500)).rows
    assert len(rows) > 3
    assert all(150 <= estimate(row.text) <= 600 for row in rows)
    assert {name for row in rows for name in row.group_ids} == {source.id for source in said}


def test_where_nothing_lasts_the_last_line_stays_as_far_as_there_is_room() -> None:
    assert lines_of([group(1, "🟡 User went out"), group(2, "🟢 User might move")], 1) == ["🟡 User went out"]
    trimmed = ExtractiveObserver().reflect(ReflectInput("s1", [group(1, "🟡 " + "word " * 900)], 10))
    (row,) = trimmed.rows
    assert (estimate(row.text), trimmed.left_out) == (LAST_LINE, 1)
    assert ExtractiveObserver().reflect(ReflectInput("s1", [], 100)).rows == ()


WORDS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=60)
LINES = st.builds("{}{}".format, st.sampled_from(["🔴 ", "🟡 ", "🟢 ", "✅ ", ""]), WORDS)
ROWS = st.lists(st.lists(LINES, min_size=1, max_size=6).map("\n".join), max_size=20)


def _said(line: str) -> str:
    """A line without its day, as two of them are compared."""
    return " ".join(line.split(" (2026-")[0].casefold().split()).rstrip(" .!")


@given(ROWS, st.integers(1, 400), st.booleans())
def test_every_line_that_lasts_is_in_the_result_whatever_the_target(texts: list[str], target: int, apart: bool) -> None:
    said: list[Group] = [group(n, text) for n, text in enumerate(texts, 1)]
    folded = folded_rows(said, target, apart=apart)
    kept = [line for row in folded.rows for line in row.text.splitlines()]
    assert {_said(line) for text in texts for line in text.splitlines() if "🔴" in line} <= {
        _said(line) for line in kept
    }
    assert len({_said(line) for line in kept}) == len(kept)
    size = sum(estimate(f"{line}\n") for line in kept)
    if folded.over_target:
        assert (folded.over_target, any("🔴" in line for line in kept) or size <= LAST_LINE + 1) == (
            size - target,
            True,
        )
    else:
        assert size <= target
