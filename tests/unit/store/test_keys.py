"""The layout of the table's keys, which stored rows have, and what is read from a key."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.times import iso
from neve.store import keys as layout
from neve.store.keys import (
    LAST_SEQ,
    NO_WORDS,
    UserKeys,
    client_id_of,
    deleted_document_id,
    due_bucket,
    due_key,
    due_until,
    image_name,
    is_memory_key,
    is_summary_key,
    memory_place,
    own_memory_at,
    recent_key,
    seq_of,
    session_of,
    unheld_key,
)
from tests.ids import names

ANN = UserKeys("t1", "ann")
S1 = ANN.of_session("s1")
IDS = names()
OWN = "mem_01JZ0000000000000000000001"
SEQS = st.integers(1, LAST_SEQ)
TIMES = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))


def test_the_layout_of_stored_rows() -> None:
    user = "T#t1#U#ann"
    assert [
        ANN.head,
        S1.session_head,
        S1.marker,
        S1.epoch,
        S1.indexed,
        S1.event(7),
        S1.client_id("c1"),
        ANN.memory(OWN),
        ANN.deleted_memory(OWN),
        ANN.memory("mem_1"),
        ANN.deleted_memory("1"),
        ANN.memory_at(datetime(2026, 1, 1, tzinfo=UTC), "-x"),
        S1.pack(3),
        ANN.recall("rcl_1"),
        ANN.job("job_1"),
        ANN.job_list("job_1", "touched", "0a1b"),
    ] == [
        (user, "HEAD"),
        (user, "SES#s1"),
        (user, "SESS#s1#M"),
        (user, "SESS#s1#E"),
        (user, "SESS#s1#X"),
        (f"{user}#S#s1", "EVT#0000000007"),
        (f"{user}#S#s1", "CID#c1"),
        (user, "MEM#01JZ0000000000000000000001"),
        (user, "MEMD#01JZ0000000000000000000001"),
        (user, "MEM#.mem_1"),
        (user, "MEMD#.1"),
        (user, "MEMT#01KDVDNA00#-x"),
        (user, "PACK#s.s1#00000003"),
        (f"{user}#R", "RCL#1"),
        ("T#t1#JOB", "1"),
        (user, "JOBL#1#touched#0a1b"),
    ]


def test_no_prefix_begins_another() -> None:
    names = (
        "SESSION",
        "SESSION_STATE",
        "MEMORY",
        "DELETED_MEMORY",
        "MEMORY_PLACE",
        "PACK",
        "EVENT",
        "CLIENT_ID",
        "RECALL",
    )
    prefixes = [getattr(layout, name) for name in names]
    begun = [(one, other) for one in prefixes for other in prefixes if one != other and other.startswith(one)]
    assert begun == []
    assert len(set(prefixes)) == len(names)


@given(SEQS, SEQS, SEQS)
def test_a_range_of_events_holds_what_lies_within(seq: int, first: int, last: int) -> None:
    low, high = S1.events(first, last)
    event = S1.event(seq)
    assert seq_of(event) == seq
    assert event.pk == S1.log
    assert (low <= event.sk <= high) == (first <= seq <= last)
    assert S1.events(1) == ("EVT#0000000001", "EVT#9999999999")


def test_the_seq_of_another_row_is_an_error() -> None:
    with pytest.raises(ValueError, match="EVT#"):
        seq_of(S1.client_id("7"))
    with pytest.raises(ValueError, match="CID#"):
        client_id_of(S1.event(7))


@given(IDS)
def test_ids_are_read_back(identifier: str) -> None:
    session = ANN.of_session(identifier)
    assert session_of(session.session_head) == identifier
    assert client_id_of(S1.client_id(identifier)) == identifier
    others = [session.marker, session.epoch, session.indexed, ANN.memory(identifier), ANN.deleted_memory(identifier)]
    assert [session_of(row) for row in others] == [None] * len(others)
    assert [is_memory_key(row.sk) for row in others] == [False, False, False, True, False]
    assert image_name(ANN.image_object(identifier)) == identifier


@given(IDS, IDS)
def test_memories_behind_one_are_those_that_sort_after_it(one: str, other: str) -> None:
    row, seen = ANN.memory(one), ANN.memory(other)
    low, high = ANN.memories_behind(None)
    assert low <= row.sk <= high
    others = [ANN.deleted_memory(one), S1.pack(1), ANN.of_session(one).session_head, ANN.head]
    assert not any(low <= key.sk <= high for key in others)
    low, high = ANN.memories_behind(seen.sk)
    assert (low <= row.sk <= high) == (row.sk > seen.sk)


@given(IDS, IDS, st.integers(1, 99_999_999))
def test_packs_of_a_session_are_of_no_other(session: str, other: str, version: int) -> None:
    key = ANN.of_session(other).pack(version)
    assert key.sk.startswith(ANN.of_session(session).packs) == (session == other)


@given(IDS, IDS)
def test_the_state_of_a_session_is_of_no_other_and_in_the_order_of_their_ids(session: str, other: str) -> None:
    """Also where the id of one begins that of the other."""
    one, two = ANN.of_session(session), ANN.of_session(other)
    for key in (two.marker, two.epoch, two.indexed):
        assert key.sk.startswith(one.state) == (session == other)
        assert session == other or (key.sk > one.indexed.sk) == (other > session)
    assert not any(key.sk.startswith(one.state) for key in (one.session_head, one.filing, one.pack(1)))


@given(IDS, TIMES, TIMES)
def test_due_keys_sort_by_their_time(identifier: str, one: datetime, other: datetime) -> None:
    at, until = (f"{time:%Y-%m-%dT%H:%M}" for time in (one, other))
    key = due_key(at, ANN, identifier)
    low, high = due_until(until)
    assert due_bucket(key) == at
    assert (low <= key <= high) == (at <= until)
    assert due_until(None)[0] <= key <= due_until(None)[1]


@given(IDS, TIMES, TIMES)
def test_recent_keys_tell_those_without_words_from_those_without_vectors(
    identifier: str, rev: datetime, words: datetime
) -> None:
    rev_at, words_at = map(iso, (rev, words))
    without = recent_key(identifier, rev_at=rev_at, words_at=None)
    assert without.startswith(NO_WORDS)
    within = recent_key(identifier, rev_at=rev_at, words_at=words_at)
    assert within < unheld_key(identifier, rev_at) < without


def test_a_key_is_of_its_tenant_alone() -> None:
    rows = [ANN.head, S1.event(1), ANN.recall("rcl_1"), ANN.vector("f", "m")]
    assert all(row.pk.startswith("T#t1#") for row in rows)


def test_what_else_a_key_says() -> None:
    assert deleted_document_id(ANN.deleted_document("doc_1")) == "doc_1"
    assert is_summary_key(S1.summary(2).sk) and not is_summary_key(S1.stand_in(2).sk)
    assert own_memory_at(memory_place(ANN.memory(OWN))) == ANN.memory(OWN).sk
    with pytest.raises(ValueError):
        deleted_document_id(ANN.document("/a"))
