"""The ports of one process, on the engines that all processes share. Every call may be interrupted, and may fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from ulid import ULID

from neve.caching import Caches
from neve.domain.indexing.passage import Passage
from neve.domain.recall.query import TextQuery
from neve.domain.tokens import Counter, CounterName, estimate
from neve.ports.errors import Conflict, StoreUnavailable
from neve.ports.models import CrossEncoder, Embedder
from neve.ports.objects import ObjectStart
from neve.ports.queue import Message, QueueName
from neve.ports.search import Candidate, FoundByWords, IndexModel, Owner, SearchFilter
from neve.ports.table import Check, Item, ItemPage, Key, Put, WriteOp, key_written, refused
from tests.simulation.engines.memory_search import MemorySearch
from tests.simulation.machine.process import Process
from tests.simulation.machine.receiving import SimReceivers
from tests.simulation.machine.scripted import MODEL, ScriptedEmbedder, ScriptedObserver
from tests.simulation.machine.tasks import SimTasks


class SimTable:
    def __init__(self, process: Process) -> None:
        self._process = process
        self._table = process.cloud.table

    def get(self, key: Key) -> Item | None:
        return self._process.call("table", (_got, key), lambda: self._table.get(key))

    def get_many(self, keys: Sequence[Key], *, eventual: bool = False) -> dict[Key, Item]:
        return self._process.call("table", (_got_many, keys), lambda: self._table.get_many(keys, eventual=eventual))

    def query(self, partition: str, **given: Any) -> ItemPage:
        return self._process.call("table", f"query {partition}", lambda: self._table.query(partition, **given))

    def write(self, ops: Sequence[WriteOp]) -> None:
        """A repeated transaction is applied once, and its second copy finds what the first one wrote."""
        process = self._process
        what = (_written, tuple(ops))
        process.call("table", what, lambda: self._apply(ops), writes=True)
        if process.cloud.chaos.strikes("table_repeated"):
            failed = self._table.failed(ops)
            if failed:
                process.tell(what, "sent twice")
                raise Conflict(failed)

    def write_each(self, puts: Sequence[Put]) -> list[int]:
        """One after the other; a crash, or a table that does not answer, may come between two of them."""
        return refused(self.write, puts)

    def _apply(self, ops: Sequence[WriteOp]) -> None:
        before = len(self._table.log)
        self._table.write(ops, self._process.name)
        self._process.cloud.tell(before)


def _got(key: Key) -> str:
    return f"get {key.pk} {key.sk}"


def _got_many(keys: Sequence[Key]) -> str:
    return f"get_many {len(keys)} {keys[0].pk} {keys[0].sk}" if keys else "get_many"


def _written(ops: Sequence[WriteOp]) -> str:
    return "write " + " ".join(_named(op) for op in ops)


def _named(op: WriteOp) -> str:
    key = key_written(op)
    return f"{'?' if isinstance(op, Check) else ''}{key.pk}/{key.sk}"


class SimQueue:
    def __init__(self, process: Process) -> None:
        self._process = process

    def send(self, queue: QueueName, messages: Sequence[Message]) -> None:
        process, cloud = self._process, self._process.cloud
        what = f"send {queue} " + " ".join(str(message.dedup_id or message.body) for message in messages)
        if len(messages) > 1 and cloud.chaos.strikes("queue_part"):
            sent = cloud.random.randrange(1, len(messages))
            process.call("queue", what, lambda: cloud.send(queue, messages[:sent]))
            raise StoreUnavailable("queue", "some were sent")
        process.call("queue", what, lambda: cloud.send(queue, messages), writes=True)


class SimObjects:
    def __init__(self, process: Process) -> None:
        self._process = process
        self._objects = process.cloud.objects

    def put(self, key: str, body: bytes, *, content_type: str) -> None:
        self._write(f"put {key}", lambda: self._objects.put(key, body, content_type=content_type))

    def put_new(self, key: str, body: bytes, *, content_type: str) -> bool:
        what = f"put_new {key}"
        return bool(self._write(what, lambda: self._objects.put_new(key, body, content_type=content_type)))

    def get(self, key: str) -> bytes | None:
        return self._process.call("objects", f"get {key}", lambda: self._objects.get(key))

    def peek(self, key: str, length: int) -> ObjectStart | None:
        return self._process.call("objects", f"peek {key}", lambda: self._objects.peek(key, length))

    def tail(self, key: str, length: int) -> bytes | None:
        return self._process.call("objects", f"tail {key}", lambda: self._objects.tail(key, length))

    def copy(self, source: str, target: str) -> bool:
        return bool(self._write(f"copy {source} {target}", lambda: self._objects.copy(source, target)))

    def delete(self, key: str) -> None:
        self._write(f"delete {key}", lambda: self._objects.delete(key))

    def list(self, prefix: str) -> list[str]:
        return self._process.call("objects", f"list {prefix}", lambda: self._objects.list(prefix))

    def page(self, prefix: str, behind: str = "") -> Sequence[str]:
        return self._process.call("objects", f"page {prefix} {behind}", lambda: self._objects.page(prefix, behind))

    def presign_put(self, key: str, *, content_type: str, expires_s: int, size: int | None = None) -> str:
        return self._objects.presign_put(key, content_type=content_type, expires_s=expires_s, size=size)

    def presign_get(self, key: str, *, expires_s: int) -> str:
        return self._objects.presign_get(key, expires_s=expires_s)

    def _write(self, what: str, effect: Callable[[], object]) -> object:
        return self._process.call("objects", what, effect, writes=True)


class SimSearch:
    """On the index that is in use at the moment of a call."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @property
    def _search(self) -> MemorySearch:
        return self._process.cloud.search

    def model(self) -> IndexModel:
        return MODEL

    def upsert(self, owner: Owner, passages: Sequence[Passage]) -> None:
        what = f"upsert {owner.tenant}/{owner.user} " + " ".join(f"{p.item_id}#{p.n}" for p in passages)
        self._process.call("search", what, lambda: self._search.upsert(owner, passages), writes=True)

    def trim(self, owner: Owner, item_id: str, *, keep: int, version: int) -> None:
        what = f"trim {item_id} {keep} {version}"
        trimmed = lambda: self._search.trim(owner, item_id, keep=keep, version=version)  # noqa: E731
        self._process.call("search", what, trimmed, writes=True)

    def erase(self, owner: Owner, *, at_most: int | None = None) -> int:
        what = f"erase {owner.tenant}/{owner.user}"
        return self._process.call("search", what, lambda: self._search.erase(owner, at_most=at_most), writes=True)

    def search_text(self, owner: Owner, query: TextQuery, where: SearchFilter, depth: int) -> FoundByWords:
        found = lambda: self._search.search_text(owner, query, where, depth)  # noqa: E731
        return self._process.call("search", "search_text", found)

    def search_vector(self, owner: Owner, vector: bytes, where: SearchFilter, depth: int) -> list[Candidate]:
        found = lambda: self._search.search_vector(owner, vector, where, depth)  # noqa: E731
        return self._process.call("search", "search_vector", found)

    def count(self, owner: Owner) -> int:
        return self._process.call("search", "count", lambda: self._search.count(owner))


