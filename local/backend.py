"""The embedded engines as ``neve.wiring.Ports``, and everything of the template that they need to know."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from local.engine.file_objects import FileObjects
from local.engine.sqlite_queue import QueueDefinition, SqliteQueue
from local.engine.sqlite_table import SqliteTable
from local.fixture_embedder import FixtureEmbedder
from local.template import ROOT, Template
from neve.adapters.anthropic_model import DEFAULT_MODEL, AnthropicModel
from neve.adapters.bge_small import BgeSmall
from neve.adapters.clock import SystemClock, SystemIds, ThreadTasks
from neve.adapters.no_embedder import NoEmbedder
from neve.adapters.prompted_observer import PromptedObserver
from neve.observing import Observer
from neve.ports import Embedder, ModelAnswer, ModelRequest, SearchIndex

if TYPE_CHECKING:
    from local.engine.search_index import SqliteSearchIndex

T = TypeVar("T")

EMBEDDERS = ("bge-small", "none", "fixture")
ENCODER = ROOT / "layers" / "encoder"
TABLE, QUEUE, SEARCH, OBJECTS = "table.db", "queue.db", "search.db", "objects"
MODEL_TIMEOUT_S = 45.0
"""A worker has 60 s, and its lease ends 10 s later."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person chose for one run. ``anthropic_key`` None: observe without a language model."""

    embedder: str = "bge-small"
    anthropic_key: str | None = None


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
    """``neve.wiring.Ports`` on one data folder. The search index (numpy) is opened when it is first used."""

    def __init__(self, folder: Path, template: Template, base_url: str, choices: Choices) -> None:
        self.clock = SystemClock()
        self.ids = SystemIds()
        self.tasks = ThreadTasks(self.clock)
        self.table = SqliteTable(folder / TABLE)
        self.queue = SqliteQueue(folder / QUEUE, self.clock, queue_definitions(template))
        self.objects = FileObjects(folder / OBJECTS, self.clock, base_url)
        self.embedder = make_embedder(choices.embedder)
        self.observer = make_observer(choices.anthropic_key)
        self._search = Lazy(lambda: _open_search(folder / SEARCH, self.embedder))

    @property
    def search(self) -> SearchIndex:
        return self._search()

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


def make_embedder(name: str) -> Embedder:
    """One of ``EMBEDDERS``. Nothing is loaded yet."""
    if name == "none":
        return NoEmbedder()
    if name == "fixture":
        return FixtureEmbedder()
    return BgeSmall(ENCODER)


def make_observer(anthropic_key: str | None) -> Observer:
    if anthropic_key is None:
        from neve.adapters.extractive import ExtractiveObserver

        return ExtractiveObserver()
    return PromptedObserver(_AnthropicWhenAsked(anthropic_key), DEFAULT_MODEL)


class _AnthropicWhenAsked:
    """The SDK takes a second to import: the first pass pays for it, not the start."""

    def __init__(self, api_key: str) -> None:
        self._model = Lazy(lambda: AnthropicModel(api_key, timeout_s=MODEL_TIMEOUT_S, max_retries=1))

    def call_tool(self, request: ModelRequest) -> ModelAnswer:
        return self._model().call_tool(request)


def _open_search(path: Path, embedder: Embedder) -> SqliteSearchIndex:
    from local.engine.search_index import SqliteSearchIndex

    return SqliteSearchIndex(path, embedder.model)
