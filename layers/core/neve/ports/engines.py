"""All of them together, and the parts of them that some work needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from neve.caching import Caches
from neve.domain.tokens import Counter, CounterName
from neve.observing import Observer
from neve.ports.models import CrossEncoder, Embedder
from neve.ports.objects import ObjectStore
from neve.ports.queue import Queue
from neve.ports.receivers import Receivers
from neve.ports.runtime import Clock, Ids, Tasks
from neve.ports.search import SearchIndex
from neve.ports.table import Table


class Ports(Protocol):
    """The engines that a use case may ask for, all together. One object a process, made by the composition root."""

    @property
    def table(self) -> Table: ...
    @property
    def objects(self) -> ObjectStore: ...
    @property
    def queue(self) -> Queue: ...
    @property
    def search(self) -> SearchIndex: ...
    @property
    def embedder(self) -> Embedder: ...
    @property
    def multi(self) -> Embedder | None:
        """Give the encoder of many languages, for tenants whose policy asks for it; None: ``embedder`` serves them,
        too."""

    @property
    def cross_encoder(self) -> CrossEncoder | None:
        """Give the cross-encoder; None: there is none beside this embedder."""

    @property
    def observer(self) -> Observer: ...
    @property
    def observer_languages(self) -> tuple[str, ...]:
        """Give the languages of the observer without making it: its rules take some time to import, and an append only
        says which of its messages they cannot read."""

    @property
    def receivers(self) -> Receivers: ...
    @property
    def counter(self) -> Callable[[CounterName], Counter]:
        """Give the token counter of a name. Raises NeveError ``invalid_policy`` when its data is not installed."""

    @property
    def clock(self) -> Clock: ...
    @property
    def ids(self) -> Ids: ...
    @property
    def tasks(self) -> Tasks: ...
    @property
    def caches(self) -> Caches: ...


class WordsPorts(Protocol):
    """The engines that it takes to bring the words of rows into a search index."""

    @property
    def table(self) -> Table: ...
    @property
    def objects(self) -> ObjectStore: ...
    @property
    def search(self) -> SearchIndex: ...
    @property
    def queue(self) -> Queue: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def ids(self) -> Ids: ...


class IndexingPorts(Protocol):
    """The engines that it takes to bring rows with their vectors into a search index."""

    @property
    def table(self) -> Table: ...
    @property
    def objects(self) -> ObjectStore: ...
    @property
    def search(self) -> SearchIndex: ...
    @property
    def embedder(self) -> Embedder: ...
    @property
    def caches(self) -> Caches: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def ids(self) -> Ids: ...
