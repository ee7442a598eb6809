"""Time, ids and concurrency of a real process."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from datetime import UTC, datetime
from threading import Lock
from typing import Generic, TypeVar

from ulid import RandomnessSource, ULIDGenerator
from ulid.constants import RANDOMNESS_LEN

from neve.ports.errors import DeadlineExceeded
from neve.ports.runtime import Clock, Task

T = TypeVar("T")

CACHE_SIZE_MS = 256
"""The number of milliseconds of which ``SystemIds`` keeps the newest id: far more than threads can disagree about
"now"."""
WORKERS = 32
"""Threads of ``ThreadTasks``: a recall starts at most six tasks at once, so five recalls run without waiting for each
other."""


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic_ms(self) -> float:
        return time.monotonic() * 1000.0

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class SystemIds:
    """ULIDs that sort in creation order within a process, also those of one millisecond. Safe for threads."""

    def __init__(self) -> None:
        self._generator = ULIDGenerator(policy=_NextOfItsMillisecond())

    def ulid(self, at: datetime) -> str:
        """Make a ULID. Raises ValueError for a time before 1970."""
        try:
            return str(self._generator.generate(at))
        except (ValueError, OverflowError) as error:
            raise ValueError(f"no ULID can hold the time {at.isoformat()}") from error

    def token(self) -> str:
        return secrets.token_hex(16)


class _NextOfItsMillisecond:
    """The random part of a ULID: within a millisecond the last one plus 1, also when others came between them, which
    the library's own policies forget. The generator calls it from one thread at a time."""

    def __init__(self) -> None:
        self._newest: OrderedDict[int, int] = OrderedDict()

    def resolve_randomness(self, timestamp: int, randomness_source: RandomnessSource) -> bytes:
        """Give 10 bytes. The top bit starts as 0: adding cannot overflow."""
        newest = self._newest.get(timestamp)
        part = int.from_bytes(randomness_source(timestamp)) >> 1 if newest is None else newest + 1
        self._newest[timestamp] = part
        if len(self._newest) > CACHE_SIZE_MS:
            self._newest.popitem(last=False)
        return part.to_bytes(RANDOMNESS_LEN)


class ThreadTask(Generic[T]):
    """Work that was handed to the pool. The first thread that comes to it does it: one of the pool's, or one that has
    to wait for it."""

    def __init__(self, clock: Clock, pool: ThreadPoolExecutor, work: Callable[[], T]) -> None:
        self._clock = clock
        self._started_ms = clock.monotonic_ms()
        self._ended_ms: float | None = None
        self._future: Future[T] = Future()
        self._context, self._work = copy_context(), work
        self._begun = Lock()
        pool.submit(self._run)

    def _run(self) -> None:
        """Do the work, unless another thread has begun it, or no caller waits for it any more."""
        if not self._begun.acquire(blocking=False) or not self._future.set_running_or_notify_cancel():
            return
        try:
            found = self._context.run(self._work)
        except BaseException as error:
            self._ended_ms = self._clock.monotonic_ms()
            self._future.set_exception(error)
        else:
            self._ended_ms = self._clock.monotonic_ms()
            self._future.set_result(found)

    def result(self, deadline_ms: float | None = None) -> T:
        """See ``ports.Task``. Work that no caller waits for any more is not started, but never interrupted. Without a
        deadline the caller does what no thread has begun: so a task may wait for one that it has started, though every
        thread of the pool does the same."""
        if deadline_ms is None:
            self._run()
        else:
            self._wait_until(deadline_ms)
        try:
            return self._future.result()
        except CancelledError:
            raise DeadlineExceeded("not begun: the time of somebody who waited for it was over") from None

    def _wait_until(self, deadline_ms: float) -> None:
        """Wait for the work until the deadline. Raises DeadlineExceeded."""
        left_s = max(0.0, deadline_ms - self._clock.monotonic_ms()) / 1000.0
        with suppress(TimeoutError, CancelledError):
            self._future.exception(left_s)  # returns it, should the work have failed
        if not self._future.done():
            self._future.cancel()
            raise DeadlineExceeded(f"not finished after {self.elapsed_ms:.0f} ms")

    @property
    def is_done(self) -> bool:
        return self._future.done()

    @property
    def elapsed_ms(self) -> float:
        """Give the milliseconds from ``start`` to the end of the work (to now while it runs), so a wait for a free
        thread counts."""
        ended = self._ended_ms if self._ended_ms is not None else self._clock.monotonic_ms()
        return ended - self._started_ms


class ThreadTasks:
    """A pool of threads shared by the whole process. Work that starts tasks of its own waits for them without a
    deadline: with every thread waiting, none is left to run them, and they would be late."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pool = ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix="neve-task")

    def start(self, work: Callable[[], T]) -> ThreadTask[T]:
        return ThreadTask(self._clock, self._pool, work)

    def start_read(self, work: Callable[[], T]) -> Task[T]:
        """See ``ports.Tasks``. This one asks a store over a network."""
        return self.start(work)

    def start_write(self, work: Callable[[], T]) -> Task[T]:
        """See ``ports.Tasks``."""
        return self.start(work)
