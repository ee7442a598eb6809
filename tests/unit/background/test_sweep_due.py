"""A sweep gives every kind of work its share of the time: no backlog, and no store that fails one, stops another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.jobs.time_share import shares
from neve.ports.errors import Conflict, StoreUnavailable
from neve.store import rows
from neve.store.partitions import all_rows, due_rows
from neve.store.stream_records import Change
from neve.usecases.tell.sessions.note_open import note_open
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.work.background import sweep_due as sweeping
from neve.usecases.work.background.sweep_due import COUNTS, sweep_due
from neve.workers.sweep import sweep
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


def test_a_kind_that_nobody_foresaw_failing_keeps_no_other_waiting_and_is_told(
    world: LibraryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise ValueError("odd")

    reported: list[tuple[str, str]] = []
    monkeypatch.setattr(sweeping, "send_expired", fail)
    monkeypatch.setattr(sweeping, "clear_unmade", lambda *_: 3)
    swept = sweep_due(world, on_failure=lambda kind, error: reported.append((kind, str(error))))
    assert (swept["failed"], swept["texts"], reported) == (1, 3, [("archives", "odd")])


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


def test_a_row_that_nothing_can_be_done_with_keeps_no_other_waiting_and_is_told(
    world: LibraryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither among its own kind nor in the next one; what another worker is at is no failure."""
    reported: list[tuple[str, str]] = []
    outcomes = iter((ValueError("odd"), StoreUnavailable("objects", "gone"), Conflict(), None))

    def build(*_: object) -> None:
        outcome = next(outcomes)
        if outcome is not None:
            raise outcome

    monkeypatch.setattr(sweeping, "build_pack", build)
    for n in range(SESSIONS):
        keys = world.user().of_session(f"s{n}").keys
        epoch = replace(rows.read_epoch(world.table.get(keys.epoch) or {}), rebuild_due="reflection")
        world.table.write([rows.put_epoch(keys, epoch, world.clock.now())])
    swept = sweep_due(world, on_failure=lambda kind, error: reported.append((kind, type(error).__name__)))
    assert (swept["rebuilt"], swept["busy"], swept["failed"], swept["closed"]) == (1, 1, 2, SESSIONS)
    assert sorted(reported) == [("rebuild", "StoreUnavailable"), ("rebuild", "ValueError")]


def test_the_worker_of_a_sweep_tells_what_failed(
    world: LibraryWorld,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("odd")

    monkeypatch.setattr(sweeping, "build_pack", fail)
    keys = world.user().of_session("s0").keys
    epoch = replace(rows.read_epoch(world.table.get(keys.epoch) or {}), rebuild_due="reflection")
    world.table.write([rows.put_epoch(keys, epoch, world.clock.now())])
    assert sweep(world, None)["failed"] == 1
    assert '"SweepTasksFailed":[1.0]' in capsys.readouterr().out
    assert [vars(record)["component"] for record in caplog.records if record.message == "failed"] == ["sweep rebuild"]
