"""How far memory is behind a session: what is counted, since when, and who takes it off the list."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.records.markers import SessionMarker
from neve.domain.records.sessions import EventType, SessionHead
from neve.domain.sessions.checkpoints import CHECKPOINTS, appended
from neve.domain.sessions.transcript import completed_to
from neve.scope import SessionData
from neve.store import rows
from neve.usecases.core.lag import memory_lag
from neve.usecases.core.lag.indexed_row import IndexedRow
from neve.usecases.core.lag.memory_lag import MemoryLag, Progress, leave_if_caught_up, sessions_behind, user_lag
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.background.sweep_due import sweep_due
from tests.unit.recall_world import RecallWorld

START = datetime(2026, 3, 10, 9, tzinfo=UTC)
USER, ASSISTANT, TOOL = EventType.USER_MESSAGE, EventType.ASSISTANT_RESPONSE, EventType.TOOL_CALL


@pytest.fixture
def world(recall_world: RecallWorld) -> RecallWorld:
    return recall_world


def progress(*, last: int, complete: int = 0, observed: int = 0, offered: int = 0, words: int = 0) -> Progress:
    head = SessionHead("s1", "open", started_at="", last_seq=last, complete_seq=complete)
    marker = SessionMarker("s1", observed_seq=observed, offered_seq=offered)
    return Progress(head, marker, IndexedRow("s1", indexed_seq=words, embedded=((1, words),) if words else ()))


# --- what is counted ----------------------------------------------------------------------------


def test_each_number_counts_its_own() -> None:
    assert progress(last=10, complete=8, observed=2, words=7).lag(START) == MemoryLag(3, 3, 3, 6, 0)
    assert progress(last=10, complete=8, observed=2, offered=8, words=10).lag(START).none, "offered is read"
    assert progress(last=3, complete=0, words=3).lag(START).none, "an open turn waits for its end, not for a pass"


def test_a_message_that_waits_keeps_a_session_on_the_list_until_it_is_taken_back() -> None:
    waiting = progress(last=3, complete=2, observed=2, words=3)
    assert not waiting.caught_up(START)
    assert replace(waiting, head=replace(waiting.head, retracted=((3, 3),))).caught_up(START)
    assert not replace(waiting, head=replace(waiting.head, retracted=((1, 2),))).caught_up(START)


def test_events_without_their_vectors_are_counted_whatever_their_order() -> None:
    row = IndexedRow("s1", indexed_seq=100, embedded=((11, 20), (31, 40)))
    assert row.unembedded(100) == 80
    assert list(row.not_embedded((5, 35))) == [(5, 10), (21, 30)]
    assert list(row.not_embedded((12, 18))) == [] == list(row.not_embedded((9, 8)))
    assert row.with_vectors((1, 10), None).with_vectors((21, 30), None).embedded == ((1, 40),)


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)).map(sorted), max_size=8), st.integers(1, 30))
def test_spans_say_what_a_set_of_seqs_would(spans: list[list[int]], last: int) -> None:
    row = IndexedRow("s1", indexed_seq=30)
    for first, to in spans:
        row = row.with_vectors((first, to), None)
    held = {seq for first, to in spans for seq in range(first, to + 1)}
    lacking = {seq for first, to in row.not_embedded((1, last)) for seq in range(first, to + 1)}
    assert lacking == set(range(1, last + 1)) - held
    assert row.unembedded(last) == len(lacking)
    assert row.embedded_to == next(seq for seq in range(31) if seq + 1 not in held)
    assert all(left[1] + 1 < right[0] for left, right in zip(row.embedded, row.embedded[1:], strict=False))


@pytest.mark.parametrize(
    ("before", "types", "complete"),
    [
        (0, [USER], 0),
        (0, [USER, ASSISTANT], 2),
        (0, [USER, USER], 1),
        (0, [USER, ASSISTANT, TOOL], 2),
        (0, [USER, TOOL, USER], 2),
        (7, [TOOL], 7),
    ],
)
def test_where_the_last_complete_turn_ends(before: int, types: list[EventType], complete: int) -> None:
    assert completed_to(before, list(enumerate(types, 1))) == complete


# --- since when ---------------------------------------------------------------------------------


def test_the_oldest_that_waits_says_how_long() -> None:
    head = replace(progress(last=6).head, behind=((2, 100), (4, 160), (6, 200)))
    now = datetime.fromtimestamp(260, UTC)
    for words, seconds in ((0, 160), (1, 160), (2, 100), (4, 60), (6, 0)):
        one = replace(progress(last=6, words=words), head=head)
        assert one.lag(now).seconds == seconds


@given(st.integers(1, 40))
def test_many_appends_are_remembered_as_a_few_and_no_age_is_lost(count: int) -> None:
    head = SessionHead("s1", "open", started_at="")
    for n in range(1, count + 1):
        head = replace(head, last_seq=n, behind=appended(head, n, START + timedelta(seconds=n)))
    assert len(head.behind) == min(count, CHECKPOINTS)
    assert head.behind[0][1] == int(START.timestamp()) + 1, "the oldest time stays"
    assert head.behind[-1] == (count, int(START.timestamp()) + count)


# --- the list -----------------------------------------------------------------------------------


def listed(world: RecallWorld) -> list[str]:
    return [keys.session for keys in sessions_behind(world.rows, world.tenant.keys.of_user("ann"))]


def read_to(world: RecallWorld, seq: int) -> None:
    keys = world.session.keys
    item = world.rows.get(keys.marker)
    assert item is not None
    world.rows.write([rows.put_marker(keys, replace(rows.read_marker(item), offered_seq=seq))])


def test_an_append_lists_the_session_and_the_sweep_takes_it_off_when_all_is_done(world: RecallWorld) -> None:
    world.say("I have no answer yet")
    assert listed(world) == ["s1"]
    assert user_lag(world.user()) == MemoryLag(1, 1, 1, 0, 0)
    sweep_due(world)
    assert listed(world) == ["s1"]
    world.pump()
    assert user_lag(world.user()).none and listed(world) == ["s1"]
    sweep_due(world)
    assert listed(world) == ["s1"], "a new session's pack tells of what no pass has read"
    read_to(world, 1)
    sweep_due(world)
    assert listed(world) == []
    append_events(world.user().of_session("s1"), [NewEvent(USER, "And now?")])
    assert listed(world) == ["s1"]


def test_an_append_that_wins_against_the_leaving_stays_listed(world: RecallWorld) -> None:
    world.say("I have no answer yet")
    world.pump()
    read_to(world, 1)
    keys, write = world.tenant.keys.of_user("ann").of_session("s1"), world.rows.write

    def beaten(ops: object) -> None:
        world.rows.write = write  # type: ignore[method-assign]
        world.say("One more")
        write(ops)  # type: ignore[arg-type]

    world.rows.write = beaten  # type: ignore[method-assign]
    leave_if_caught_up(SessionData(world, keys), world.clock.now())
    item = world.rows.get(keys.session_head)
    assert item is not None and rows.read_session(item).last_seq == 2
    assert listed(world) == ["s1"]


def test_memories_are_counted_by_what_they_lack(world: RecallWorld) -> None:
    world.remember("Mary drinks tea")
    world.clock.move(seconds=7)
    assert user_lag(world.user()) == MemoryLag(0, 1, 1, 0, 7)
    assert world.words(world.dispatch()) == {}
    world.clock.move(seconds=2)
    assert user_lag(world.user()) == MemoryLag(0, 0, 1, 0, 2)
    assert world.embed(world.dispatch()) == {}
    assert user_lag(world.user()).none


def test_a_lag_counts_so_many_memories_and_says_that_there_are_more(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those without words first; how long the oldest waits is known all the same."""
    monkeypatch.setattr(memory_lag, "MAX_MEMORIES", 4)
    monkeypatch.setattr(memory_lag, "_PAGE", 2)
    for n in range(3):
        world.remember(f"Mary knows song {n}")
        world.clock.move(seconds=10)
    assert world.words(world.dispatch()) == {}
    world.remember("Mary drinks tea")
    assert user_lag(world.user()) == MemoryLag(0, 1, 4, 0, 0), "all four are counted"
    world.clock.move(seconds=10)
    world.remember("Mary drinks milk")
    world.rows.calls.clear()
    assert user_lag(world.user()) == MemoryLag(0, 2, 4, 0, 10, at_least=True)
    assert world.rows.calls["query"] == 1 + 2 + 2, "the sessions, two pages, the oldest of either kind"


def test_a_lag_reads_so_many_sessions_and_says_that_there_are_more(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    for session in ("s2", "s3"):
        world.open(session)
        world.say("hi", session=session)
    assert user_lag(world.user()) == MemoryLag(2, 2, 2, 0, 0)
    monkeypatch.setattr(memory_lag, "MAX_SESSIONS", 1)
    assert user_lag(world.user()) == MemoryLag(1, 1, 1, 0, 0, at_least=True)
