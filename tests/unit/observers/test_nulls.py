"""A model that writes null for what it leaves out has left it out."""

from __future__ import annotations

import pytest

from neve.domain.compact.prompt import read_summary_answer
from neve.domain.librarian.answer import read_filing_answer
from neve.domain.librarian.filing import ShownDocument
from neve.domain.observe.answer import read_answer
from neve.domain.reflect.condense_prompt import read_condensed
from neve.domain.reflect.prompt import read_rows


def test_of_a_reflection() -> None:
    [row] = read_rows({"rows": [{"text": "🔴 a", "group_ids": None}]}, {"mem_1"})
    assert row.group_ids == []


def test_of_a_night() -> None:
    row = {"content": "🔴 a", "group_ids": None, "priority": None, "observed_date": None}
    [read] = read_condensed({"rows": [row]}, {"mem_1"})
    assert (read.group_ids, read.priority, read.observed_date) == ([], None, None)


@pytest.mark.parametrize("heading", ["decisions", "action_items", "insights", "preferences"])
def test_of_a_summary(heading: str) -> None:
    items = {name: ["An item"] for name in ("decisions", "action_items", "insights", "preferences")}
    read = read_summary_answer({**items, heading: None})
    assert getattr(read, heading) == ()
    assert sum(len(getattr(read, name)) for name in items) == 3


def test_of_an_account_and_of_a_change() -> None:
    action = {
        "action": "update",
        "path": "/profile/goals",
        "text": "Sail to Oslo",
        "base_rev": 1,
        "to_path": None,
        "title": None,
        "tags": None,
        "importance": None,
        "certainty": None,
        "seqs": [1],
    }
    account = {"title": None, "outcome": None, "emotional_tone": None, "insights": ["A boat"]}
    shown = [ShownDocument("/profile/goals", 1, "Sail")]
    read = read_filing_answer({**account, "actions": [action]}, seqs=[1], shown=shown, whole=["/profile/goals"])
    [taken] = read.actions
    assert (taken.tags, taken.importance, taken.certainty, read.rejected) == ((), 3, "medium", {})
    assert (read.account.title, read.account.outcome, read.account.emotional_tone) == ("", "SUCCESS", "neutral")
    assert read.account.text.insights == ("A boat",)


def test_of_a_pass() -> None:
    fact = {"text": "User sails", "category": "PREFERENCE", "importance": 3, "by": "user_stated", "relation": None}
    read = read_answer(
        {"has_memory": True, "observations": None, "used_memory_ids": None, "facts": [fact]}, first=1, last=2, shown=()
    )
    assert (read.facts[0].relation, read.facts_not_read) == ("new", 0)
