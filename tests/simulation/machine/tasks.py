"""Waiting: for a bell, and for work beside the caller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from greenlet import getcurrent  # type: ignore[import-untyped]

from neve.ports.errors import DeadlineExceeded
from tests.simulation.machine.process import Process
from tests.simulation.machine.scheduler import Crashed, Scheduler

T = TypeVar("T")


class _Waiter:
    def __init__(self) -> None:
        self.actor = getcurrent()
        self.waits = True


class Bell:
    """Actors that wait until something happens, or their time is over."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._waiting: list[_Waiter] = []

    def wait(self, seconds: float | None = None) -> None:
        waiter = _Waiter()
        self._waiting.append(waiter)
        if seconds is not None:
            self._scheduler.later(seconds, lambda: self._wake(waiter))
        self._scheduler.park()

    def ring(self, seconds: float = 0.0) -> None:
        """Whoever waits now goes on so much later."""
        rung, self._waiting = self._waiting, []
        for waiter in rung:
            self._scheduler.later(seconds, lambda waiter=waiter: self._wake(waiter))  # type: ignore[misc]

    def _wake(self, waiter: _Waiter) -> None:
        if waiter.waits:
            waiter.waits = False
            if waiter in self._waiting:
                self._waiting.remove(waiter)
            self._scheduler.wake(waiter.actor)


class SimTask(Generic[T]):
    """An actor of the caller's process. It goes on when nobody waits for it any more."""

    def __init__(self, process: Process, work: Callable[[], T]) -> None:
        self._process = process
        self._scheduler = process.cloud.scheduler
        self._started_s = self._scheduler.now_s
        self._ended_s: float | None = None
        self._done = Bell(self._scheduler)
        self._value: Any = None
        self._error: Exception | None = None
        self._scheduler.start(lambda: self._run(work))

    def _run(self, work: Callable[[], T]) -> None:
        self._process.cloud.busy += 1
        try:
            self._process.check()
            self._value = work()
        except Exception as error:
            self._error = error
        except Crashed:
            self._process.alive = False
        self._process.cloud.busy -= 1
        self._ended_s = self._scheduler.now_s
        self._done.ring()

    def result(self, deadline_ms: float | None = None) -> T:
        """See ``ports.Task``."""
        if self._ended_s is None:
            left_s = None if deadline_ms is None else max(0.0, deadline_ms / 1000 - self._scheduler.now_s)
            self._done.wait(left_s)
        self._process.check()
        if self._ended_s is None:
            raise DeadlineExceeded(f"not finished after {self.elapsed_ms:.0f} ms")
        if self._error is not None:
            raise self._error
        value: T = self._value
        return value

    @property
    def elapsed_ms(self) -> float:
        ended = self._scheduler.now_s if self._ended_s is None else self._ended_s
        return (ended - self._started_s) * 1000


class SimTasks:
    def __init__(self, process: Process) -> None:
        self._process = process

    def start(self, work: Callable[[], T]) -> SimTask[T]:
        return SimTask(self._process, work)

    start_read = start
    start_write = start
