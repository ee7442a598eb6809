"""The embedded engines as ``neve.wiring.Ports``, and everything of the template that they need to know."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from local.engine.file_objects import FileObjects
from local.engine.sqlite_queue import QueueDefinition, SqliteQueue
from local.engine.sqlite_table import SqliteTable
from local.template import ROOT, Template
from neve.adapters.clock import SystemClock, SystemIds, ThreadTasks
from neve.observing import Observer
from neve.ports import Embedder, SearchIndex

T = TypeVar("T")

EMBEDDERS = ("bge-small", "none", "fixture")
ENCODER = ROOT / "layers" / "encoder"
TABLE, QUEUE, SEARCH, OBJECTS = "table.db", "queue.db", "search.db", "objects"
MODEL_TIMEOUT_S = 45.0
"""A worker has 60 s, and its lease ends 10 s later."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person chose for one run. ``anthropic_key`` None: observe without a language model."""

    embedder: str
    anthropic_key: str | None
    anthropic_model: str | None = None


class Lazy(Generic[T]):
    """A value that is made once, when it is first asked for, by whichever thread comes first."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: list[T] = []

    def __call__(self) -> T:
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]

    @property
    def made(self) -> T | None:
        return self._made[0] if self._made else None


class EmbeddedPorts:
    """``neve.wiring.Ports`` on one data folder. Table, queue and objects are opened at once; the search index (numpy) and
    the observer (an SDK) when they are first used."""

    def __init__(self, folder: Path, template: Template, base_url: str, choices: Choices) -> None:
        self.clock = SystemClock()
        self.ids = SystemIds()
        self.tasks = ThreadTasks(self.clock)
        self.table = SqliteTable(folder / TABLE)
        self.queue = SqliteQueue(folder / QUEUE, self.clock, queue_definitions(template))
        self.objects = FileObjects(folder / OBJECTS, self.clock, base_url)
        self.embedder: Embedder = make_embedder(choices.embedder)
        self._search = Lazy(lambda: _open_search(folder, self.embedder))
        self._observer = Lazy(lambda: make_observer(choices))

    @property
    def search(self) -> SearchIndex:
        return self._search()

    @property
    def observer(self) -> Observer:
        return self._observer()

    def close(self) -> None:
        """Every port raises StoreUnavailable from now on."""
        self.table.close()
        self.queue.close()
        if self._search.made is not None:
            self._search.made.close()


def queue_definitions(template: Template) -> Mapping[str, QueueDefinition]:
    """The template's queues, dead-letter queues included."""
    return {
        spec.name: QueueDefinition(
            fifo=spec.fifo,
            visibility_s=spec.visibility_s,
            delay_s=spec.delay_s,
            max_receives=spec.max_receives,
            dlq=spec.dead_letters,
        )
        for spec in template.queues.values()
    }
