"""Turns: when one is complete, where they are, which a compaction covers. Literals:
docs/rules/values.md#history-kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.records.sessions import EventType
from neve.domain.sessions.transcript import completes_turn, covered_turns, turns
from tests.unit.domain_rows import event

TYPES = {
    "u": EventType.USER_MESSAGE,
    "a": EventType.ASSISTANT_RESPONSE,
    "c": EventType.TOOL_CALL,
    "r": EventType.TOOL_RESULT,
    "b": EventType.TASK_BOUNDARY,
}


@pytest.mark.parametrize(
    ("before", "appended", "complete"),
    [
        ("", "u", False),
        ("", "ua", True),
        ("", "uc", False),
        ("", "ucr", False),
        ("", "ucra", True),
        ("u", "a", True),
        ("r", "a", True),
        ("", "uu", True),
        ("u", "u", True),
        ("r", "u", True),
        ("a", "u", False),
        ("a", "uu", True),
        ("a", "uc", False),
        ("u", "au", True),
        ("u", "ac", False),
        ("", "a", True),
        ("", "b", False),
        ("a", "b", False),
        ("u", "b", False),
        ("", "uab", True),
        ("u", "bu", True),
    ],
)
def test_completes_turn(before: str, appended: str, complete: bool) -> None:
    last = TYPES[before] if before else None
    assert completes_turn([TYPES[letter] for letter in appended], last) is complete


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("", []),
        ("ua", [(1, 2)]),
        ("uaua", [(1, 2), (3, 4)]),
        ("ucraua", [(1, 4), (5, 6)]),
        ("uu", [(1, 1), (2, 2)]),
        ("aua", [(1, 3)]),
        ("auaua", [(1, 3), (4, 5)]),
        ("aa", [(1, 2)]),
        ("uabu", [(1, 3), (4, 4)]),
    ],
)
def test_turns(log: str, expected: list[tuple[int, int]]) -> None:
    events = [event(seq, event_type=TYPES[letter]) for seq, letter in enumerate(log, start=1)]
    assert [(turn[0], turn[-1]) for turn in turns(events)] == expected


def test_turns_of_a_part_of_the_log_keep_its_seqs() -> None:
    events = [event(seq, event_type=TYPES[letter]) for seq, letter in enumerate("uaua", start=7)]
    assert turns(events) == [range(7, 9), range(9, 11)]


@given(st.text(alphabet="uacrb", max_size=30))
def test_turns_cover_the_log_without_gaps(log: str) -> None:
    events = [event(seq, event_type=TYPES[letter]) for seq, letter in enumerate(log, start=1)]
    assert [seq for turn in turns(events) for seq in turn] == list(range(1, len(log) + 1))


@pytest.mark.parametrize(
    ("count", "covered"),
    [(12, (3, 9)), (6, (3, 3)), (5, None), (4, None), (1, None), (0, None)],
)
def test_pruned_to_the_minimum(count: int, covered: tuple[int, int] | None) -> None:
    found = covered_turns([1000] * count, 0)
    assert (found and (found[0] + 1, found[-1] + 1)) == covered


@pytest.mark.parametrize(
    ("tokens", "budget", "covered"),
    [
        ([10] * 12, 50, (3, 7)),
        ([10] * 12, 49, (3, 8)),
        ([10] * 12, 100, None),
        ([10] * 12, 99, (3, 3)),
        ([10] * 12, 10_000, None),
        ([10, 10, 10, 900, 10, 10, 10, 10], 100, (3, 4)),
        ([10, 10, 10, 10, 900, 900, 900], 100, (3, 4)),
    ],
)
def test_the_newest_whole_turns_within_the_budget_are_kept(
    tokens: list[int], budget: int, covered: tuple[int, int] | None
) -> None:
    found = covered_turns(tokens, budget)
    assert (found and (found[0] + 1, found[-1] + 1)) == covered


@given(st.lists(st.integers(min_value=0, max_value=1000), max_size=40), st.integers(min_value=0, max_value=5000))
def test_first_two_and_last_three_turns_are_never_covered(tokens: list[int], budget: int) -> None:
    covered = covered_turns(tokens, budget)
    if covered is not None:
        assert covered.start == 2
        assert covered.stop <= len(tokens) - 3
        newest = tokens[covered.stop :]
        assert sum(newest) <= budget or len(newest) == 3
        assert sum(newest) + tokens[covered.stop - 1] > budget
