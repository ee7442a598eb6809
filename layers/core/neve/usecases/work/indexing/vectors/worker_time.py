"""The own time of the index worker and the embed worker: what they cannot do before they are killed is left to the
next one.

A message may name 50 events, and an event may be as long as a book. Killed in the middle, every message of the batch
would be hidden for the queue's visibility timeout, and after some rounds all would be dead letters
(docs/rules/indexing.md#time)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neve.caching import Caches
from neve.observing import SecondsLeft
from neve.ports.engines import IndexingPorts
from neve.ports.models import Calibration, Embedder
from neve.ports.objects import ObjectStore
from neve.ports.runtime import Clock, Ids
from neve.ports.search import IndexModel, SearchIndex
from neve.ports.table import Table

RESERVE_S = 20.0
"""With less left no text is begun (*chosen*: one call of the encoder takes 3 s for 16 passages of 500 tokens on 1,769
MB; then the vectors are kept, passages written, and the messages sent again. The words of 50 long events take less)."""


class NoTimeLeft(Exception):
    """Raised when the worker ends soon: nothing was embedded by this call."""


@dataclass(frozen=True, slots=True)
class _TimedEmbedder:
    inner: Embedder
    seconds_left: SecondsLeft

    @property
    def model(self) -> IndexModel:
        return self.inner.model

    @property
    def calibration(self) -> Calibration:
        return self.inner.calibration

    @property
    def languages(self) -> tuple[str, ...]:
        return self.inner.languages

    def embed_query(self, text: str) -> bytes:
        return self.inner.embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        """Raises NoTimeLeft, too."""
        if self.seconds_left() < RESERVE_S:
            raise NoTimeLeft
        return self.inner.embed_passages(texts)


@dataclass(frozen=True, slots=True)
class PortsWithinTime:
    """The engines ``ports`` of a worker that may run for ``seconds_left``; the embedder stops in time. None is taken
    out of them before it is needed: once the time of the function is over, ``ports`` may give none."""

    ports: IndexingPorts
    seconds_left: SecondsLeft

    @property
    def table(self) -> Table:
        return self.ports.table

    @property
    def objects(self) -> ObjectStore:
        return self.ports.objects

    @property
    def search(self) -> SearchIndex:
        return self.ports.search

    @property
    def embedder(self) -> Embedder:
        return _TimedEmbedder(self.ports.embedder, self.seconds_left)

    @property
    def caches(self) -> Caches:
        return self.ports.caches

    @property
    def clock(self) -> Clock:
        return self.ports.clock

    @property
    def ids(self) -> Ids:
        return self.ports.ids
