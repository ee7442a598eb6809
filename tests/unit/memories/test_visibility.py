"""Literals: docs/rules/values.md#generation."""

from __future__ import annotations

import pytest

from neve.domain.memories.visibility import being_replaced, born, status_at, visible
from neve.domain.records.memories import Status
from tests.unit.domain_rows import memory

ROWS = [(1, None), (1, 5), (5, None)]


@pytest.mark.parametrize(("gen", "shown"), [(4, [True, True, False]), (5, [True, False, True])])
def test_a_replacement_becomes_visible_by_one_flip(gen: int, shown: list[bool]) -> None:
    assert [visible(born, died, gen) for born, died in ROWS] == shown


@pytest.mark.parametrize(
    ("status", "died_gen", "gen", "seen"),
    [
        (Status.RESOLVED, None, 4, Status.RESOLVED),
        (Status.ACTIVE, 5, 4, Status.ACTIVE),
        (Status.ACTIVE, 5, 5, Status.SUPERSEDED),
        (Status.SUPERSEDED, 5, 4, Status.ACTIVE),
        (Status.SUPERSEDED, 5, 5, Status.SUPERSEDED),
    ],
)
def test_status_at(status: Status, died_gen: int | None, gen: int, seen: Status) -> None:
    assert status_at(memory("x", status=status, died_gen=died_gen), gen) is seen


def test_a_row_is_born_with_its_generation_and_stays_known_when_it_is_replaced() -> None:
    assert [born(born_gen, 4) for born_gen, _ in ROWS] == [True, True, False]
    assert [being_replaced(memory("x", died_gen=died_gen)) for _, died_gen in ROWS] == [False, True, False]
