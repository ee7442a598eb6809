"""Faults that a test injects around the ports: a store that fails, a slow embedder, a model that refuses."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from local.controls.call_log import CallLog
from local.controls.holds import Holds
from local.controls.last_write import LastWrite
from local.controls.virtual_time import spend
from local.functions import current_function
from neve.domain.indexing.passage import Passage
from neve.domain.recall.query import TextQuery
from neve.ports.errors import EmbeddingRetryable, EmbeddingUnavailable, ModelMissing, StoreUnavailable
from neve.ports.models import Calibration, CrossEncoder, Embedder
from neve.ports.objects import ObjectStart, ObjectStore
from neve.ports.queue import Message, Queue, QueueName
from neve.ports.search import Candidate, FoundByWords, IndexModel, Owner, SearchFilter, SearchIndex
from neve.ports.table import Index, Item, ItemPage, Key, Put, Table, WriteOp
from neve.wiring import Loads

TARGETS = ("embed", "rerank", "vector", "lexical", "table", "objects", "llm", "queue", "ledger")


class BadFault(ValueError):
    """A fault that the control call did not describe in the agreed words."""


@dataclass(slots=True)
class Fault:
    """``left``: how many more times; None = until cleared. ``match``: only calls whose text holds this (embed, llm), or
    whose partition does (queries of the table)."""

    target: str
    delay_ms: int | None
    status: int | None
    left: int | None
    match: str


class Failure(Exception):
    """What a wrapper translates into its port's own exception. ``status`` None: the other side did not answer."""

    def __init__(self, status: int | None) -> None:
        super().__init__(f"status {status}" if status else "no answer")
        self.status = status


class Faults:
    """The faults in force. An empty list of them clears all. ``last_write`` is told of every write to a store."""

    def __init__(self) -> None:
        self.last_write = LastWrite()
        self._lock = threading.Lock()
        self._faults: list[Fault] = []

    def replace(self, given: Sequence[Any]) -> None:
        """Raises BadFault, in which case nothing has changed."""
        faults = [_read_fault(one) for one in given]
        with self._lock:
            self._faults = faults

    def none(self) -> bool:
        """Nothing is broken on purpose."""
        return not self._faults

    def strike(self, target: str, text: str = "") -> None:
        """Be slow, then fail, as far as a fault says so. Raises Failure."""
        with self._lock:
            due = [one for one in self._faults if one.target == target and one.left != 0 and one.match in text]
            for one in due:
                one.left = None if one.left is None else one.left - 1
        for one in due:
            if one.delay_ms is not None:
                spend(one.delay_ms)
        for one in due:
            if one.delay_ms is None:
                raise Failure(one.status)

    def wrote(self, rows: Sequence[WriteOp] = ()) -> None:
        """Behind every write to a store, before its caller hears of it. ``rows``: of a transaction."""
        self.last_write.wrote(current_function.get(), rows)

    def strike_store(self, target: str, store: str, text: str = "") -> None:
        """Raises StoreUnavailable."""
        try:
            self.strike(target, text)
        except Failure as failure:
            raise StoreUnavailable(store, f"injected fault: {failure}") from None


def _read_fault(given: Any) -> Fault:
    if not isinstance(given, dict) or not set(given) <= {"target", "fault", "times", "match"}:
        raise BadFault(f"a fault is {{target, fault, times?, match?}}, not {given}")
    if given.get("target") not in TARGETS:
        raise BadFault(f"target must be one of {', '.join(TARGETS)}, is {given.get('target')}")
    found = re.fullmatch(r"error|slow:(?P<ms>\d+)|status:(?P<status>\d{3})", str(given.get("fault")))
    if not found:
        raise BadFault(f"fault must be error, slow:<ms> or status:<code>, is {given.get('fault')}")
    times = given.get("times")
    if times is not None and (not isinstance(times, int) or times < 1):
        raise BadFault(f"times must be a number from 1, is {times}")
    delay_ms = int(found["ms"]) if found["ms"] else None
    status = int(found["status"]) if found["status"] else None
    return Fault(given["target"], delay_ms, status, times, given.get("match", ""))


