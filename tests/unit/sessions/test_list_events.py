"""The log in either direction, with and without what was taken back (docs/rules/sessions.md#reading)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neve.domain.sessions.spans import holds, joined
from neve.scope import SessionScope
from neve.store import rows
from neve.usecases.ask.sessions.list_events import MOST_READS, list_events
from tests.unit.world import World

EVENTS = 24


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    world = World.make(tmp_path_factory.mktemp("log"))
    world.open()
    for n in range(EVENTS // 2):
        world.say(f"Question {n}.", f"Answer {n}.")
    yield world


def session(world: World) -> SessionScope:
    return world.user().of_session("s1")


def taken_back(world: World, *spans: tuple[int, int]) -> None:
    keys = session(world).keys
    epoch = rows.read_epoch(world.table.get(keys.epoch) or {})
    world.table.write([rows.put_epoch(keys, replace(epoch, retracted=joined(spans)), world.clock.now())])


def pages(world: World, limit: int, *, backwards: bool = False, retracted: bool = True) -> list[list[int]]:
    found: list[list[int]] = []
    at: int | None = None
    while True:
        page = list_events(session(world), at, limit, backwards=backwards, retracted=retracted)
        found.append([event.seq for event in page.events])
        if page.next_from_seq is None:
            return found
        assert at is None or (page.next_from_seq < at) == backwards
        at = page.next_from_seq


SPANS = st.lists(st.tuples(st.integers(1, EVENTS), st.integers(0, 6)), max_size=6)


@settings(max_examples=60, deadline=None)
@given(SPANS, st.integers(1, 30), st.booleans(), st.booleans())
def test_pages_hold_each_event_once_in_either_direction(
    world: World, starts: list[tuple[int, int]], limit: int, backwards: bool, retracted: bool
) -> None:
    spans = joined((first, min(first + more, EVENTS)) for first, more in starts)
    taken_back(world, *spans)
    found = pages(world, limit, backwards=backwards, retracted=retracted)
    wanted = [seq for seq in range(1, EVENTS + 1) if retracted or not holds(spans, seq)]
    assert [seq for page in found for seq in page] == (wanted[::-1] if backwards else wanted)
    assert max(map(len, found)) <= limit


@pytest.mark.parametrize("backwards", [False, True])
def test_a_stretch_that_was_taken_back_costs_no_read(world: World, backwards: bool) -> None:
    taken_back(world, (1, 9), (12, EVENTS))
    page = list_events(session(world), None, 2, backwards=backwards, retracted=False)
    assert [event.seq for event in page.events] == ([11, 10] if backwards else [10, 11])


def test_a_page_reads_a_bounded_part_of_the_log(world: World) -> None:
    taken_back(world, *((seq, seq) for seq in range(1, EVENTS, 2)))
    before = world.table.calls["query"]
    page = list_events(session(world), None, 20, retracted=False)
    assert page.events and world.table.calls["query"] - before <= MOST_READS
