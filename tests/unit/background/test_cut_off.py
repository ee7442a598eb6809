"""A worker that runs out of its time says so while it still can: nothing runs behind its end."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from neve.store.keys import leg_health
from neve.store.tenants.leg_health import WORKERS, read_leg_troubles
from neve.troubles import ACTIVE_FOR, Trouble
from neve.workers import cut_off
from neve.workers.cut_off import LAMBDA, TELL_S, telling_if_cut_off
from tests.patience import PATIENCE_S
from tests.unit.api_world import installed
from tests.unit.world import World


class Ending:
    """Lambda's context of a worker that may run for ``left_s`` more."""

    def __init__(self, left_s: float) -> None:
        self._left_ms = int(left_s * 1000)

    def get_remaining_time_in_millis(self) -> int:
        return self._left_ms


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv(LAMBDA, "neve-dev-compact")
    monkeypatch.delenv("POWERTOOLS_METRICS_DISABLED", raising=False)
    yield from installed(World.make(tmp_path))


def told(world: World) -> list[Trouble]:
    """As another process reads it."""
    return read_leg_troubles(world.table.get_many([leg_health(WORKERS)]), world.clock.now())


def test_a_worker_that_is_about_to_be_cut_off_is_told(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said, tell = threading.Event(), cut_off.tell_of_cut_off

    def telling(ports: World, function: str) -> None:
        tell(ports, function)
        said.set()

    monkeypatch.setattr(cut_off, "tell_of_cut_off", telling)
    with telling_if_cut_off(world, "compact", Ending(TELL_S)):
        assert said.wait(PATIENCE_S)
    [trouble] = told(world)
    assert (trouble.what, trouble.kind, trouble.reason) == (
        "workers",
        "failing",
        "a worker of compact ran out of its time: what it had taken up waits for its message to come again",
    )
    assert [one.what for one in world.caches.troubles.active()] == ["workers"]
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["WorkersCutOff"] for line in lines if "WorkersCutOff" in line] == [[1.0]]
    world.clock.move(seconds=ACTIVE_FOR.total_seconds())
    assert (told(world), world.caches.troubles.active()) == ([], ())


def test_one_that_ends_in_time_is_not(world: World) -> None:
    before = threading.active_count()
    with telling_if_cut_off(world, "compact", Ending(3_600)):
        assert threading.active_count() == before + 1
    with telling_if_cut_off(world, "compact", None):
        pass
    assert told(world) == []
