"""Ports that an invocation can use for as long as it may run."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neve.caching import Caches
    from neve.domain.tokens import Counter, CounterName
    from neve.observing import Observer
    from neve.ports.engines import Ports
    from neve.ports.models import CrossEncoder, Embedder
    from neve.ports.objects import ObjectStore
    from neve.ports.queue import Queue
    from neve.ports.receivers import Receivers
    from neve.ports.runtime import Clock, Ids, Tasks
    from neve.ports.search import SearchIndex
    from neve.ports.table import Table

seconds_left: ContextVar[Callable[[], float] | None] = ContextVar("seconds_left", default=None)
"""Of the invocation that is running; None outside."""


class Killed(BaseException):
    """The function's ``Timeout`` is over. Lambda would have ended its process: no handler of errors may go on, and
    whatever is attempted on the way out fails as well."""


def live() -> None:
    """Raises Killed."""
    left = seconds_left.get()
    if left is not None and left() <= 0:
        raise Killed


class MortalPorts:
    """``ports.engines.Ports`` around another one. A thread cannot be killed from outside; but whoever asks for a store,
    a queue, a model or the clock after its time is over dies there. So a worker that slept through its timeout writes
    nothing, and gives no lease back."""

    def __init__(self, inner: Ports) -> None:
        self._inner = inner

    @property
    def table(self) -> Table:
        live()
        return self._inner.table

    @property
    def objects(self) -> ObjectStore:
        live()
        return self._inner.objects

    @property
    def queue(self) -> Queue:
        live()
        return self._inner.queue

    @property
    def search(self) -> SearchIndex:
        live()
        return self._inner.search

    @property
    def embedder(self) -> Embedder:
        live()
        return self._inner.embedder

    @property
    def multi(self) -> Embedder | None:
        live()
        return self._inner.multi

    @property
    def cross_encoder(self) -> CrossEncoder | None:
        live()
        return self._inner.cross_encoder

    @property
    def observer(self) -> Observer:
        live()
        return self._inner.observer

    @property
    def observer_languages(self) -> tuple[str, ...]:
        live()
        return self._inner.observer_languages

    @property
    def receivers(self) -> Receivers:
        live()
        return self._inner.receivers

    @property
    def clock(self) -> Clock:
        live()
        return self._inner.clock

    @property
    def tasks(self) -> Tasks:
        live()
        return self._inner.tasks

    @property
    def counter(self) -> Callable[[CounterName], Counter]:
        return self._inner.counter

    @property
    def ids(self) -> Ids:
        return self._inner.ids

    @property
    def caches(self) -> Caches:
        return self._inner.caches
