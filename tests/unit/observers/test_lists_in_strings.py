"""A model that writes a list as a string of JSON has written the list."""

from __future__ import annotations

import json
from typing import Any

import pytest

from neve.domain.compact.prompt import read_summary_answer
from neve.domain.librarian.answer import read_filing_answer
from neve.domain.observe.answer import read_answer
from neve.domain.reflect.condense_prompt import read_condensed
from neve.domain.reflect.prompt import read_rows

FACT = {"text": "User sails", "category": "PREFERENCE", "importance": 3, "by": "user_stated"}


def observed(**given: Any) -> Any:
    return read_answer({"has_memory": True, **given}, first=1, last=2, shown={"mem_1"})


def test_of_a_pass() -> None:
    lines = json.dumps([{"text": "🔴 User sails", "seq_from": 1, "seq_to": 1}])
    read = observed(observations=lines, used_memory_ids='["mem_1"]', facts=json.dumps([FACT, {**FACT, "by": "x"}]))
    assert [line.text for line in read.observations] == ["🔴 User sails"]
    assert read.used_memory_ids == ["mem_1"]
    assert ([fact.text for fact in read.facts], read.facts_not_read) == (["User sails"], 1)


@pytest.mark.parametrize("facts", ["[", "none", '{"text": "User sails"}', "[" * 100_000])
def test_a_string_that_is_no_list_is_none(facts: str) -> None:
    read = observed(facts=facts)
    assert (read.facts, read.facts_not_read) == ([], 1)
    with pytest.raises(ValueError):
        observed(observations=facts)


def test_of_a_reflection_and_of_a_night() -> None:
    [row] = read_rows({"rows": json.dumps([{"text": "🔴 a", "group_ids": '["mem_1"]'}])}, {"mem_1"})
    assert (row.text, row.group_ids) == ("🔴 a", ["mem_1"])
    [condensed] = read_condensed({"rows": json.dumps([{"content": "🔴 [a]"}])}, {"mem_1"})
    assert condensed.content == "🔴 [a]"


def test_of_a_summary_and_of_a_filing() -> None:
    assert read_summary_answer({"insights": '["A boat"]'}).insights == ("A boat",)
    action = {"action": "create", "path": "/profile/goals", "text": "[1] Sail to Oslo", "seqs": "[1]", "tags": "[]"}
    read = read_filing_answer(
        {"key_topics": '["oslo"]', "actions": json.dumps([action, {}])}, seqs=[1], shown=(), whole=()
    )
    assert [taken.text for taken in read.actions] == ["[1] Sail to Oslo"]
    assert (read.account.key_topics, read.rejected) == (("oslo",), {"malformed": 1})
