"""The feed of outgoing events."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from local.engine.sqlite_table import Change as StoredChange
from local.workers.worker_events import stream_event
from neve.domain.cursors import InvalidCursor
from neve.domain.outgoing.event import OutgoingEvent
from neve.ports.errors import StoreUnavailable
from neve.store.stream_records import read_change
from neve.usecases.ask.outgoing.read_feed import read_feed
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.requests.request_erasure import request_erasure
from neve.usecases.work.background.dispatch_changes import dispatch_changes
from neve.usecases.work.outgoing.append_feed import NEWEST, append_feed
from tests.unit.recall_world import RecallWorld


@pytest.fixture
def world(new_recall_world: RecallWorld) -> RecallWorld:
    new_recall_world.with_policy()
    return new_recall_world


def event(n: int, user: str = "ann") -> OutgoingEvent:
    return OutgoingEvent(f"out_{n}", "memory.written", "2026-03-10T09:30:00.000Z", user, f"mem_{n}", {"rev": 1})


def append(world: RecallWorld, *numbers: int) -> int:
    return append_feed(world, world.tenant.keys, [event(n) for n in numbers])


def read(world: RecallWorld, after: str | None = None, limit: int = 200) -> list[str]:
    return [one.id for one in read_feed(world.scope, limit, after).events]


def deliver(world: RecallWorld, changes: Sequence[StoredChange]) -> None:
    """The outbox gets a batch of the stream, for the first time or again."""
    dispatch_changes(world, [read_change(record) for record in stream_event(changes)["Records"]])


def test_events_are_read_in_the_order_in_which_they_came_whatever_the_page(world: RecallWorld) -> None:
    append(world, 1, 2, 3)
    append(world, 4)
    append(world, 5, 6)
    seen: list[str] = []
    after: str | None = None
    while True:
        page = read_feed(world.scope, 2, after)
        seen += [one.id for one in page.events]
        after = page.cursor
        if not page.more:
            break
    assert seen == [f"out_{n}" for n in range(1, 7)]
    append(world, 7)
    assert read(world, after) == ["out_7"]


def test_two_writers_leave_no_gap_behind_which_a_reader_would_miss_one(world: RecallWorld) -> None:
    first = append(world, 1)
    world.caches.of(NEWEST).put(world.tenant.id, first)  # as a process that does not know of the next one

    def other_writer() -> None:
        world.caches.of(NEWEST).drop(world.tenant.id)
        append(world, 2)
        world.caches.of(NEWEST).put(world.tenant.id, first)

    world.rows.before_write = other_writer
    assert append(world, 3) == first + 2
    assert read(world) == ["out_1", "out_2", "out_3"]


def test_a_feed_of_which_nothing_is_left_goes_on_above_what_it_had(world: RecallWorld) -> None:
    last = append(world, 1)
    cursor = read_feed(world.scope, 10, None).cursor
    world.clock.move(days=8)
    world.rows.delete_expired(world.clock.now())
    assert append(world, 2) > last
    page = read_feed(world.scope, 10, cursor)
    assert [one.id for one in page.events] == ["out_2"] and page.missed


def test_a_feed_goes_on_behind_a_row_whose_time_is_over_and_whose_number_lies_ahead(world: RecallWorld) -> None:
    world.clock.move(days=30)
    append(world, 1)
    world.clock.move(days=-30)
    append(world, 2)
    world.clock.move(days=8)
    for number in (3, 4):
        world.caches.of(NEWEST).drop(world.tenant.id)
        append(world, number)
    assert read(world) == ["out_1", "out_3", "out_4"]


def test_rows_whose_time_is_over_are_not_shown_before_they_are_removed(world: RecallWorld) -> None:
    append(world, 1)
    world.clock.move(days=7, seconds=1)
    append(world, 2)
    assert read(world) == ["out_2"]


def test_a_cursor_of_another_list_is_refused(world: RecallWorld) -> None:
    with pytest.raises(InvalidCursor):
        read(world, "bm90aGluZw==")


def test_a_repeated_batch_tells_of_the_same_under_the_same_id(world: RecallWorld) -> None:
    world.remember("tea")
    changes = world.rows.read_changes(0, 100)
    world.dispatch()
    once = read(world)
    deliver(world, changes)
    assert read(world) == once * 2


def test_a_usage_bump_is_no_event(world: RecallWorld) -> None:
    tea = world.remember("tea")
    world.dispatch()
    before = read(world)
    world.change(tea, last_used_at="2027-01-01T00:00:00.000Z")
    world.dispatch()
    assert read(world) == before


def test_what_an_erasure_removes_is_not_told_row_by_row(world: RecallWorld) -> None:
    tea = world.remember("tea")
    delete_memory(world.user("ann"), tea, None)
    world.remember("coffee")
    request_erasure(world.user("ann"), close=False)
    world.dispatch()
    assert read(world) == []


def test_a_store_that_fails_has_the_batch_repeated(world: RecallWorld) -> None:
    world.remember("tea")

    def unavailable() -> None:
        raise StoreUnavailable("table", "test")

    changes = world.rows.read_changes(0, 100)
    world.dispatch()
    world.rows.before_write = unavailable
    with pytest.raises(StoreUnavailable):
        deliver(world, changes)
    deliver(world, changes)
    assert len(read(world)) == 2
