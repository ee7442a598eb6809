"""Virtual time: what is slow takes no time, and every budget has one outcome."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest

from local.controls.virtual_time import VirtualClock, VirtualTasks, request_time, spend
from neve.adapters.clock import SystemClock
from neve.ports.errors import DeadlineExceeded

AT = datetime(2026, 3, 10, 9, 30, tzinfo=UTC)


class HandClock(SystemClock):
    at = AT

    def now(self) -> datetime:
        return self.at


def slow(ms: float, value: str = "done") -> str:
    spend(ms)
    return value


def in_a_fresh_flow(work: object) -> None:
    """Run ``work`` where no time has passed yet."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()  # type: ignore[operator]
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    for failure in failures:
        raise failure


def test_time_moves_only_when_something_is_slow() -> None:
    def work() -> None:
        clock = VirtualClock(SystemClock())
        assert clock.monotonic_ms() == 0
        spend(400)
        assert clock.monotonic_ms() == 400

    in_a_fresh_flow(work)
    in_a_fresh_flow(work)


def test_tasks_run_beside_each_other() -> None:
    def work() -> None:
        clock, tasks = VirtualClock(SystemClock()), VirtualTasks()
        first = tasks.start(lambda: slow(100, "a"))
        second = tasks.start(lambda: slow(250, "b"))
        assert clock.monotonic_ms() == 0
        assert (first.result(), clock.monotonic_ms()) == ("a", 100)
        assert (second.result(), clock.monotonic_ms()) == ("b", 250)
        assert (first.elapsed_ms, second.elapsed_ms) == (100, 250)

    in_a_fresh_flow(work)


def test_a_task_that_ends_at_its_deadline_is_in_time_and_a_later_one_is_not() -> None:
    def work() -> None:
        clock, tasks = VirtualClock(SystemClock()), VirtualTasks()
        assert tasks.start(lambda: slow(300)).result(300) == "done"
        late = tasks.start(lambda: slow(400))
        with pytest.raises(DeadlineExceeded):
            late.result(clock.monotonic_ms() + 100)
        assert clock.monotonic_ms() == 400
        assert late.elapsed_ms == 100

    in_a_fresh_flow(work)


def test_waiting_never_goes_back_in_time() -> None:
    def work() -> None:
        clock, tasks = VirtualClock(SystemClock()), VirtualTasks()
        task = tasks.start(lambda: slow(500))
        spend(200)
        with pytest.raises(DeadlineExceeded):
            task.result(100)
        assert clock.monotonic_ms() == 200

    in_a_fresh_flow(work)


def test_a_task_inside_a_task_counts_towards_it() -> None:
    def work() -> None:
        clock, tasks = VirtualClock(SystemClock()), VirtualTasks()

        def outer() -> str:
            inner = tasks.start(lambda: slow(50))
            spend(20)
            return inner.result()

        tasks.start(outer).result()
        assert clock.monotonic_ms() == 50

    in_a_fresh_flow(work)


def test_a_task_raises_its_own_error_when_it_is_in_time() -> None:
    def work() -> None:
        clock, tasks = VirtualClock(SystemClock()), VirtualTasks()

        def fail() -> str:
            spend(10)
            raise LookupError("mine")

        with pytest.raises(LookupError, match="mine"):
            tasks.start(fail).result(20)
        assert clock.monotonic_ms() == 10
        with pytest.raises(DeadlineExceeded):
            tasks.start(fail).result(15)

    in_a_fresh_flow(work)


def test_the_wall_clock_is_real_until_it_is_set() -> None:
    real = HandClock()
    clock = VirtualClock(real)
    assert clock.now() == AT
    clock.freeze(AT + timedelta(days=1))
    real.at = AT + timedelta(seconds=5)
    assert clock.now() == AT + timedelta(days=1)
    clock.advance(timedelta(minutes=1))
    assert clock.now() == AT + timedelta(days=1, minutes=1)
    clock.reset()
    assert clock.now() == real.at


def test_a_running_clock_goes_on_from_where_it_was_set() -> None:
    real = HandClock()
    clock = VirtualClock(real)
    clock.run_from(AT + timedelta(days=2))
    real.at = AT + timedelta(seconds=5)
    assert clock.now() == AT + timedelta(days=2, seconds=5)
    clock.advance(timedelta(hours=1))
    assert clock.now() == AT + timedelta(days=2, hours=1, seconds=5)


def test_the_time_of_a_request_wins_within_it_and_in_its_tasks() -> None:
    clock, tasks = VirtualClock(HandClock()), VirtualTasks()
    clock.freeze(AT)
    special = AT - timedelta(days=30)
    with request_time(special):
        assert clock.now() == special
        assert tasks.start(clock.now).result() == special
        in_a_fresh_flow(lambda: clock.now() == AT or pytest.fail("another request saw the time of this one"))
    assert clock.now() == AT