class SimClock:
    def __init__(self, process: Process) -> None:
        self._process = process
        self.now: Callable[[], datetime] = process.now

    def monotonic_ms(self) -> float:
        return self._process.cloud.scheduler.now_s * 1000

    def sleep(self, seconds: float) -> None:
        self._process.wait(seconds)


class SimIds:
    """From the run's one source of chance. ULIDs of one process and millisecond rise."""

    def __init__(self, process: Process) -> None:
        self._random = process.cloud.random
        self._newest: dict[int, int] = {}

    def ulid(self, at: datetime) -> str:
        ms = round(at.timestamp() * 1000)
        newest = self._newest.get(ms)
        self._newest[ms] = self._random.getrandbits(79) if newest is None else newest + 1
        return str(ULID((ms << 80 | self._newest[ms]).to_bytes(16, "big")))

    def token(self) -> str:
        return f"{self._random.getrandbits(128):032x}"


def _counter(_: CounterName) -> Counter:
    return estimate


class SimPorts:
    """See ``ports.Ports``. The caches are the process's own."""

    def __init__(self, process: Process) -> None:
        self.process = process
        process.ports = self
        self.table = SimTable(process)
        self.queue = SimQueue(process)
        self.objects = SimObjects(process)
        self.search = SimSearch(process)
        self.embedder = ScriptedEmbedder(process)
        self.multi: Embedder | None = None
        self.cross_encoder: CrossEncoder | None = None
        self.observer = ScriptedObserver(process)
        self.observer_languages = self.observer.languages
        self.receivers = SimReceivers(process)
        self.clock = SimClock(process)
        self.ids = SimIds(process)
        self.tasks = SimTasks(process)
        self.caches = Caches(process.now)
        self.counter = _counter
