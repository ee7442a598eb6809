"""Tasks beside stores in the same process: they answer a read in a tenth of a millisecond and a search in one, and a
thread of the pool takes a quarter of one to begin, with the interpreter's lock. A recall has eight of them (*measured*,
two cores: done by the caller, five reads took 9 % off its median, the search by words and the ledger row another
7 %). The query is embedded beside them.

What is not at hand is not waited for by the caller, who has other things to do, and a time in which to answer: a user's
part of the index that must be loaded first, or a task that still runs. Such a read begins once more, in a thread; what
it loads is there for the next one, also where nobody waits for it any more."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import Generic, TypeVar

from neve.adapters.clock import ThreadTask, ThreadTasks
from neve.ports.runtime import Clock, Task

T = TypeVar("T")
_near: ContextVar[bool] = ContextVar("near", default=False)
"""Whether what runs is a read that its caller does itself."""


class NotAtHand(Exception):
    """A read that its caller does itself would take longer than one may."""


def may_take_long() -> None:
    """Said before work that takes longer than a read of a few rows. Raises NotAtHand where the caller waits."""
    if _near.get():
        raise NotAtHand


class ThreadTaskAskedNear(ThreadTask[T]):
    """Nobody waits for it in a read that its caller does itself."""

    def result(self, deadline_ms: float | None = None) -> T:
        """See ``ports.Task``."""
        if not self.is_done:
            may_take_long()
        return super().result(deadline_ms)


class DoneTask(Generic[T]):
    """Work that the caller has done itself. It is never late: whoever asks for it has waited for it."""

    def __init__(self, clock: Clock, work: Callable[[], T], *, read: bool = False) -> None:
        """``read``: raises NotAtHand for what is better done beside the caller."""
        started_ms = clock.monotonic_ms()
        self._error: Exception | None = None
        context = copy_context()
        context.run(_near.set, read)
        try:
            self._value = context.run(work)
        except NotAtHand:
            raise
        except Exception as error:
            self._error = error
        self._elapsed_ms = clock.monotonic_ms() - started_ms

    def result(self, deadline_ms: float | None = None) -> T:  # noqa: ARG002  (of the port)
        """See ``ports.Task``."""
        if self._error is not None:
            raise self._error
        return self._value

    @property
    def elapsed_ms(self) -> float:
        return self._elapsed_ms


class NearTasks(ThreadTasks):
    """``writer_busy``: whether a write would have to wait for another one, which may take seconds (a file that is being
    rewritten)."""

    def __init__(self, clock: Clock, writer_busy: Callable[[], bool]) -> None:
        super().__init__(clock)
        self._writer_busy = writer_busy

    def start(self, work: Callable[[], T]) -> ThreadTask[T]:
        def beside() -> T:
            _near.set(False)
            return work()

        return ThreadTaskAskedNear(self._clock, self._pool, beside)

    def start_read(self, work: Callable[[], T]) -> Task[T]:
        try:
            return DoneTask(self._clock, work, read=True)
        except NotAtHand:
            return self.start(work)

    def start_write(self, work: Callable[[], T]) -> Task[T]:
        return self.start(work) if self._writer_busy() else DoneTask(self._clock, work)
