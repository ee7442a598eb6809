"""Tasks beside stores in the same process: they answer a read in a tenth of a millisecond and a search in one, and a
thread of the pool takes a quarter of one to begin, with the interpreter's lock. A recall has eight of them (*measured*,
two cores: done by the caller, five reads took 9 % off its median, the search by words, what is read ahead of its hits
and the ledger row another 7 %). The query is embedded beside them."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from typing import Generic, TypeVar

from neve.adapters.clock import ThreadTasks
from neve.ports.runtime import Clock, Task

T = TypeVar("T")


class DoneTask(Generic[T]):
    """Work that the caller has done itself. It is never late: whoever asks for it has waited for it."""

    def __init__(self, clock: Clock, work: Callable[[], T]) -> None:
        started_ms = clock.monotonic_ms()
        self._error: Exception | None = None
        try:
            self._value = copy_context().run(work)
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

    def start_read(self, work: Callable[[], T]) -> Task[T]:
        return DoneTask(self._clock, work)

    def start_write(self, work: Callable[[], T]) -> Task[T]:
        return self.start(work) if self._writer_busy() else DoneTask(self._clock, work)
