"""A sweep gives every kind of work its share of the time: no backlog, and no store that fails one, stops another."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.jobs.time_share import shares
from neve.ports import StoreUnavailable
from neve.store.partitions import all_rows, due_rows
from neve.store.stream_records import Change
from neve.usecases.background import sweep_due as sweeping
from neve.usecases.background.sweep_due import COUNTS, sweep_due
from neve.usecases.sessions.note_open import note_open
from neve.usecases.tenants.create_tenant import create_tenant
from tests.unit.librarian.library_world import LibraryWorld

SESSIONS = 4


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibraryWorld]:
    """Sessions that nobody ended, half an hour ago."""
    world = LibraryWorld.at(tmp_path_factory.mktemp("sweep"))
    create_tenant(world, "acme")
    for n in range(SESSIONS):
        world.open(session=f"s{n}")
    heads = all_rows(world.table, world.user().keys.partition, prefix="SES#")
    note_open(world, [Change("", None, item) for item in heads])
    world.clock.move(minutes=31)
    yield world
    world.table.close()


def test_a_kind_whose_time_is_over_goes_on_with_the_next_sweep(world: LibraryWorld) -> None:
    assert len(list(due_rows(world.table, "idle"))) == SESSIONS
    hurried = sweep_due(world, lambda: 0.0)
    assert hurried.keys() == set(COUNTS)
    assert (hurried["closed"], hurried["idle_left"], hurried["left"]) == (1, 1, 1)
    rest = sweep_due(world)
    assert (rest["closed"], rest["idle_left"], rest["left"]) == (SESSIONS - 1, 0, 0)


def test_a_store_that_fails_one_kind_keeps_no_other_waiting(
    world: LibraryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise StoreUnavailable("queue", "gone")

    def clear(*_: object) -> int:
        later.append("texts")
        return 0

    later: list[str] = []
    monkeypatch.setattr(sweeping, "requeue_pending", fail)
    monkeypatch.setattr(sweeping, "clear_unmade", clear)
    with pytest.raises(StoreUnavailable, match="gone"):
        sweep_due(world)
    assert later == ["texts"]


@given(
    backlogs=st.lists(st.integers(0, 40), min_size=1, max_size=9),
    piece_s=st.floats(0.1, 3.0),
    time_s=st.floats(60.0, 300.0),
)
def test_every_kind_gets_its_share(backlogs: list[int], piece_s: float, time_s: float) -> None:
    spare_s, spent = 30.0, 0.0
    fair_s = (time_s - spare_s) / len(backlogs)

    def seconds_left() -> float:
        return time_s - spent

    for backlog, share in zip(backlogs, shares(seconds_left, len(backlogs), spare_s), strict=True):
        done = 0
        for _ in share.of(range(backlog)):
            spent += piece_s
            done += 1
        assert share.left is (done < backlog)
        assert done == backlog or done * piece_s >= fair_s - len(backlogs) * piece_s
    assert spent <= time_s - spare_s + len(backlogs) * piece_s