# --- stores -------------------------------------------------------------------------------------


class FaultyTable:
    """``ledger`` strikes writes of recall rows only."""

    def __init__(self, inner: Table, faults: Faults) -> None:
        self._inner, self._faults = inner, faults

    def get(self, key: Key) -> Item | None:
        self._faults.strike_store("table", "table")
        return self._inner.get(key)

    def get_many(self, keys: Sequence[Key], *, eventual: bool = False) -> dict[Key, Item]:
        self._faults.strike_store("table", "table")
        return self._inner.get_many(keys, eventual=eventual)

    def query(
        self,
        partition: str,
        *,
        index: Index = Index.MAIN,
        prefix: str | None = None,
        between: tuple[str, str] | None = None,
        reverse: bool = False,
        limit: int,
        cursor: str | None = None,
    ) -> ItemPage:
        self._faults.strike_store("table", "table", partition)
        return self._inner.query(
            partition, index=index, prefix=prefix, between=between, reverse=reverse, limit=limit, cursor=cursor
        )

    def write(self, ops: Sequence[WriteOp]) -> None:
        self._faults.strike_store("table", "table")
        if any(isinstance(op, Put) and op.item.get("type") in ("recall", "prompt") for op in ops):
            self._faults.strike_store("ledger", "table")
        self._faults.last_write.writes(ops)
        self._inner.write(ops)
        self._faults.wrote(ops)

    def write_each(self, puts: Sequence[Put]) -> list[int]:
        self._faults.strike_store("table", "table")
        self._faults.last_write.writes(puts)
        failed = self._inner.write_each(puts)
        self._faults.wrote(puts)
        return failed


class FaultyObjects:
    """Whoever writes an object that must not be there yet can be held before it."""

    def __init__(self, inner: ObjectStore, faults: Faults, holds: Holds) -> None:
        self._inner, self._faults, self._holds = inner, faults, holds

    def put(self, key: str, body: bytes, *, content_type: str) -> None:
        self._faults.strike_store("objects", "objects")
        self._inner.put(key, body, content_type=content_type)
        self._faults.wrote()

    def put_new(self, key: str, body: bytes, *, content_type: str) -> bool:
        self._holds.pass_through(current_function.get(), "object")
        self._faults.strike_store("objects", "objects")
        put = self._inner.put_new(key, body, content_type=content_type)
        self._faults.wrote()
        return put

    def get(self, key: str) -> bytes | None:
        self._faults.strike_store("objects", "objects")
        return self._inner.get(key)

    def peek(self, key: str, length: int) -> ObjectStart | None:
        self._faults.strike_store("objects", "objects")
        return self._inner.peek(key, length)

    def tail(self, key: str, length: int) -> bytes | None:
        self._faults.strike_store("objects", "objects")
        return self._inner.tail(key, length)

    def copy(self, source: str, target: str) -> bool:
        self._faults.strike_store("objects", "objects")
        copied = self._inner.copy(source, target)
        self._faults.wrote()
        return copied

    def delete(self, key: str) -> None:
        self._faults.strike_store("objects", "objects")
        self._inner.delete(key)
        self._faults.wrote()

    def list(self, prefix: str) -> list[str]:
        self._faults.strike_store("objects", "objects")
        return self._inner.list(prefix)

    def page(self, prefix: str, behind: str = "") -> Sequence[str]:
        self._faults.strike_store("objects", "objects")
        return self._inner.page(prefix, behind)

    def presign_put(self, key: str, *, content_type: str, expires_s: int, size: int | None = None) -> str:
        self._faults.strike_store("objects", "objects")
        return self._inner.presign_put(key, content_type=content_type, expires_s=expires_s, size=size)

    def presign_get(self, key: str, *, expires_s: int) -> str:
        self._faults.strike_store("objects", "objects")
        return self._inner.presign_get(key, expires_s=expires_s)


