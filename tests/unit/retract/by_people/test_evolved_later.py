"""What comes back, or is read again, stands before what a person said later: in a pack the newer one holds
(docs/rules/retract.md#derived)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from neve.domain.memories.live_rows import NOWHERE, LivePlace, in_place
from neve.domain.records.markers import LiveRow
from neve.domain.records.memories import Kind
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.tell.memories.evolve_memory import Evolution, evolve_memory
from tests.unit.retract.test_run_retraction import fold, observe, retract, scope_of, seen, work
from tests.unit.world import World, observed_line

BEFORE, THEN, NOW = "🟡 The budget is 500.", "🟡 The budget is 900.", "🟡 The budget is 1200."


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World.make(tmp_path)
    world.open()
    yield world
    world.table.close()


def evolved(world: World) -> None:
    """What the last message stated does not hold any more."""
    world.clock.move(minutes=5)
    stated = observe(world, "five", "six", says=THEN)
    world.clock.move(minutes=5)
    evolve_memory(world.user(), stated, Evolution(NOW, "they said so on the phone"))


def told(world: World) -> list[str]:
    """In the order of the session's memories, which is that of its pack."""
    texts = [memory.text for memory in seen(world)]
    pack = str(read_pack(scope_of(world)).text)
    places = [pack.index(text.removeprefix("🟡 ")) for text in texts]
    assert places == sorted(places)
    return texts


def test_what_comes_back_stands_before_it(world: World) -> None:
    first = observe(world, "one", "two", says="🟡 The hotel is the Ritz.")
    second = observe(world, "three", "four", says=BEFORE)
    fold(world, first, second, text="🟡 The hotel is the Ritz, the budget 500.")
    evolved(world)
    work(world, retract(world, 1, 2))
    assert told(world) == [BEFORE, NOW]


def test_what_is_read_again_stands_before_it(world: World) -> None:
    observe(world, "one", "two", "three", "four", says=BEFORE)
    evolved(world)
    world.observer.answers.append(observed_line(BEFORE, 1, 2))
    work(world, retract(world, 3, 4))
    assert told(world) == [BEFORE, NOW]


def test_what_no_log_holds_stands_where_its_time_says() -> None:
    """Never before a row of the log that begins before it."""
    places = {
        "first": LivePlace(1, "09:01"),
        "early": LivePlace(0, "09:02"),
        "fourth": LivePlace(4, "09:04"),
        "late": LivePlace(0, "09:09"),
        "gone": NOWHERE,
    }
    live = tuple(LiveRow(i, Kind.OBSERVATION, 1) for i in places)

    def placed(seq: int, at: str) -> str | None:
        """What it stands before; None at the end."""
        row = LiveRow("back", Kind.OBSERVATION, 1)
        ids = [*(one.id for one in in_place(live, row, places | {"back": LivePlace(seq, at)})), None]
        return ids[ids.index("back") + 1]

    assert placed(2, "09:03") == "fourth"
    assert placed(2, "09:01") == "early"
    assert placed(5, "09:05") == "late"
    assert placed(5, "09:10") is None
    assert placed(5, "09:03") == "late", "whatever its time is"
    assert placed(0, "09:03") == "fourth"
    assert placed(0, "09:00") == "first"
    assert placed(0, "09:09") is None
