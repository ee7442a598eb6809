"""Between which times a row holds (docs/rules/memories.md#validity)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.errors import NeveError
from neve.domain.memories.revised import with_times_of
from neve.domain.memories.unheld import is_unheld, unheld_facts, with_successors
from neve.domain.memories.visibility import active, in_force
from neve.domain.records.memories import Kind, Memory, Provenance, Status
from neve.domain.reflect.nightly import may_be_condensed
from neve.domain.validity import holds_at, require_span
from neve.store.keys import UserKeys, is_unheld_key
from neve.store.rows import put_memory
from tests.unit.pack.test_repeated_statements import row

MOMENTS = [f"2026-03-{day:02}T00:00:00.000Z" for day in range(1, 7)]
A_TIME = st.sampled_from(MOMENTS)
MAYBE = st.none() | A_TIME
KEYS = UserKeys("t1", "u1")


def memory(**more: object) -> Memory:
    times = {"created_at": MOMENTS[0], "observed_at": MOMENTS[0], "last_used_at": MOMENTS[0]}
    fields: dict[str, Any] = {**times, **more}
    return replace(row("m", "User is in Rome"), **fields)


@given(MAYBE, MAYBE, A_TIME)
def test_a_row_is_shown_when_it_holds_and_at_no_other_time(first: str | None, end: str | None, at: str) -> None:
    one = memory(valid_from=first, valid_until=end)
    assert holds_at(one, at) == ((first or "") <= at < (end or "9"))
    assert active(one, 1, at) == holds_at(one, at)


@given(MAYBE, MAYBE)
def test_an_end_is_behind_its_beginning_or_refused(first: str | None, end: str | None) -> None:
    if first and end and end <= first:
        with pytest.raises(NeveError, match="valid_until"):
            require_span(first, end)
    else:
        require_span(first, end)


@given(MAYBE, MAYBE, MAYBE, A_TIME)
def test_what_was_in_force_was_there_held_and_had_no_successor(
    first: str | None, end: str | None, replaced: str | None, at: str
) -> None:
    status = Status.SUPERSEDED if replaced else Status.ACTIVE
    one = memory(valid_from=first, valid_until=end, status=status, superseded_at=replaced)
    assert in_force(one, 1, at) == (holds_at(one, at) and at < (replaced or "9"))
    assert not in_force(replace(one, created_at="2027"), 1, at)
    assert not in_force(replace(one, status=Status.INBOX), 1, at)
    waited = replace(one, status=Status.SUPERSEDED, superseded_at=replaced or MOMENTS[-1], was=Status.INBOX)
    assert not in_force(waited, 1, at), "it had never been let in"


def test_a_fact_that_has_ended_is_one_that_does_not_hold() -> None:
    fact = memory(kind=Kind.FACT, provenance=Provenance("user_stated", "s1", 1, 1), valid_until=MOMENTS[3])
    assert is_unheld(fact), "one day"
    assert unheld_facts([fact], 1, MOMENTS[2]) == []
    [ended] = with_successors(unheld_facts([fact], 1, MOMENTS[3]), {}, 1, MOMENTS[3])
    assert (ended.fact, ended.why, ended.successor) == (fact, Status.SUPERSEDED, None)
    assert not is_unheld(replace(fact, provenance=Provenance("human_edit"))), "no line says it"


def test_it_competes_as_a_new_row_until_the_index_has_its_words() -> None:
    fact = memory(kind=Kind.FACT, provenance=Provenance("user_stated", "s1", 1, 1), valid_until=MOMENTS[3])
    new = replace(fact, rev_at=MOMENTS[0])
    known = (new, replace(new, words_at=MOMENTS[0]), replace(fact, rev_at=None))
    assert [is_unheld_key(put_memory(KEYS, one).item["recent_sk"]) for one in known] == [False, True, True]
    waits = replace(new, status=Status.SUPERSEDED, superseded_by="other")
    assert is_unheld_key(put_memory(KEYS, waits).item["recent_sk"])


def test_no_night_condenses_what_ends() -> None:
    line = memory(kind=Kind.OBSERVATION)
    assert may_be_condensed(line)
    assert not may_be_condensed(replace(line, valid_until=MOMENTS[3]))
    assert not may_be_condensed(replace(line, valid_from=MOMENTS[3]))


@given(MAYBE, MAYBE, MAYBE, A_TIME)
def test_what_is_stated_again_holds_then(known: str | None, end: str | None, first: str | None, at: str) -> None:
    said = memory(valid_until=end) if end and end > at else memory()
    before = memory(valid_from=first, valid_until=known)
    after = with_times_of(before, said, at, at)
    assert holds_at(after, at)
    same = (after.valid_from, after.valid_until) == (before.valid_from, before.valid_until)
    assert after.rev == before.rev + (not same)
    if said.valid_until is None and holds_at(before, at):
        assert after == before, "it ends when it did"


def test_what_was_said_before_changes_no_times() -> None:
    before = replace(memory(valid_until=MOMENTS[3]), observed_at=MOMENTS[2])
    assert with_times_of(before, memory(), MOMENTS[1], MOMENTS[5]) == before
