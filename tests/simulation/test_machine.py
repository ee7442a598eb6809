"""The simulation's own parts: order, waiting, death, and the checker of histories."""

from __future__ import annotations

from importlib import import_module
from math import inf
from pkgutil import iter_modules

import pytest

from neve.ports.errors import DeadlineExceeded
from neve.ports.table import Key, Put
from tests.simulation import checks
from tests.simulation.checks import all_of_them
from tests.simulation.checks.linearizable import UNKNOWN, Model, Operation, linearizable
from tests.simulation.machine.chaos import Temper
from tests.simulation.machine.cloud import Cloud
from tests.simulation.machine.ports import SimPorts
from tests.simulation.machine.process import Process
from tests.simulation.machine.scheduler import Crashed, Scheduler
from tests.simulation.machine.swapped import swapped
from tests.simulation.workloads import ROTATION, WORKLOADS

CALM = Temper(harsh=(0.0,), skew_s=(0.0,))


def test_every_workload_has_its_turn() -> None:
    assert {workload.name for workload in ROTATION} == set(WORKLOADS)


def test_actors_go_on_in_the_order_of_their_times() -> None:
    scheduler, seen = Scheduler(), []

    def actor(name: str, *pauses: float) -> None:
        for pause in pauses:
            scheduler.pause(pause)
            seen.append((name, scheduler.now_s))

    scheduler.start(lambda: actor("a", 1.0, 2.0))
    scheduler.start(lambda: actor("b", 2.0, 0.5))
    scheduler.run()
    assert seen == [("a", 1.0), ("b", 2.0), ("b", 2.5), ("a", 3.0)]


def test_what_an_actor_raises_ends_the_run() -> None:
    scheduler = Scheduler()

    def fail() -> None:
        raise ValueError("wrong")

    scheduler.start(fail)
    with pytest.raises(ValueError, match="wrong"):
        scheduler.run()


def test_an_actor_that_is_ended_does_nothing_more() -> None:
    scheduler, seen = Scheduler(), []

    def actor() -> None:
        try:
            scheduler.pause(5.0)
            seen.append("went on")
        finally:
            with pytest.raises(Crashed):
                scheduler.pause(1.0)
            seen.append("unwound")

    scheduler.start(actor)
    scheduler.later(1.0, scheduler.stop)
    scheduler.run()
    scheduler.end()
    assert seen == ["unwound"]


def _process(cloud: Cloud) -> SimPorts:
    return SimPorts(Process(cloud, "p"))


def test_a_dead_process_writes_nothing_more() -> None:
    cloud = Cloud(1, CALM)
    ports, results = _process(cloud), []

    def work() -> None:
        ports.table.write([Put({"pk": "P", "sk": "1", "type": "thing"})])
        ports.process.alive = False
        try:
            ports.table.write([Put({"pk": "P", "sk": "2", "type": "thing"})])
        finally:
            results.append("died")

    cloud.scheduler.start(work)
    cloud.scheduler.run()
    assert (list(cloud.table.rows), results) == ([Key("P", "1")], ["died"])


def test_a_row_that_was_read_is_nobodys_to_change() -> None:
    cloud = Cloud(1, CALM)
    cloud.table.write([Put({"pk": "P", "sk": "1", "type": "thing", "parts": [{"n": 1}]})])
    row = cloud.table.get(Key("P", "1"))
    assert row is not None and row | {"more": 1} == {**row, "more": 1}
    for change in (
        lambda: row.update(more=1),
        lambda: row.pop("type"),
        lambda: row["parts"].append(2),
        lambda: row["parts"][0].setdefault("m", 1),
    ):
        with pytest.raises(TypeError, match="everybody"):
            change()
    assert cloud.table.get(Key("P", "1")) == {"pk": "P", "sk": "1", "type": "thing", "parts": [{"n": 1}], "version": 0}


def test_what_was_swapped_is_put_back() -> None:
    class Place:
        def named(self) -> str:
            return "own"

    with pytest.raises(RuntimeError), swapped((Place, "named", lambda _: "other")):
        assert Place().named() == "other"
        raise RuntimeError
    assert Place().named() == "own"


def test_a_task_that_takes_too_long_goes_on_behind_its_caller() -> None:
    cloud = Cloud(1, CALM)
    ports = _process(cloud)
    seen: list[object] = []

    def slow() -> str:
        ports.clock.sleep(10.0)
        seen.append(cloud.scheduler.now_s)
        return "done"

    def caller() -> None:
        task = ports.tasks.start(slow)
        with pytest.raises(DeadlineExceeded):
            task.result(2_000.0)
        seen.append(cloud.scheduler.now_s)
        seen.append(task.result())

    cloud.scheduler.start(caller)
    cloud.scheduler.run()
    assert seen == [2.0, 10.0, "done"]


def test_every_invariant_is_looked_at() -> None:
    found = [import_module(f"{checks.__name__}.{one.name}") for one in iter_modules(checks.__path__)]
    named = [invariant for module in found for invariant in getattr(module, "INVARIANTS", ())]
    assert set(named) == set(all_of_them.INVARIANTS)
    assert len(found) > 5


# --- linearizability ------------------------------------------------------------------------------


def _after(state: int, operation: Operation) -> list[int]:
    kind, value = operation.asked
    if kind == "read":
        return [state] if operation.answer in (state, UNKNOWN) else []
    expected, new = value
    holds = state == expected
    if operation.answer is UNKNOWN or operation.answer == holds:
        return [new if holds else state]
    return []


REGISTER = Model(0, _after)


def read(began: float, ended: float, answer: int) -> Operation:
    return Operation(began, ended, ("read", None), answer)


def swap(began: float, ended: float, expected: int, new: int, answer: object) -> Operation:
    return Operation(began, ended, ("swap", (expected, new)), answer)


@pytest.mark.parametrize(
    ("history", "possible"),
    [
        ([swap(0, 1, 0, 1, True), read(2, 3, 1)], True),
        ([swap(0, 1, 0, 1, True), read(2, 3, 0)], False),
        ([swap(0, 3, 0, 1, True), read(1, 2, 0), read(1, 2, 1)], True),
        ([swap(0, 5, 0, 1, True), read(1, 2, 1), read(3, 4, 0)], False),
        ([swap(0, 1, 0, 1, True), swap(0, 1, 0, 2, True)], False),
        ([swap(0, 1, 0, 1, True), swap(0, 1, 0, 2, False), read(2, 3, 1)], True),
        ([swap(0, inf, 0, 1, UNKNOWN), read(2, 3, 0), read(4, 5, 1)], True),
        ([swap(0, inf, 0, 1, UNKNOWN), read(2, 3, 1), read(4, 5, 0)], False),
        ([swap(2, inf, 0, 1, UNKNOWN), read(0, 1, 1)], False),
        ([swap(0, inf, 0, 1, UNKNOWN), read(2, 3, 0)], True),
    ],
)
def test_a_history_is_linearizable_iff_some_order_explains_it(history: list[Operation], possible: bool) -> None:
    assert linearizable(history, REGISTER) is possible
