"""The statements of a fact, and what is left when some are taken back (docs/rules/retract.md#repeated-facts)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.memories.fact_statements import MAX_STATEMENTS, restated, statement_of, statements_of, with_statement
from neve.domain.memories.text import fingerprint
from neve.domain.records.memories import By, Kind, Memory, Priority, Provenance, Scope, Statement, Status, Tier, Trust
from neve.domain.records.sessions import Spans
from neve.domain.retract.derived import Consequences, Elsewhere, consequences
from neve.domain.sessions.spans import holds, joined
from neve.store import rows
from neve.store.keys import UserKeys

SAYS = "User likes tea."


def stated_at(
    seq: int, session: str = "s1", by: By = "user_stated", trust: Trust = "user", text: str | None = None
) -> Statement:
    return Statement(by, session, seq, seq, trust, observed_at=f"2026-03-10T09:{seq:02}:00.000Z", text=text)


def fact(first: Statement, *others: Statement, **more: object) -> Memory:
    origin = Provenance(first.by, first.session_id, first.seq_from, first.seq_to, "model", first.trust)
    memory = Memory(
        id="mem_01KKBHRFH771PTMHD1TB4K7AMC",
        kind=Kind.FACT,
        tier=Tier.SEMANTIC,
        scope=Scope.SESSION,
        session_id=first.session_id,
        text=SAYS,
        priority=Priority.MEDIUM,
        importance=3,
        fingerprint=fingerprint(SAYS),
        status=Status.ACTIVE,
        provenance=origin,
        created_at="2026-03-10T09:00:00.000Z",
        observed_at=first.observed_at,
        last_used_at="2026-03-10T09:00:00.000Z",
        tokens=1,
        rev=1,
        born_gen=1,
    )
    for one in others:
        memory = with_statement(memory, one)
    return replace(memory, **more)  # type: ignore[arg-type]


def weighed(memory: Memory, session: str, spans: Spans, **retracted: Spans) -> Consequences:
    return consequences([memory], session, spans, 1, Elsewhere(retracted))


_PLACES = st.tuples(st.sampled_from(["s1", "s2", "s3"]), st.integers(1, 12))


@given(st.lists(_PLACES, min_size=1, max_size=MAX_STATEMENTS + 1, unique=True), st.sets(_PLACES))
def test_it_is_seen_iff_one_of_its_statements_is_left(
    places: list[tuple[str, int]], gone: set[tuple[str, int]]
) -> None:
    """Judged by the session of the one that it is kept by."""
    memory = fact(*(stated_at(seq, session) for session, seq in places))
    spans = {name: joined((seq, seq) for session, seq in gone if session == name) for name in ("s1", "s2", "s3")}
    own = places[0][0]
    outcome = weighed(memory, own, spans[own], **{name: spans[name] for name in spans if name != own})
    left = [place for place in places if place not in gone]
    if places[0] in left:
        assert (outcome.leave, outcome.back, outcome.touched) == ((), (), frozenset())
        assert (memory.id in outcome.changed) == any(place in gone for place in places if place[0] == own)
        return
    assert outcome.leave == (memory,)
    found = [(one.session_id, one.provenance.seq_from) for back in outcome.back for one in statements_places(back)]
    assert sorted(map(str, found)) == sorted(map(str, left))
    assert [one.occurrences for one in outcome.back] == ([len(left)] if left else [])
    assert not any(holds(spans[str(session)], seq or 0) for session, seq in found)


def statements_places(memory: Memory) -> list[Memory]:
    """The fact as if it were kept by each of its statements."""
    origins = [Provenance(one.by, one.session_id, one.seq_from, one.seq_to) for one in statements_of(memory)]
    return [replace(memory, provenance=origin, session_id=origin.session_id) for origin in origins]


def test_another_sessions_retraction_only_shortens_the_list() -> None:
    memory = fact(stated_at(1), stated_at(2, "s2"))
    outcome = weighed(memory, "s2", ((2, 2),), s1=((1, 1),))
    assert (outcome.leave, outcome.back, dict(outcome.changed)) == ((), (), {memory.id: ()})


@pytest.mark.parametrize(
    ("others", "by", "trust", "status"),
    [
        ((stated_at(2, by="assistant", trust="assistant"), stated_at(3)), "user_stated", "user", Status.ACTIVE),
        ((stated_at(2, by="assistant", trust="assistant"),), "assistant", "assistant", Status.INBOX),
        ((stated_at(2, trust="tool"),), "user_stated", "tool", Status.INBOX),
    ],
)
def test_it_stands_by_the_first_that_may_state_facts(
    others: tuple[Statement, ...], by: By, trust: Trust, status: Status
) -> None:
    found = restated(fact(stated_at(1), *others), others)
    assert found is not None
    assert (found.provenance.by, found.provenance.trust, found.status) == (by, trust, status)


def test_the_words_go_with_the_statement() -> None:
    other = stated_at(2, text="Tea is what the user likes (meaning 2026-03-09).")
    memory = fact(stated_at(1), other, stated_at(3))
    found = restated(memory, memory.restatements)
    assert found is not None and other.text is not None
    assert (found.text, found.fingerprint, found.referenced_date) == (other.text, fingerprint(other.text), "2026-03-09")
    assert [one.text for one in found.restatements] == [SAYS]
    assert restated(memory, ()) is None


def test_what_is_read_again_is_not_counted_and_not_noted_twice() -> None:
    memory = with_statement(fact(stated_at(1)), Statement("user_stated", "s1", 1, 2), counts=False)
    assert (memory.occurrences, memory.restatements) == (1, ())
    memory = with_statement(memory, stated_at(5), counts=False)
    assert (memory.occurrences, len(memory.restatements)) == (1, 1)


def test_a_row_keeps_its_statements() -> None:
    keys = UserKeys("t1", "u1")
    memory = fact(stated_at(1), stated_at(2, "s2", text="Tea, says ❄."), statement_of(Provenance("human_edit"), "2026"))
    item = rows.put_memory(keys, memory).item
    assert replace(rows.read_memory(dict(item)), version=0) == memory
    assert "restatements" not in rows.put_memory(keys, fact(stated_at(1))).item
