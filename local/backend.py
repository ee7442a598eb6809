"""The embedded engines as ``neve.wiring.Ports``, and everything of the template that they need to know."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from local.engine.file_objects import FileObjects
from local.engine.search_index import SqliteSearchIndex
from local.engine.sqlite_queue import QueueDefinition, SqliteQueue
from local.engine.sqlite_table import SqliteTable
from local.fixture_embedder import FixtureEmbedder
from local.template import ROOT, Template
from neve.adapters.anthropic_model import DEFAULT_MODEL, AnthropicModel
from neve.adapters.bge_small import BgeSmall
from neve.adapters.clock import SystemClock, SystemIds, ThreadTasks
from neve.adapters.extractive import ExtractiveObserver
from neve.adapters.no_embedder import NoEmbedder
from neve.adapters.prompted_observer import PromptedObserver
from neve.observing import Observer
from neve.ports import Embedder, ModelAnswer, ModelRequest

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


class EmbeddedPorts:
    """``neve.wiring.Ports`` on one data folder."""

    def __init__(self, folder: Path, template: Template, base_url: str, choices: Choices) -> None:
        self.clock = SystemClock()
        self.ids = SystemIds()
        self.tasks = ThreadTasks(self.clock)
        self.table = SqliteTable(folder / TABLE)
        self.queue = SqliteQueue(folder / QUEUE, self.clock, queue_definitions(template))
        self.objects = FileObjects(folder / OBJECTS, self.clock, base_url)
        self.embedder = make_embedder(choices.embedder)
        self.observer = make_observer(choices.anthropic_key)
        self.search = SqliteSearchIndex(folder / SEARCH, self.embedder.model)

    def close(self) -> None:
        """Every port raises StoreUnavailable from now on."""
        self.table.close()
        self.queue.close()
        self.search.close()


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
        return ExtractiveObserver()
    return PromptedObserver(_AnthropicWhenAsked(anthropic_key), DEFAULT_MODEL)


class _AnthropicWhenAsked:
    """The SDK takes a second to import: the first pass pays for it, not the start."""

    def __init__(self, api_key: str) -> None:
        self._api_key = api_key
        self._lock = threading.Lock()
        self._model: AnthropicModel | None = None

    def call_tool(self, request: ModelRequest) -> ModelAnswer:
        with self._lock:
            if self._model is None:
                self._model = AnthropicModel(self._api_key, timeout_s=MODEL_TIMEOUT_S, max_retries=1)
        return self._model.call_tool(request)
