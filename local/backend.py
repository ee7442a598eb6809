"""The embedded engines, and everything of the template that they need to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from local.controls.delta_search import find_in_deltas
from local.controls.fixture_cross_encoder import FixtureCrossEncoder
from local.controls.fixture_embedder import MANY, FixtureEmbedder
from local.controls.raw_search import Found, find_raw
from local.controls.search_cut import FileCut
from local.engine.file_objects import FileObjects
from local.engine.near_tasks import NearTasks, may_take_long
from local.engine.search.search_index import SqliteSearchIndex
from local.engine.sqlite_queue import QueueDefinition, SqliteQueue
from local.engine.sqlite_table import SqliteTable
from local.recovery.search_swap import remove_unfinished
from local.recovery.take_over import take_over
from local.template import ROOT, Template
from local.workers.failure_log import report_dead_letters
from neve.adapters.clock import SystemClock, SystemIds
from neve.adapters.embedders.bge_small import BgeSmall
from neve.adapters.embedders.cross_encoder import MiniLmCrossEncoder
from neve.adapters.embedders.multi_e5 import MultilingualE5
from neve.adapters.embedders.no_embedder import NoEmbedder
from neve.adapters.https_receivers import HttpsReceivers
from neve.adapters.model_files import FolderFiles
from neve.adapters.models.anthropic_model import DEFAULT_MODEL
from neve.adapters.models.anthropic_when_asked import AnthropicWhenAsked, bedrock_when_asked
from neve.adapters.o200k import token_counter
from neve.adapters.segments.index import SegmentsIndex
from neve.caching import Caches
from neve.domain.observe.time_limits import PASS_S
from neve.observers.extractive.observer import ExtractiveObserver
from neve.observers.prompted import PromptedObserver
from neve.observing import Observer
from neve.ports.models import CrossEncoder, Embedder
from neve.ports.search import SearchIndex
from neve.readable_table import ReadableTable

EMBEDDERS = ("bge-small", "none", "fixture")
SEARCHES = ("embedded", "segments")
"""A file of its own, or objects and rows as on a stage without a search domain."""
ENCODER = ROOT / "layers" / "encoder"
RERANKER = ENCODER / "reranker"
MULTI = ENCODER / "multi"
TABLE, QUEUE, SEARCH, OBJECTS = "table.db", "queue.db", "search.db", "objects"


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person chose for one run. ``anthropic_key`` and ``bedrock_model`` None: observe without a language model.
    ``loopback_webhooks``: receivers of webhooks may be on this machine. ``search``: one of ``SEARCHES``."""

    embedder: str = "bge-small"
    anthropic_key: str | None = None
    loopback_webhooks: bool = False
    bedrock_model: str | None = None
    search: str = "embedded"


class EmbeddedPorts:
    """``local.engines.Engines`` on one data folder."""

    holds = (TABLE, QUEUE, SEARCH, OBJECTS)
    servers = None
    elsewhere = ()

    def __init__(self, folder: Path, template: Template, base_url: str, choices: Choices) -> None:
        self._folder = folder
        self.template = template
        self.clock = SystemClock()
        self.ids = SystemIds()
        self.tasks = NearTasks(self.clock, lambda: self.changes.has_writer)
        self.caches = Caches(self.clock.now)
        self.counter = token_counter
        self.changes = SqliteTable(folder / TABLE, self.caches.troubles)
        self.table = ReadableTable(self.changes, self.caches, self.clock.now)
        self.queue = SqliteQueue(
            folder / QUEUE, self.clock, queue_definitions(template), self.caches.troubles, report_dead_letters
        )
        self.objects = FileObjects(folder / OBJECTS, self.clock, base_url, self.caches.troubles)
        self.embedder = make_embedder(choices.embedder)
        self.multi = make_multi(choices.embedder)
        self.cross_encoder = make_cross_encoder(choices.embedder)
        self.observer = make_observer(choices)
        self.observer_languages = self.observer.languages
        self.receivers = HttpsReceivers(allow_loopback=choices.loopback_webhooks)
        remove_unfinished(folder / SEARCH)
        self._search_file: SqliteSearchIndex | None = None
        self.search: SearchIndex
        if choices.search == "segments":
            self.search = self._segments()
        else:
            self._search_file = SqliteSearchIndex(folder / SEARCH, self.embedder.model, troubles=self.caches.troubles)
            self.search = self._search_file
        self.search_cut = FileCut(folder / SEARCH)

    def _segments(self) -> SegmentsIndex:
        return SegmentsIndex(
            self.table,
            self.objects,
            self.embedder.model,
            clock=self.clock,
            ids=self.ids,
            tasks=self.tasks,
            caches=self.caches,
            before_load=may_take_long,
        )

    @property
    def broker(self) -> SqliteQueue:
        return self.queue

    @property
    def uploads(self) -> FileObjects:
        return self.objects

    def take_over(self) -> None:
        take_over(self.queue, self.changes)

    def expire(self, now: datetime) -> int:
        expired = self.changes.delete_expired(now) + self.objects.delete_expired(now) + self.queue.expire(now)
        # what was deleted is not to stay in a page or a log either; one that is being read in is wiped the next time
        for database in (self.changes, self.queue, self._search_file):
            if database is not None:
                database.wipe()
        return expired

    def stored(self, text: str) -> list[Found]:
        return [*find_raw([self._folder], text.encode()), *find_in_deltas(self._folder / TABLE, text)]

    def close(self) -> None:
        """Every port raises StoreUnavailable from now on."""
        self.changes.close()
        self.queue.close()
        if self._search_file is not None:
            self._search_file.close()


def queue_definitions(template: Template) -> Mapping[str, QueueDefinition]:
    """The template's queues, dead-letter queues included."""
    return {
        spec.name: QueueDefinition(
            fifo=spec.fifo,
            visibility_s=spec.visibility_s,
            delay_s=spec.delay_s,
            max_receives=spec.max_receives,
            dlq=spec.dead_letters,
            retention_s=spec.retention_s,
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


def make_multi(embedder: str) -> Embedder | None:
    """The encoder of many languages beside an embedder. Nothing is loaded until a tenant's policy asks for it."""
    if embedder == "none":
        return None
    return FixtureEmbedder(MANY) if embedder == "fixture" else MultilingualE5(FolderFiles(MULTI), ENCODER)


def make_cross_encoder(embedder: str) -> CrossEncoder | None:
    """The one beside an embedder: without vectors nothing is ranked again. Nothing is loaded until a tool asks."""
    if embedder == "none":
        return None
    return FixtureCrossEncoder() if embedder == "fixture" else MiniLmCrossEncoder(FolderFiles(RERANKER))


def make_observer(choices: Choices) -> Observer:
    if choices.bedrock_model is not None:
        return PromptedObserver(bedrock_when_asked(choices.bedrock_model), choices.bedrock_model, PASS_S)
    key = choices.anthropic_key
    if key is None:
        return ExtractiveObserver()
    model = AnthropicWhenAsked(lambda: key)
    return PromptedObserver(model, DEFAULT_MODEL, PASS_S, batches=model)
