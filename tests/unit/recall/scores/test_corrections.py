"""What a correction is, and where it stands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from neve.domain.recall.corrections import Statement, newer_first
from neve.domain.terms import terms

OLD = Statement("old", "2026-01-01", "Ann", "The glaze workshop starts at ten on Saturday.", 6)
NEW = Statement("new", "2026-02-01", "Ann", "Correction: the glaze workshop starts at two.", 5)


def order(*best_first: Statement) -> list[str]:
    return [one.id for one in newer_first(best_first, lambda one: one, terms)]


@pytest.mark.parametrize(
    "text",
    [
        "Correction: the glaze workshop starts at two.",
        "My mistake, the glaze workshop starts on Sunday",
        "The glaze workshop was moved from Saturday to Sunday.",
        "There is no longer a glaze workshop on Saturday",
    ],
)
def test_a_newer_statement_that_takes_an_older_one_back_is_to_stand_before_it(text: str) -> None:
    assert order(OLD, replace(NEW, text=text)) == ["new", "old"]


@pytest.mark.parametrize(
    "newer",
    [
        replace(NEW, text="The glaze workshop starts at ten on Saturday, I hope."),
        replace(NEW, text="Correction: my sister lives in Kyoto."),
        replace(NEW, text="I just updated the workshop list to version six on Saturday evening at home"),
        replace(NEW, speaker="Bob"),
        replace(NEW, at="2025-12-01"),
        replace(NEW, length=300),
    ],
    ids=["no cue", "another subject", "nothing taken back", "another speaker", "older", "a page"],
)
def test_nothing_else_moves(newer: Statement) -> None:
    assert order(OLD, newer) == ["old", "new"]


def test_a_known_successor_needs_no_cue() -> None:
    memory = replace(NEW, speaker=None, text="Ann likes tea", replaces=frozenset({"old"}))
    assert order(OLD, memory) == ["new", "old"]


def test_the_newest_of_several_corrections_ends_up_first() -> None:
    newest = replace(NEW, id="newest", at="2026-03-01", text="Scratch that, the glaze workshop starts at three.")
    assert order(OLD, newest, NEW) == ["newest", "new", "old"]
