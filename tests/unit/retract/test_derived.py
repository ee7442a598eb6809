"""What becomes of memories whose events are taken back (docs/rules/retract.md#derived)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.memories.fact_statements import statements_of
from neve.domain.memories.text import fingerprint
from neve.domain.records.memories import Kind, Memory, Priority, Provenance, Scope, Statement, Status, Tier
from neve.domain.records.sessions import Spans
from neve.domain.retract.derived import MAX_FACTS, Consequences, consequences, named_by

SESSION = "s1"


def memory(name: str, first: int | None = None, last: int | None = None, **more: Any) -> Memory:
    says = more.pop("says", name)
    origin = more.pop("origin", Provenance("user_stated", more.pop("session", SESSION), first, last))
    given = {"kind": Kind.OBSERVATION, "status": Status.ACTIVE} | more
    return Memory(
        id=name,
        tier=Tier.EPISODIC,
        scope=Scope.SESSION,
        text=f"about {says}",
        priority=Priority.MEDIUM,
        importance=3,
        fingerprint=says,
        provenance=origin,
        created_at="",
        observed_at="",
        last_used_at="",
        tokens=1,
        rev=1,
        born_gen=1,
        **given,
    )


def gone(name: str, first: int, last: int, **more: Any) -> Memory:
    return memory(name, first, last, status=Status.SUPERSEDED, died_gen=1, **more)


def reflection(name: str, *sources: str, **more: Any) -> Memory:
    return memory(name, kind=Kind.REFLECTION, supersedes=sources, **more)


def weighed(*memories: Memory, spans: Spans = ((4, 6),)) -> Consequences:
    return consequences(memories, SESSION, spans, 1)


def ids(memories: tuple[Memory, ...]) -> list[str]:
    return [one.id for one in memories]


def test_what_lies_inside_leaves_and_what_is_met_is_read_again() -> None:
    outcome = weighed(memory("a", 1, 2), memory("b", 3, 5), memory("c", 4, 6), memory("d", 7, 9))
    assert ids(outcome.leave) == ["b", "c"]
    assert ids(outcome.again) == ["b"]
    assert outcome.touched == {"b", "c"}
    assert outcome.back == ()


def test_another_sessions_memories_stay() -> None:
    assert weighed(memory("a", 4, 5, session="s2"), memory("b")) == Consequences((), (), (), frozenset())


def test_a_memory_that_was_made_without_the_events_stays() -> None:
    left = Provenance("user_stated", SESSION, 1, 9, left_out=((4, 6),))
    assert weighed(memory("a", origin=left)).leave == ()
    assert ids(weighed(memory("a", origin=left), spans=((4, 7),)).again) == ["a"]


def test_the_sources_of_a_reflection_come_back_but_for_what_is_taken_back() -> None:
    outcome = weighed(gone("a", 1, 2), gone("b", 3, 4), gone("c", 5, 6), reflection("r", "a", "b", "c"))
    assert ids(outcome.leave) == ["r"]
    assert ids(outcome.back) == ["a"]
    assert ids(outcome.again) == ["b"]
    assert outcome.touched == {"b", "c", "r"}


def test_a_reflection_of_reflections_is_taken_apart_as_far_as_it_is_touched() -> None:
    inner = reflection("inner", "b", "c", status=Status.SUPERSEDED, died_gen=1)
    clean = reflection("clean", "x", status=Status.SUPERSEDED, died_gen=1)
    sources = [gone("a", 1, 2), gone("b", 3, 3), gone("c", 5, 5), gone("x", 8, 9)]
    outcome = weighed(*sources, inner, clean, reflection("outer", "a", "inner", "clean"))
    assert ids(outcome.leave) == ["outer"]
    assert sorted(ids(outcome.back)) == ["a", "b", "clean"]
    assert outcome.again == ()


def test_a_reflection_with_clean_sources_stays_whatever_its_range_is() -> None:
    origin = Provenance("user_stated", SESSION, 1, 9)
    outcome = weighed(gone("a", 1, 2), gone("b", 8, 9), reflection("r", "a", "b", origin=origin))
    assert outcome.leave == ()


def test_a_reflection_without_its_sources_goes_by_its_range() -> None:
    origin = Provenance("user_stated", SESSION, 1, 9)
    assert ids(weighed(reflection("r", "deleted", origin=origin)).leave) == ["r"]


def test_what_another_reflection_still_says_does_not_come_back() -> None:
    outcome = weighed(gone("a", 1, 2), gone("c", 5, 5), reflection("r", "a", "c"), reflection("other", "a"))
    assert ids(outcome.leave) == ["r"]
    assert outcome.back == ()


@pytest.mark.parametrize(("by", "comes_back"), [("user_stated", ["old"]), ("user_confirmed", []), ("human_edit", [])])
def test_a_fact_comes_back_that_only_a_retracted_one_had_replaced(by: Any, comes_back: list[str]) -> None:
    old = gone("old", 1, 1, kind=Kind.FACT, superseded_by="new")
    new = memory("new", kind=Kind.FACT, supersedes=("old",), origin=Provenance(by, SESSION, 5, 5))
    outcome = weighed(old, new)
    assert ids(outcome.leave) == ["new"]
    assert ids(outcome.back) == comes_back


def test_a_chain_of_retracted_facts_gives_the_first_one_back() -> None:
    first = gone("first", 1, 1, kind=Kind.FACT, superseded_by="second")
    second = gone("second", 4, 4, kind=Kind.FACT, supersedes=("first",), superseded_by="third")
    third = memory("third", 5, 5, kind=Kind.FACT, supersedes=("second",))
    assert ids(weighed(first, second, third).back) == ["first"]
    later = memory("third", 8, 8, kind=Kind.FACT, supersedes=("second",))
    assert weighed(first, second, later).back == ()


@pytest.mark.parametrize(
    ("status", "comes_back"),
    [(Status.ACTIVE, []), (Status.INBOX, []), (Status.RESOLVED, ["old"]), (Status.SUPERSEDED, ["old"])],
)
def test_a_fact_does_not_come_back_that_was_said_again(status: Status, comes_back: list[str]) -> None:
    old = gone("old", 1, 1, kind=Kind.FACT, superseded_by="new", says="same")
    new = memory("new", 5, 5, kind=Kind.FACT, supersedes=("old",))
    again = memory("again", 8, 8, kind=Kind.FACT, says="same", status=status)
    assert ids(weighed(old, new, again).back) == comes_back
    taken_back_too = memory("again", 6, 6, kind=Kind.FACT, says="same", status=status)
    assert ids(weighed(old, new, taken_back_too).back) == ["old"]
    assert ids(weighed(old, new, memory("note", 8, 8, kind=Kind.NOTE, says="same")).back) == ["old"]


def test_a_statement_comes_back_once() -> None:
    first = gone("first", 1, 1, kind=Kind.FACT, superseded_by="one", says="same")
    second = gone("second", 2, 2, kind=Kind.FACT, superseded_by="two", says="same")
    one = memory("one", 4, 4, kind=Kind.FACT, supersedes=("first",))
    two = memory("two", 5, 5, kind=Kind.FACT, supersedes=("second",))
    assert ids(weighed(first, second, one, two).back) == ["second"]


def test_of_many_facts_that_come_back_some_do_later() -> None:
    count = MAX_FACTS + 2
    old = [gone(f"old{n}", 1, 1, kind=Kind.FACT, superseded_by=f"new{n}") for n in range(count)]
    new = [memory(f"new{n}", 5, 5, kind=Kind.FACT, supersedes=(f"old{n}",)) for n in range(count)]
    line = memory("line", 3, 5)
    outcome = weighed(*new, *old, line)
    assert (len(outcome.facts_back), len(outcome.leave), outcome.more) == (MAX_FACTS, MAX_FACTS + 1, True)
    assert ids(outcome.again) == ["line"] and len(outcome.touched) == count + 1
    assert not weighed(*new[:MAX_FACTS], *old).more


def test_a_row_that_replaces_itself_is_no_endless_loop() -> None:
    assert weighed(reflection("r", "r", origin=Provenance("user_stated", SESSION, 1, 2))).leave == ()


_SPANS = st.lists(st.tuples(st.integers(1, 12), st.integers(0, 4)).map(lambda t: (t[0], t[0] + t[1])), max_size=4)


@given(st.data())
def test_against_a_model_of_what_is_still_said(data: st.DataObject) -> None:
    """Observations of single events, folded at random: after a retraction every event that is not taken back is still
    said by something that readers see or that is read again, and nothing that readers see says one that is."""
    from neve.domain.sessions.spans import holds, joined

    count = data.draw(st.integers(1, 8))
    says: dict[str, set[int]] = {}
    rows: dict[str, Memory] = {}
    for seq in range(1, count + 1):
        rows[f"o{seq}"], says[f"o{seq}"] = memory(f"o{seq}", seq, seq), {seq}
    for fold in range(data.draw(st.integers(0, 3))):
        live = sorted(i for i, row in rows.items() if row.status is Status.ACTIVE)
        named = data.draw(st.lists(st.sampled_from(live), min_size=1, unique=True)) if live else []
        if named:
            rows[f"r{fold}"] = reflection(f"r{fold}", *named)
            says[f"r{fold}"] = set().union(*(says[i] for i in named))
            for i in named:
                rows[i] = gone(i, *_range(rows[i]), kind=rows[i].kind, supersedes=rows[i].supersedes)
    spans = joined(data.draw(_SPANS))
    outcome = consequences(rows.values(), SESSION, spans, 1)
    left = {memory.id for memory in outcome.leave}
    seen = {i for i, row in rows.items() if row.status is Status.ACTIVE} - left | set(ids(outcome.back))
    stated = set().union(*(says[i] for i in seen), *({row.provenance.seq_from} for row in outcome.again))
    assert not any(holds(spans, seq) for i in seen for seq in says[i])
    assert stated == {seq for seq in range(1, count + 1) if not holds(spans, seq)}


def _range(row: Memory) -> tuple[int, int]:
    return row.provenance.seq_from or 0, row.provenance.seq_to or 0


def test_two_facts_that_say_the_same_come_back_as_one_that_knows_of_both() -> None:
    """One had been corrected by a fact that leaves, the other one leaves and was said again: should that be taken back
    as well, the first one still stands."""
    retold = (Statement("user_stated", SESSION, 8, 8),)
    old = gone("old", 1, 1, kind=Kind.FACT, superseded_by="new", supersedes=("oldest",), says="same")
    new = memory("new", 4, 4, kind=Kind.FACT, supersedes=("old",))
    again = memory("again", 5, 5, kind=Kind.FACT, supersedes=("between",), restatements=retold)
    again = replace(again, fingerprint=fingerprint(again.text))
    old = replace(old, text=again.text, fingerprint=again.fingerprint)
    outcome = weighed(old, new, again)
    assert ids(outcome.leave) == ["new", "again"]
    [back] = outcome.back
    assert {one.seq_from for one in statements_of(back)} == {1, 8}
    assert set(named_by(back)) == {"old", "oldest", "again", "between"}


def test_of_two_facts_that_say_the_same_the_one_that_waits_does_not_come_back() -> None:
    first = gone("first", 1, 1, kind=Kind.FACT, superseded_by="one", says="same")
    second = replace(gone("second", 2, 2, kind=Kind.FACT, superseded_by="two", says="same"), status=Status.INBOX)
    one = memory("one", 4, 4, kind=Kind.FACT, supersedes=("first",))
    two = memory("two", 5, 5, kind=Kind.FACT, supersedes=("second",))
    assert ids(weighed(first, second, one, two).back) == ["first"]
    assert ids(weighed(second, first, two, one).back) == ["first"]
