"""A tenant on real embedded engines in a temporary folder, with a clock that moves only when told and counted port
calls."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from local.engine.file_objects import FileObjects
from local.engine.sqlite_table import SqliteTable
from neve.adapters.clock import SystemIds, ThreadTasks
from neve.adapters.o200k import token_counter
from neve.caching import Caches
from neve.domain.compact.headings import SummaryText
from neve.domain.librarian.extract import account_of
from neve.domain.librarian.filing import Filed
from neve.domain.records.jobs import Job
from neve.domain.records.memories import Memory
from neve.domain.records.sessions import EventType
from neve.domain.tenants.observe_after import ObserveAfter
from neve.domain.tenants.policy import Policy
from neve.observers.prompted import PromptedObserver
from neve.observing import (
    Condensed,
    CondensedRow,
    CondenseInput,
    FilingInput,
    Observed,
    ObservedLine,
    PassInput,
    Question,
    Reflected,
    ReflectedRow,
    ReflectInput,
    Summarised,
    SummaryInput,
)
from neve.ports.errors import Conflict
from neve.ports.models import CrossEncoder, Embedder
from neve.ports.queue import Message, QueueName
from neve.ports.search import SearchIndex
from neve.ports.table import Put, WriteOp
from neve.scope import Tenant, TenantScope, UserScope
from neve.store import rows
from neve.store.keys import leg_health
from neve.store.tenants.leg_health import OBSERVER
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.tell.sessions.append_events import Appended, NewEvent, append_events
from neve.usecases.tell.sessions.open_session import OpenSession, open_session
from tests.unit.receiving import ScriptedReceivers

T = TypeVar("T")
START = datetime(2026, 3, 10, 9, 30, tzinfo=UTC)


class HandClock:
    """Stands still until moved."""

    def __init__(self) -> None:
        self.at = START
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self.at

    def monotonic_ms(self) -> float:
        return self.at.timestamp() * 1000

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.move(seconds=seconds)

    def move(self, **by: float) -> None:
        self.at += timedelta(**by)


class CountedTable(SqliteTable):
    """Counts calls by name; ``before_write`` runs once before the next write, as a concurrent writer would."""

    calls: Counter[str]
    before_write: Callable[[], object] | None
    lose_response: bool

    @classmethod
    def at(cls, path: Path) -> CountedTable:
        table = cls(path)
        table.calls, table.before_write, table.lose_response = Counter(), None, False
        return table

    def get(self, key: Any) -> Any:
        self.calls["get"] += 1
        return super().get(key)

    def get_many(self, keys: Any, **how: Any) -> Any:
        self.calls["get_many"] += 1
        return super().get_many(keys, **how)

    def query(self, *args: Any, **kwargs: Any) -> Any:
        self.calls["query"] += 1
        return super().query(*args, **kwargs)

    def write(self, ops: Sequence[WriteOp]) -> None:
        self.calls["write"] += 1
        self._meddle()
        super().write(ops)
        if self.lose_response:
            # what an adapter does whose answer was lost: it sends the same transaction again, and it fails
            self.lose_response = False
            raise Conflict

    def write_each(self, puts: Sequence[Put]) -> list[int]:
        self.calls["write_each"] += 1
        self._meddle()
        return super().write_each(puts)

    def _meddle(self) -> None:
        meddle, self.before_write = self.before_write, None
        if meddle:
            meddle()


class ListQueue:
    def __init__(self) -> None:
        self.sent: list[tuple[QueueName, Message]] = []

    def send(self, queue: QueueName, messages: Sequence[Message]) -> None:
        self.sent += [(queue, message) for message in messages]


EVERY_TURN = ObserveAfter(tokens=0)
"""In most worlds a pass follows each turn, as rules observe; ``test_observe_after.py`` has the others."""


class ScriptedObserver:
    """Answers in order; without a script it keeps each pass as one line, reflects to one row and summarises to one
    item. Remembers what it was asked; ``meanwhile`` runs inside the next call, as other writers do while a model
    thinks."""

    name = "scripted"
    languages = ("*",)
    longest_s = 20.0
    longest_filing_s = 20.0

    def __init__(self) -> None:
        self.answers: list[Observed | Exception] = []
        self.reflections: list[Reflected | Exception] = []
        self.passes: list[PassInput] = []
        self.reflected: list[ReflectInput] = []
        self.summaries: list[Summarised | Exception] = []
        self.summarised: list[SummaryInput] = []
        self.condensations: list[Condensed | Exception] = []
        self.condensed: list[CondenseInput] = []
        self.provider: PromptedObserver | None = None
        self.filings: list[Filed | Exception] = []
        self.filed: list[FilingInput] = []
        self.meanwhile: Callable[[], None] | None = None

    def observe(self, given: PassInput) -> Observed:
        self.passes.append(given)
        self._while_thinking()
        if self.answers:
            answer = self.answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer
        seqs = [event.seq for event in given.events]
        return observed_line(f"🟡 said {seqs[0]} to {seqs[-1]}", seqs[0], seqs[-1])

    def reflect(self, given: ReflectInput) -> Reflected:
        self.reflected.append(given)
        self._while_thinking()
        answer = self.reflections.pop(0) if self.reflections else None
        if isinstance(answer, Exception):
            raise answer
        return answer or Reflected((ReflectedRow("🔴 all of it, condensed"),), "scripted")

    def hand_in(self, given: Sequence[Question]) -> str | None:
        return self.provider.hand_in(given) if self.provider else None

    def withdraw(self, handed_in: str) -> None:
        if self.provider:
            self.provider.withdraw(handed_in)

    def condense(self, given: CondenseInput) -> Condensed:
        self.condensed.append(given)
        if self.provider:
            return self.provider.condense(given)
        self._while_thinking()
        if self.condensations:
            answer = self.condensations.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer
        return Condensed((CondensedRow(f"🔴 {len(given.groups)} rows, condensed"),), "scripted")

    def summarise(self, given: SummaryInput) -> Summarised:
        self.summarised.append(given)
        self._while_thinking()
        answer = self.summaries.pop(0) if self.summaries else None
        if isinstance(answer, Exception):
            raise answer
        seqs = [event.seq for event in given.events]
        summary = SummaryText(insights=(f"What was said from {seqs[0]} to {seqs[-1]}.",))
        return answer or Summarised(summary, "scripted", prompt_version="1")

    def file_away(self, given: FilingInput) -> Filed:
        self.filed.append(given)
        if self.provider:
            return self.provider.file_away(given)
        self._while_thinking()
        answer = self.filings.pop(0) if self.filings else None
        if isinstance(answer, Exception):
            raise answer
        account = account_of(given.events, given.title, given.outcome, given.before, timezone=given.timezone)
        return answer or Filed((), account, "scripted", "1")

    def _while_thinking(self) -> None:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile:
            meanwhile()


def time_for(passes: int) -> Callable[[], float]:
    """How long a worker may still run whose time does for so many passes."""
    left = iter([ScriptedObserver.longest_s] * passes)
    return lambda: next(left, 0.0)


def observed_line(text: str, seq_from: int, seq_to: int, **more: Any) -> Observed:
    return Observed(True, (ObservedLine(text, seq_from, seq_to),), "scripted", **more)


NOTHING = Observed(False, (), "scripted")


@dataclass
class World:
    folder: Path
    table: CountedTable
    objects: FileObjects
    clock: HandClock = field(default_factory=HandClock)
    queue: ListQueue = field(default_factory=ListQueue)
    observer: ScriptedObserver = field(default_factory=ScriptedObserver)
    receivers: ScriptedReceivers = field(default_factory=ScriptedReceivers)
    ids: SystemIds = field(default_factory=SystemIds)
    tenant: Tenant = field(default_factory=lambda: Tenant("acme", Policy(observe_after=EVERY_TURN)))

    def __post_init__(self) -> None:
        self.tasks = ThreadTasks(self.clock)
        self.caches = Caches(self.clock.now)
        self.counter = token_counter

    @classmethod
    def make(cls, folder: Path) -> World:
        clock = HandClock()
        objects = FileObjects(folder / "objects", clock, "http://127.0.0.1")
        return cls(folder, CountedTable.at(folder / "table.db"), objects, clock)

    @property
    def search(self) -> SearchIndex:
        raise AssertionError("this test does not search")

    @property
    def embedder(self) -> Embedder:
        raise AssertionError("this test does not embed")

    @property
    def multi(self) -> Embedder | None:
        return None

    @property
    def cross_encoder(self) -> CrossEncoder | None:
        return None

    @property
    def observer_languages(self) -> tuple[str, ...]:
        return self.observer.languages

    # --- shorthand ------------------------------------------------------------------------------

    @property
    def scope(self) -> TenantScope:
        return TenantScope(self, self.tenant)

    @property
    def model_is_down(self) -> bool:
        """By what health reads."""
        item = self.table.get(leg_health(OBSERVER))
        return item is not None and "reason" in item

    def user(self, user: str = "ann") -> UserScope:
        return self.scope.of_user(user)

    def queued(self, job: Job) -> dict[str, Any]:
        """The message that the outbox makes of the job's row."""
        item = self.table.get(self.tenant.keys.job(job.id))
        assert item is not None and item["type"] == rows.QUEUED_JOB
        return dict(message_of_row(item).body)

    def forget(self) -> None:
        """As in a process that has served nothing yet."""
        self.caches = Caches(self.clock.now)

    def with_policy(self, **numbers: Any) -> None:
        self.tenant = Tenant("acme", Policy(**numbers))

    def open(self, user: str = "ann", session: str = "s1", **more: Any) -> None:
        open_session(self.user(user), OpenSession(session_id=session, budget_ms=0, **more))

    def say(self, *texts: str, user: str = "ann", session: str = "s1") -> Appended:
        """Alternating user and assistant messages."""
        kinds = (EventType.USER_MESSAGE, EventType.ASSISTANT_RESPONSE)
        events = [NewEvent(kinds[i % 2], text) for i, text in enumerate(texts)]
        return append_events(self.user(user).of_session(session), events)

    def memories(self, user: str = "ann") -> list[Memory]:
        page = self.table.query(self.tenant.keys.of_user(user).partition, prefix="MEM#", limit=1000)
        return [rows.read_memory(item) for item in page.items]

    def memory(self, memory_id: str, user: str = "ann") -> Memory:
        item = self.table.get(self.tenant.keys.of_user(user).memory(memory_id))
        assert item is not None
        return rows.read_memory(item)

    def bump_directly(self, memory_id: str, user: str = "ann") -> None:
        """Another writer's citation."""
        memory = self.memory(memory_id, user)
        moved = replace(memory, last_used_at="2027-01-01T00:00:00.000Z")
        self.table.write([rows.put_memory(self.tenant.keys.of_user(user), moved)])

    def everything_stored(self) -> str:
        """All rows and objects as one text."""
        parts = [path.read_bytes().decode("latin-1") for path in self.folder.rglob("*") if path.is_file()]
        return json.dumps([str(m) for m in self.queue.sent]) + "".join(parts)
