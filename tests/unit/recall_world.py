"""A tenant with a search index and an embedder, faults on every port, and time in which one port call costs what a test
says. Workers run when a test pumps."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from local.controls.call_log import CallLog
from local.controls.faults import Faults, FaultyCrossEncoder, FaultyEmbedder, FaultySearch, FaultyTable
from local.controls.fixture_embedder import FixtureEmbedder
from local.controls.virtual_time import VirtualClock, VirtualTasks
from local.engine.file_objects import FileObjects
from local.engine.search.search_index import SqliteSearchIndex
from local.workers.worker_events import stream_event
from neve.adapters.clock import SystemIds
from neve.adapters.o200k import token_counter
from neve.caching import Caches
from neve.domain.records.memories import Memory
from neve.domain.records.sessions import EventType
from neve.domain.tenants.observe_after import ObserveAfter
from neve.domain.tenants.policy import Policy
from neve.domain.times import iso
from neve.domain.tokens import Counter, CounterName
from neve.observing import Observer
from neve.ports.models import CrossEncoder, Embedder
from neve.ports.queue import Message, QueueName
from neve.ports.search import SearchIndex
from neve.scope import SessionScope, Tenant, TenantScope, UserScope
from neve.store import rows
from neve.store.keys import tenant_row
from neve.store.stream_records import read_change
from neve.store.tenants.tenant_rows import TenantRow, put_tenant, read_tenant
from neve.usecases.ask.recall.answer import RecallAnswer
from neve.usecases.ask.recall.command import RecallCommand
from neve.usecases.ask.recall.recall import recall
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.tell.sessions.open_session import OpenSession, open_session
from neve.usecases.work.background.dispatch_changes import dispatch_changes
from neve.usecases.work.indexing.by_kind import Failures, IndexMessage
from neve.usecases.work.indexing.embed_rows import embed_rows
from neve.usecases.work.indexing.index_rows import index_rows
from tests.unit.receiving import ScriptedReceivers
from tests.unit.world import START, CountedTable, HandClock, ListQueue


class Clock(VirtualClock):
    """Stands still until moved."""

    def __init__(self) -> None:
        super().__init__(HandClock())
        self.freeze(START)
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        super().sleep(seconds)

    def move(self, **by: float) -> None:
        self.advance(timedelta(**by))


@dataclass
class RecallWorld:
    rows: CountedTable
    objects: FileObjects
    index: SqliteSearchIndex
    faults: Faults
    clock: Clock
    calls: CallLog
    inner_embedder: Embedder
    inner_multi: Embedder | None = None
    inner_cross_encoder: CrossEncoder | None = None
    queue: ListQueue = field(default_factory=ListQueue)
    receivers: ScriptedReceivers = field(default_factory=ScriptedReceivers)
    ids: SystemIds = field(default_factory=SystemIds)
    tasks: VirtualTasks = field(default_factory=VirtualTasks)
    tenant: Tenant = field(default_factory=lambda: Tenant("acme", Policy(observe_after=ObserveAfter(tokens=0))))
    counter: Callable[[CounterName], Counter] = token_counter

    def __post_init__(self) -> None:
        self.caches = Caches(self.clock.now)
        self.table = FaultyTable(self.rows, self.faults)
        self.search: SearchIndex = FaultySearch(self.index, self.faults)

    @classmethod
    def make(cls, folder: Path, embedder: Embedder | None = None) -> RecallWorld:
        chosen = embedder or FixtureEmbedder()
        clock = Clock()
        objects = FileObjects(folder / "objects", clock, "http://127.0.0.1")
        index = SqliteSearchIndex(folder / "search.db", chosen.model)
        return cls(CountedTable.at(folder / "table.db"), objects, index, Faults(), clock, CallLog(), chosen)

    @property
    def embedder(self) -> Embedder:
        return FaultyEmbedder(self.inner_embedder, self.faults, self.calls)

    @property
    def multi(self) -> Embedder | None:
        return self.inner_multi and FaultyEmbedder(self.inner_multi, self.faults, self.calls)

    @property
    def cross_encoder(self) -> CrossEncoder | None:
        return self.inner_cross_encoder and FaultyCrossEncoder(self.inner_cross_encoder, self.faults)

    @property
    def observer(self) -> Observer:
        raise AssertionError("this test does not observe")

    @property
    def observer_languages(self) -> tuple[str, ...]:
        return ("*",)

    def close(self) -> None:
        self.index.close()
        self.rows.close()

    @property
    def scope(self) -> TenantScope:
        return TenantScope(self, self.tenant)

    def user(self, user: str = "ann") -> UserScope:
        return self.scope.of_user(user)

    @property
    def session(self) -> SessionScope:
        """The one that ``open`` and ``say`` are about unless told otherwise."""
        return self.user().of_session("s1")

    def forget(self) -> None:
        """As in a process that has served nothing yet."""
        self.caches = Caches(self.clock.now)

    def with_policy(self, **numbers: Any) -> None:
        """As its row says it too, for workers."""
        self.tenant = Tenant("acme", Policy(**numbers))
        item = self.rows.get(tenant_row("acme"))
        row = read_tenant(item) if item else TenantRow("acme", iso(START))
        self.rows.write([put_tenant(replace(row, policy=self.tenant.policy, policy_rev=row.policy_rev + 1))])

    # --- writing --------------------------------------------------------------------------------

    def remember(self, text: str, *, user: str = "ann", **given: Any) -> str:
        return create_memory(self.user(user), NewMemory(text, **given)).id

    def store(self, memory: Memory, *, user: str = "ann") -> None:
        """A new row as it is given."""
        self.rows.write([rows.put_memory(self.tenant.keys.of_user(user), memory)])

    def change(self, memory_id: str, *, user: str = "ann", **fields: Any) -> None:
        self.rows.write(
            [rows.put_memory(self.tenant.keys.of_user(user), replace(self.memory(memory_id, user), **fields))]
        )

    def memory(self, memory_id: str, user: str = "ann") -> Memory:
        item = self.rows.get(self.tenant.keys.of_user(user).memory(memory_id))
        assert item is not None
        return rows.read_memory(item)

    def open(self, session: str = "s1", *, user: str = "ann") -> None:
        open_session(self.user(user), OpenSession(session_id=session, budget_ms=0))

    def say(self, *texts: str, user: str = "ann", session: str = "s1", names: tuple[str, str] | None = None) -> None:
        """Alternating user and assistant messages, one append."""
        kinds = (EventType.USER_MESSAGE, EventType.ASSISTANT_RESPONSE)
        events = [NewEvent(kinds[i % 2], text, name=names[i % 2] if names else None) for i, text in enumerate(texts)]
        append_events(self.user(user).of_session(session), events)

    # --- workers --------------------------------------------------------------------------------

    def dispatch(self) -> list[Message]:
        """Run the outbox over every change so far; what is on the index queue and the embed queue, which are
        emptied."""
        seen = 0
        while changes := self.rows.read_changes(seen, 100):
            dispatch_changes(self, [read_change(record) for record in stream_event(changes)["Records"]])
            seen = changes[-1].seq
            self.rows.discard_changes(seen)
        return self.taken(QueueName.INDEX) + self.taken(QueueName.EMBED)

    def taken(self, name: QueueName) -> list[Message]:
        """What is on a queue, which is emptied."""
        sent = [message for queue, message in self.queue.sent if queue is name]
        self.queue.sent = [(queue, message) for queue, message in self.queue.sent if queue is not name]
        return sent

    def words(self, messages: Sequence[Message], *, again: bool = False) -> Failures:
        """Words; their vectors are on the embed queue then."""
        return index_rows(self, delivered(messages, again=again))

    def embed(self, messages: Sequence[Message]) -> Failures:
        """Words, then vectors: of these messages, and of what became of them on the way."""
        failures = self.words(messages)
        bodies = [message.body for message in messages]
        later = [message for message in self.taken(QueueName.EMBED) if message.body not in bodies]
        return failures | embed_rows(self, delivered([*messages, *later]))

    def pump(self) -> None:
        """Until nothing is left to do. Raises AssertionError when a message fails."""
        while messages := self.dispatch():
            assert self.embed(messages) == {}

    # --- asking ---------------------------------------------------------------------------------

    def ask(self, query: str, *, user: str = "ann", **given: Any) -> RecallAnswer:
        return recall(self.user(user), RecallCommand(query, **given))

    def found(self, query: str, **given: Any) -> list[str]:
        """The ids of the hits."""
        return [hit.id for hit in self.ask(query, **given).hits]

    def broken(self, *faults: str) -> None:
        """``vector=error``, ``embed=slow:400``, …; none: everything works again."""
        self.faults.replace([dict(zip(("target", "fault"), fault.split("="), strict=True)) for fault in faults])

    @contextmanager
    def at(self, when: datetime) -> Iterator[None]:
        before = self.clock.now()
        self.clock.freeze(when)
        yield
        self.clock.freeze(before)

    def ago(self, **by: float) -> str:
        return iso(self.clock.now() - timedelta(**by))


def delivered(messages: Sequence[Message], *, again: bool = False) -> list[IndexMessage]:
    """As a queue delivers them."""
    return [IndexMessage(json.loads(json.dumps(message.body)), again) for message in messages]
