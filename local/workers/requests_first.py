"""On AWS no worker takes a processor from a request. On one machine they share the cores and the interpreter's lock, so
workers give way."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from neve.adapters.thread_priority import lower_priority

MAX_YIELD_S = 0.1
"""However many requests there are, a worker goes on after so long."""
ONLY_YOUNG_S = 0.25
"""A request that takes longer waits for something, which may be a worker."""
SWITCH_S = 0.0005
"""A request asks for the interpreter's lock some twenty times, behind every read and every thread that it waits for. At
Python's 5 ms, one busy worker costs it a tenth of a second (``python -m evals.bench.backlog``)."""

_worker_of: ContextVar[RequestsFirst | None] = ContextVar("worker_of", default=None)


class RequestsFirst:
    """``one`` is a request; a worker that called ``run_as_worker`` waits in ``give_way`` while there are any."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        """``monotonic``: seconds."""
        self._monotonic = monotonic
        self._began: dict[object, float] = {}
        self._ended = threading.Condition()

    @contextmanager
    def one(self) -> Iterator[None]:
        name = object()
        with self._ended:
            self._began[name] = self._monotonic()
        try:
            yield
        finally:
            with self._ended:
                del self._began[name]
                self._ended.notify_all()

    def run_as_worker(self, niceness: int) -> None:
        """From now on this thread, and those that it starts, go on while there are no requests."""
        _worker_of.set(self)
        lower_priority(niceness)

    def wait(self) -> None:
        if self._began:
            with self._ended:
                self._ended.wait_for(self._nobody, MAX_YIELD_S)

    def _nobody(self) -> bool:
        young = self._monotonic() - ONLY_YOUNG_S
        return all(began < young for began in self._began.values())


def give_way() -> None:
    """Of a worker's thread; any other goes on."""
    first = _worker_of.get()
    if first is not None:
        first.wait()