class FaultyQueue:
    def __init__(self, inner: Queue, faults: Faults) -> None:
        self._inner, self._faults = inner, faults

    def send(self, queue: QueueName, messages: Sequence[Message]) -> None:
        self._faults.strike_store("queue", "queue")
        self._inner.send(queue, messages)
        self._faults.wrote()


class FaultySearch:
    """The two legs fail apart; writing to the index does not."""

    def __init__(self, inner: SearchIndex, faults: Faults) -> None:
        self._inner, self._faults = inner, faults

    def model(self) -> IndexModel:
        return self._inner.model()

    def upsert(self, owner: Owner, passages: Sequence[Passage]) -> None:
        self._inner.upsert(owner, passages)
        self._faults.wrote()

    def trim(self, owner: Owner, item_id: str, *, keep: int, version: int) -> None:
        self._inner.trim(owner, item_id, keep=keep, version=version)
        self._faults.wrote()

    def erase(self, owner: Owner, *, at_most: int | None = None) -> int:
        erased = self._inner.erase(owner, at_most=at_most)
        self._faults.wrote()
        return erased

    def search_text(self, owner: Owner, query: TextQuery, where: SearchFilter, depth: int) -> FoundByWords:
        self._faults.strike_store("lexical", "search")
        return self._inner.search_text(owner, query, where, depth)

    def search_vector(self, owner: Owner, vector: bytes, where: SearchFilter, depth: int) -> list[Candidate]:
        self._faults.strike_store("vector", "search")
        return self._inner.search_vector(owner, vector, where, depth)

    def count(self, owner: Owner) -> int:
        return self._inner.count(owner)


# --- models -------------------------------------------------------------------------------------


class FaultyEmbedder:
    """Logs every request, also those that fail. A 4xx other than 429 is final, everything else may be tried again."""

    def __init__(self, inner: Embedder, faults: Faults, calls: CallLog) -> None:
        self._inner, self._faults, self._calls = inner, faults, calls

    @property
    def model(self) -> IndexModel:
        return self._inner.model

    @property
    def calibration(self) -> Calibration:
        return self._inner.calibration

    @property
    def languages(self) -> tuple[str, ...]:
        return self._inner.languages

    def load(self) -> bool:
        return isinstance(self._inner, Loads) and self._inner.load()

    def embed_query(self, text: str) -> bytes:
        with self._calls.recording("embed", operation="query", texts=[text]):
            self._strike([text])
            return self._inner.embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        with self._calls.recording("embed", operation="passages", texts=list(texts)):
            self._strike(texts)
            return self._inner.embed_passages(texts)

    def _strike(self, texts: Sequence[str]) -> None:
        _strike_encoder(self._faults, "embed", texts)


class FaultyCrossEncoder:
    """As the embedder, without a log of its calls. A 404 is a stage without the model."""

    def __init__(self, inner: CrossEncoder, faults: Faults) -> None:
        self._inner, self._faults = inner, faults

    def load(self) -> None:
        self._inner.load()

    def scores(self, question: str, texts: Sequence[str], still_wanted: Callable[[], bool]) -> list[float]:
        try:
            self._faults.strike("rerank", "\n".join(texts))
        except Failure as failure:
            if failure.status == 404:
                raise ModelMissing(f"injected fault: {failure}") from None
            raise EmbeddingUnavailable(f"injected fault: {failure}") from None
        return self._inner.scores(question, texts, still_wanted)


def _strike_encoder(faults: Faults, target: str, texts: Sequence[str]) -> None:
    try:
        faults.strike(target, "\n".join(texts))
    except Failure as failure:
        final = failure.status is not None and 400 <= failure.status < 500 and failure.status != 429
        kind = EmbeddingUnavailable if final else EmbeddingRetryable
        raise kind(f"injected fault: {failure}") from None
