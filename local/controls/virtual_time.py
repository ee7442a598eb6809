"""Time for tests: a wall clock that a test sets, and a monotonic clock that moves only when something is made slow.

Every flow of control (a request, a worker's batch, a task) has a virtual time of its own, in a context variable.
Slowness is added to it instead of being slept through, and waiting for a task moves the waiter to the task's end or to
its own deadline, whichever comes first. So "400 ms of embedding, a budget of 300" always ends the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from local.functions import current_function
from neve.ports.errors import DeadlineExceeded
from neve.ports.runtime import Clock

T = TypeVar("T")

MAX_SLEEP_S = 0.5
"""What a sleeper really waits at most. Who polls for the work of others sleeps less than this at a time."""

WAIT_FOR_PROVIDERS = frozenset({"embed", "deliver"})
"""Functions that sleep for nobody here, but for the servers of others: one that a test has broken is not better for
it."""

_monotonic_ms: ContextVar[float] = ContextVar("virtual_monotonic_ms", default=0.0)
_request_now: ContextVar[datetime | None] = ContextVar("request_now", default=None)


def spend(ms: float) -> None:
    """Make the current flow of control ``ms`` later."""
    _monotonic_ms.set(_monotonic_ms.get() + ms)


@contextmanager
def request_time(at: datetime | None) -> Iterator[None]:
    """Within, ``VirtualClock.now`` is ``at``; None leaves the clock alone."""
    token = _request_now.set(at)
    try:
        yield
    finally:
        _request_now.reset(token)


class VirtualClock:
    """``now`` is the real time until a test sets it; ``monotonic_ms`` is always virtual: it moves by what is spent
    and slept, never by itself."""

    def __init__(self, real: Clock) -> None:
        self._real = real
        self._frozen: datetime | None = None
        self._offset = timedelta()

    def now(self) -> datetime:
        at = _request_now.get() or self._frozen
        return at if at is not None else self._real.now() + self._offset

    def monotonic_ms(self) -> float:
        return _monotonic_ms.get()

    def sleep(self, seconds: float) -> None:
        """Spends the time at once, and lets the others work meanwhile, for whom it may be."""
        spend(seconds * 1000)
        if current_function.get() not in WAIT_FOR_PROVIDERS:
            self._real.sleep(min(seconds, MAX_SLEEP_S))

    def freeze(self, at: datetime) -> None:
        self._frozen = at

    def run_from(self, at: datetime) -> None:
        """The clock shows ``at`` now and runs on from there."""
        self._offset, self._frozen = at - self._real.now(), None

    def advance(self, by: timedelta) -> None:
        """Frozen stays frozen, running goes on running."""
        if self._frozen is not None:
            self._frozen += by
        else:
            self._offset += by

    def reset(self) -> None:
        """Back to the real time."""
        self._offset, self._frozen = timedelta(), None


class VirtualTask(Generic[T]):
    """Work that ran to its end at once; only its virtual time says how long that took."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._started_ms = _monotonic_ms.get()
        context = copy_context()
        self._error: Exception | None = None
        try:
            self._value = context.run(work)
        except Exception as error:
            self._error = error
        self._ended_ms = context.get(_monotonic_ms, self._started_ms)

    def result(self, deadline_ms: float | None = None) -> T:
        """See ``ports.Task``."""
        if deadline_ms is not None and self._ended_ms > deadline_ms:
            _move_to(deadline_ms)
            raise DeadlineExceeded(f"not finished after {self.elapsed_ms:.0f} ms")
        _move_to(self._ended_ms)
        if self._error is not None:
            raise self._error
        return self._value

    @property
    def elapsed_ms(self) -> float:
        """As the reader sees it: no more than the reader's own time has moved since the start."""
        return min(self._ended_ms, _monotonic_ms.get()) - self._started_ms


class VirtualTasks:
    """Tasks that run one after the other and count as running beside each other."""

    def start(self, work: Callable[[], T]) -> VirtualTask[T]:
        return VirtualTask(work)

    start_read = start
    start_write = start


def _move_to(ms: float) -> None:
    _monotonic_ms.set(max(_monotonic_ms.get(), ms))
