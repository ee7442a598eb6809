"""The engines of every port, by name. A new engine is one more entry here; no test changes.

An engine can make an empty store (``create``, which returns its location as text) and open the store at a location
(``connect``), also from another process: that is how the crash tests get a writer that they can kill."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from local.engine.file_objects import FileObjects, UploadHeaders
from local.engine.sqlite_queue import QueueDefinition, SqliteQueue
from local.engine.sqlite_table import SqliteTable
from neve.ports.objects import ObjectStore
from neve.ports.queue import Queue, QueueName
from neve.ports.table import Table
from tests.contract.engines.aws_engines import (
    create_bucket,
    create_elasticmq_queues,
    elasticmq_queue,
    in_moto,
    moto_objects,
    moto_queue,
    s3mock_objects,
)
from tests.contract.engines.dynamodb_engines import (
    create_local_table,
    empty_local_table,
    name_moto_table,
    open_local_table,
    open_moto_table,
)
from tests.contract.engines.harnesses import (
    KINDS,
    MAX_RECEIVES,
    Delivery,
    ObjectsHarness,
    QueueHarness,
    delivery_of,
)
from tests.simulation.engines.memory_objects import MemoryObjects
from tests.simulation.engines.memory_queue import MemoryQueue
from tests.simulation.engines.memory_table import MemoryTable


class ManualClock:
    """Time that moves when a test says so."""

    def __init__(self) -> None:
        self._now = datetime(2026, 3, 10, 9, 30, tzinfo=UTC)

    def now(self) -> datetime:
        return self._now

    def monotonic_ms(self) -> float:
        return self._now.timestamp() * 1000

    def sleep(self, seconds: float) -> None:
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)


# --- table --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TableEngine:
    """``empty``: a store without rows for one test behind the other, where making one takes long."""

    create: Callable[[Path], str]
    connect: Callable[[str], AbstractContextManager[Table]]
    empty: Callable[[Path], str] | None = None


def _sqlite_table(location: str) -> AbstractContextManager[Table]:
    return closing(SqliteTable(Path(location)))


@contextmanager
def _memory_table(_: str) -> Iterator[Table]:
    """What the simulation runs on; it lives as long as this context."""
    yield MemoryTable()


def in_memory(_: Path) -> str:
    return "memory"


TABLES = {
    "memory": TableEngine(in_memory, _memory_table),
    "sqlite": TableEngine(lambda folder: str(folder / "table.db"), _sqlite_table),
    "dynamodb-local": TableEngine(create_local_table, open_local_table, empty_local_table),
    "moto": TableEngine(name_moto_table, open_moto_table),
}


# --- queue --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class QueueEngine:
    create: Callable[[Path], str]
    connect: Callable[[str], AbstractContextManager[QueueHarness]]


class SqliteQueueHarness:
    def __init__(self, queue: SqliteQueue, clock: ManualClock) -> None:
        self._sqlite = queue
        self._clock = clock

    @property
    def queue(self) -> Queue:
        return self._sqlite

    def receive(self, name: QueueName, limit: int = 10) -> list[Delivery]:
        return [delivery_of(found) for found in self._sqlite.receive(name, limit, self._clock.now())]

    def delete(self, name: QueueName, receipt: str) -> None:
        self._sqlite.delete(name, receipt)

    def release(self, name: QueueName, receipt: str, delay_s: int) -> None:
        self._sqlite.release(name, receipt, delay_s)

    def dead_letters(self, name: QueueName) -> list[Delivery]:
        return [delivery_of(found) for found in self._sqlite.receive(f"{name}-dlq", 10, self._clock.now())]

    def pass_time(self, seconds: float) -> None:
        self._clock.advance(seconds)


def queue_definitions() -> dict[str, QueueDefinition]:
    definitions: dict[str, QueueDefinition] = {}
    for name, fifo, delay_s, visibility_s in KINDS:
        dlq = f"{name}-dlq"
        definitions[name] = QueueDefinition(fifo, visibility_s, delay_s, MAX_RECEIVES, dlq)
        definitions[dlq] = QueueDefinition(fifo, visibility_s)
    return definitions


@contextmanager
def _sqlite_queue(location: str) -> Iterator[QueueHarness]:
    clock = ManualClock()
    with closing(SqliteQueue(Path(location), clock, queue_definitions())) as queue:
        yield SqliteQueueHarness(queue, clock)


class MemoryQueueHarness:
    def __init__(self) -> None:
        self._clock = ManualClock()
        self._memory = MemoryQueue(lambda: round(self._clock.monotonic_ms()), queue_definitions())

    @property
    def queue(self) -> Queue:
        return self._memory

    def receive(self, name: QueueName, limit: int = 10) -> list[Delivery]:
        return [delivery_of(found) for found in self._memory.receive(name, limit)]

    def delete(self, name: QueueName, receipt: str) -> None:
        self._memory.delete(name, receipt)

    def release(self, name: QueueName, receipt: str, delay_s: int) -> None:
        self._memory.release(name, receipt, delay_s)

    def dead_letters(self, name: QueueName) -> list[Delivery]:
        return [delivery_of(found) for found in self._memory.receive(f"{name}-dlq", 10)]

    def pass_time(self, seconds: float) -> None:
        self._clock.advance(seconds)


@contextmanager
def _memory_queue(_: str) -> Iterator[QueueHarness]:
    yield MemoryQueueHarness()


QUEUES = {
    "memory": QueueEngine(in_memory, _memory_queue),
    "sqlite": QueueEngine(lambda folder: str(folder / "queue.db"), _sqlite_queue),
    "elasticmq": QueueEngine(create_elasticmq_queues, elasticmq_queue),
    "moto": QueueEngine(in_moto, moto_queue),
}


# --- objects ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ObjectsEngine:
    create: Callable[[Path], str]
    connect: Callable[[str], AbstractContextManager[ObjectsHarness]]


class FileObjectsHarness:
    BASE_URL = "http://127.0.0.1:8787"

    def __init__(self, folder: Path) -> None:
        self._clock = ManualClock()
        self._files = FileObjects(folder, self._clock, self.BASE_URL)

    @property
    def store(self) -> ObjectStore:
        return self._files

    def content_type(self, key: str) -> str | None:
        return self._files.content_type(key)

    def upload(self, url: str, content_type: str, body: bytes, *, if_none_match: str = "*") -> bool:
        token = url.removeprefix(f"{self.BASE_URL}/__uploads/")
        try:
            self._files.accept_upload(token, UploadHeaders(content_type, if_none_match), body)
        except (PermissionError, FileExistsError):
            return False
        return True

    def download(self, url: str) -> bytes | None:
        try:
            found = self._files.download(url.removeprefix(f"{self.BASE_URL}/__downloads/"))
        except PermissionError:
            return None
        return None if found is None else found[1]

    def pass_time(self, seconds: float) -> None:
        self._clock.advance(seconds)


@contextmanager
def _file_objects(location: str) -> Iterator[ObjectsHarness]:
    yield FileObjectsHarness(Path(location))


class MemoryObjectsHarness:
    def __init__(self) -> None:
        self._clock = ManualClock()
        self._memory = MemoryObjects(lambda: self._clock.monotonic_ms() / 1000)

    @property
    def store(self) -> ObjectStore:
        return self._memory

    def content_type(self, key: str) -> str | None:
        found = self._memory.objects.get(key)
        return found.content_type if found else None

    def upload(self, url: str, content_type: str, body: bytes, *, if_none_match: str = "*") -> bool:
        return if_none_match == "*" and self._memory.accept_upload(url, content_type, body)

    def download(self, url: str) -> bytes | None:
        return self._memory.download(url)

    def pass_time(self, seconds: float) -> None:
        self._clock.advance(seconds)


@contextmanager
def _memory_objects(_: str) -> Iterator[ObjectsHarness]:
    yield MemoryObjectsHarness()


OBJECTS = {
    "memory": ObjectsEngine(in_memory, _memory_objects),
    "files": ObjectsEngine(lambda folder: str(folder / "objects"), _file_objects),
    "s3mock": ObjectsEngine(create_bucket, s3mock_objects),
    "moto": ObjectsEngine(in_moto, moto_objects),
}
