"""Ports: the interfaces that the use cases need from the outside, and nothing more.

Every port has one contract suite under ``tests/contract`` that runs unchanged on each of its engines.
Adapters translate vendor errors into the exceptions defined here; nobody else catches a vendor error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from neve.caching import Caches
from neve.domain.cursors import InvalidCursor as InvalidCursor
from neve.domain.indexing.passage import MAX_FOLLOWING as MAX_FOLLOWING
from neve.domain.indexing.passage import Neighbour as Neighbour
from neve.domain.indexing.passage import Passage as Passage
from neve.domain.indexing.passage import Source as Source
from neve.domain.indexing.passage import removal_version as removal_version
from neve.domain.indexing.passage import rev_of as rev_of
from neve.domain.recall.query import TextQuery as TextQuery
from neve.domain.tokens import Counter, CounterName
from neve.observing import Observer

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

# --- errors -------------------------------------------------------------------------------------


class StoreUnavailable(Exception):
    """A store did not answer, or answered that it cannot. Never raised for "no such row"."""

    def __init__(self, store: str, reason: str) -> None:
        super().__init__(f"{store}: {reason}")
        self.store = store
        self.reason = reason


class Conflict(Exception):
    """A conditional write lost. ``failed`` holds the positions of the operations whose condition did not hold
    (empty when the engine only knows that a concurrent writer won)."""

    def __init__(self, failed: Sequence[int] = ()) -> None:
        super().__init__(f"conflict on operations {list(failed)}")
        self.failed = tuple(failed)


class EmbeddingUnavailable(Exception):
    """The embedder cannot work until somebody changes something (no credentials, a 4xx other than 429). Not retried."""


class EmbeddingRetryable(Exception):
    """The embedder failed in a way that a later attempt may not (429, 5xx, transport)."""


class ModelUnavailable(Exception):
    """The language model gave no usable answer (transport, 429, 5xx, timeout, malformed tool call). Retried from the
    queue. The text says why without quoting anybody."""

    text_is_logged = True


class ModelRefused(Exception):
    """The language model's API rejected the request itself, whatever it is about (the key, the model, a parameter): no
    such request can succeed until somebody changes something. The text says why without quoting anybody."""

    text_is_logged = True


class ContentRefused(ModelRefused):
    """It rejected what the request holds (a message, an image, its size, the provider's safeguards): the same request
    without it may succeed. The text says why without quoting it, in at most 200 characters."""


class DeadlineExceeded(Exception):
    """A task had not finished when its time budget ended."""


# --- table --------------------------------------------------------------------------------------

Item = dict[str, Any]
"""A row: ``pk``, ``sk``, ``type``, ``version`` and attributes of str, int, float, bool, bytes, list, dict. No None."""


class Key(NamedTuple):
    pk: str
    sk: str


def key_of(item: Item) -> Key:
    """Of a row, or of what an index says of one."""
    return Key(item["pk"], item["sk"])


class Index(StrEnum):
    """MAIN is the table. The others are sparse and eventually consistent: a row is in ``rank`` iff it has both
    ``rank_pk`` and ``rank_sk``, and so on. RANK and DUE project only ``INDEX_PROJECTION``; RECENT projects the whole
    row."""

    MAIN = "main"
    RANK = "rank"
    DUE = "due"
    RECENT = "recent"


INDEX_PROJECTION: Mapping[Index, frozenset[str]] = {
    Index.RANK: frozenset(
        {"type", "id", "tokens", "session_id", "scope", "kind", "rev", "status", "fingerprint", "born_gen", "died_gen"}
    ),
    Index.DUE: frozenset({"type", "id", "tenant_id", "user_id", "session_id"}),
}
"""What a RANK or DUE query returns beside ``pk``, ``sk`` and the index's own two keys."""


@dataclass(frozen=True, slots=True)
class Version:
    """Expect the row to exist with exactly this version."""

    n: int


class Expect(StrEnum):
    ABSENT = "absent"
    ANY = "any"


Expectation = Version | Expect


@dataclass(frozen=True, slots=True)
class Put:
    """Write a whole row. The engine sets ``version``: ``first`` for ABSENT, n + 1 for Version(n), 0 for ANY (such rows
    are never updated optimistically). An incoming ``version`` attribute is ignored.

    ``first``, at least 1: another number each time for a row that comes back after it was deleted, so that nobody takes
    it for the one that was read before.

    ``durable`` False: a row that nobody was promised. A write of nothing else may answer before the disk has it, where
    an engine would wait for that: it survives the end of the process, and maybe not a power cut."""

    item: Item
    expect: Expectation = Expect.ANY
    durable: bool = True
    first: int = 1


@dataclass(frozen=True, slots=True)
class Delete:
    key: Key
    expect: Expectation = Expect.ANY


@dataclass(frozen=True, slots=True)
class Check:
    """Write nothing, but fail the transaction unless the expectation (ABSENT or Version) holds."""

    key: Key
    expect: Expectation


WriteOp = Put | Delete | Check
MAX_WRITE_OPS = 100


@dataclass(frozen=True, slots=True)
class Page:
    items: list[Item]
    cursor: str | None


class Table(Protocol):
    """An ordered key-value table with optimistic transactions. All methods raise StoreUnavailable."""

    def get(self, key: Key) -> Item | None:
        """Strongly consistent."""

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Item]:
        """Strongly consistent, one round trip as far as the caller is concerned; missing rows are missing keys."""

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
    ) -> Page:
        """Rows of one partition in sort-key order (UTF-8 byte order). ``between`` is inclusive on both ends and
        excludes ``prefix``. ``cursor`` is the opaque one of the previous page; raises BadCursor for one it did not
        make."""

    def write(self, ops: Sequence[WriteOp]) -> None:
        """All or nothing, at most 100 operations on distinct keys; raises Conflict, and ValueError for a malformed
        call."""


# --- search -------------------------------------------------------------------------------------


class Owner(NamedTuple):
    tenant: str
    user: str


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """Applied *inside* each leg, before the depth is counted. Empty tuple / None = no restriction.

    ``after`` and ``before`` bound ``observed_at`` (inclusive / exclusive). ``tags``: all of them. ``session_id`` = only
    that session; ``not_session_id`` = everything outside it. ``path_prefix`` matches whole segments."""

    sources: tuple[Source, ...] = ()
    statuses: tuple[str, ...] = ("active",)
    kinds: tuple[str, ...] = ()
    tier: str | None = None
    category: str | None = None
    group: str | None = None
    tags: tuple[str, ...] = ()
    path_prefix: str | None = None
    session_id: str | None = None
    not_session_id: str | None = None
    after: str | None = None
    before: str | None = None
    exclude_ids: frozenset[str] = frozenset()
    exclude_fingerprints: frozenset[str] = frozenset()


class Candidate(NamedTuple):
    """The best passage of one item in one leg. ``score``: BM25 (>= 0) or raw cosine in [-1, 1]. ``version``: the rev of
    the row that it was made from. ``length``: index terms of the whole message that the passage is a part of."""

    item_id: str
    n: int
    score: float
    version: int
    fingerprint: str
    source: Source
    length: int


@dataclass(frozen=True, slots=True)
class IndexModel:
    """Which embedding model an index holds; vectors of another model are never compared with it."""

    tag: str
    dimensions: int


class SearchIndex(Protocol):
    """All methods raise StoreUnavailable. Results: best first, ties by item_id ascending, one candidate an item."""

    def model(self) -> IndexModel: ...

    def upsert(self, owner: Owner, passages: Sequence[Passage]) -> None:
        """Idempotent; a passage whose ``document_version`` is below the stored one (or below a removal's) is ignored. A
        vector of the wrong dimensions raises ValueError."""

    def trim(self, owner: Owner, item_id: str, *, keep: int, version: int) -> None:
        """Remove the passages ``n >= keep`` of an item that are of no rev above ``version`` (keep=0: the whole item); a
        later upsert of one of those revs stays refused."""

    def erase(self, owner: Owner) -> int:
        """Remove everything of one user; returns how many passages that were."""

    def search_text(self, owner: Owner, query: TextQuery, where: SearchFilter, depth: int) -> list[Candidate]: ...

    def search_vector(self, owner: Owner, vector: bytes, where: SearchFilter, depth: int) -> list[Candidate]: ...

    def count(self, owner: Owner) -> int: ...


# --- objects and queues -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ObjectStart:
    """An object as its first bytes tell it. ``size``: of the whole, in bytes."""

    size: int
    content_type: str
    start: bytes


class ObjectStore(Protocol):
    """Whole small objects by key. All methods raise StoreUnavailable."""

    def put(self, key: str, body: bytes, *, content_type: str) -> None: ...

    def put_new(self, key: str, body: bytes, *, content_type: str) -> bool:
        """False, and nothing written, when the key exists already. One winner among concurrent callers."""

    def get(self, key: str) -> bytes | None: ...

    def peek(self, key: str, length: int) -> ObjectStart | None:
        """The first ``length`` bytes, at most; None when there is no such object."""

    def copy(self, source: str, target: str) -> bool:
        """With its content type, in place of what was there. False when there is no ``source``."""

    def delete(self, key: str) -> None:
        """Idempotent."""

    def list(self, prefix: str) -> list[str]: ...

    def presign_put(self, key: str, *, content_type: str, expires_s: int, size: int | None = None) -> str:
        """A URL to which one HTTP PUT of the bytes, with that Content-Type and ``If-None-Match: *``, stores the object
        unless it is there already. ``size``: exactly how many bytes; any number when None."""

    def presign_get(self, key: str, *, expires_s: int) -> str:
        """A URL from which HTTP GET loads the object, whether or not it is there by now."""


class QueueName(StrEnum):
    INDEX = "index"
    EMBED = "embed"
    EXTRACT = "extract"
    COMPACT = "compact"
    REFLECT = "reflect"
    LIBRARIAN = "librarian"
    JOBS = "jobs"


@dataclass(frozen=True, slots=True)
class Message:
    """``group``: FIFO group, or fairness group on a standard queue. ``dedup_id``: FIFO only (5 minutes)."""

    body: dict[str, Any]
    group: str
    dedup_id: str | None = None


class Queue(Protocol):
    def send(self, queue: QueueName, messages: Sequence[Message]) -> None:
        """Durable once it returns; raises StoreUnavailable, in which case some may have been sent."""


# --- models -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Calibration:
    """Raw cosine medians of random pairs and of known paraphrases for one model: they map to 0.3 and 0.9."""

    random_median: float
    paraphrase_median: float


class Embedder(Protocol):
    """Vectors are L2-normalised float32 little-endian bytes. Raises EmbeddingUnavailable or EmbeddingRetryable."""

    @property
    def model(self) -> IndexModel: ...

    @property
    def calibration(self) -> Calibration: ...

    @property
    def languages(self) -> tuple[str, ...]:
        """Those whose meaning it knows, as ISO 639-1 codes; ``*`` for a model of many, nothing for none."""

    def embed_query(self, text: str) -> bytes: ...

    def embed_passages(self, texts: Sequence[str]) -> list[bytes]: ...


class TokenEncoder(Protocol):
    """Late interaction: a vector for each token of a text, and how well the tokens of a query are met by those of a
    message. What is encoded is opaque, and good for this model only. Raises EmbeddingUnavailable or
    EmbeddingRetryable."""

    @property
    def model(self) -> str: ...

    def encode_query(self, text: str) -> bytes: ...

    def encode_passages(self, texts: Sequence[str]) -> list[bytes]: ...

    def similarities(self, query: bytes, messages: Sequence[Sequence[bytes]]) -> list[float]:
        """MaxSim of each message, which is its encoded passages. Larger is better; there is no scale to it."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One forced tool call. ``content``: blocks ``{"type": "text", "text"}`` or
    ``{"type": "image", "media_type", "data": base64 | "url"}`` in order. ``within_s``: seconds that the call may take
    with all its attempts; later nobody is there to take the answer."""

    system: str
    content: tuple[Mapping[str, Any], ...]
    tool_name: str
    tool_description: str
    tool_schema: Mapping[str, Any]
    max_tokens: int
    purpose: str
    within_s: float = field(default=math.inf, compare=False)


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    tool_input: Mapping[str, Any]
    model: str
    usage: Mapping[str, int] = field(default_factory=dict)
    """``input, cache_read, cache_write, output`` tokens."""


class LanguageModel(Protocol):
    def call_tool(self, request: ModelRequest) -> ModelAnswer:
        """Raises ModelUnavailable, ModelRefused or ContentRefused."""


# --- time, ids, concurrency ---------------------------------------------------------------------


class Clock(Protocol):
    def now(self) -> datetime:
        """Wall clock, aware, UTC."""

    def monotonic_ms(self) -> float:
        """Milliseconds that only move forward; the scale of every time budget."""

    def sleep(self, seconds: float) -> None:
        """Returns when so many seconds have passed on this clock."""


class Ids(Protocol):
    def ulid(self, at: datetime) -> str: ...

    def token(self) -> str:
        """128 random bits as hex: write ids and secrets."""


class Task(Protocol, Generic[T_co]):
    def result(self, deadline_ms: float | None = None) -> T_co:
        """Waits until ``clock.monotonic_ms()`` reaches the deadline, then raises DeadlineExceeded; re-raises the
        task's own error."""

    @property
    def elapsed_ms(self) -> float: ...


class Tasks(Protocol):
    """Runs work beside the caller. The context variables of the caller are visible to the work."""

    def start(self, work: Callable[[], T]) -> Task[T]: ...


# --- all of them ----------------------------------------------------------------------------------


class Ports(Protocol):
    """Everything a use case may ask for. One object a process, made by the composition root."""

    @property
    def table(self) -> Table: ...
    @property
    def objects(self) -> ObjectStore: ...
    @property
    def queue(self) -> Queue: ...
    @property
    def search(self) -> SearchIndex: ...
    @property
    def embedder(self) -> Embedder: ...
    @property
    def token_encoder(self) -> TokenEncoder | None:
        """None: nothing is ranked by late interaction."""

    @property
    def observer(self) -> Observer: ...
    @property
    def counter(self) -> Callable[[CounterName], Counter]:
        """The token counter of a name. Raises NeveError ``invalid_policy`` when its data is not installed."""

    @property
    def clock(self) -> Clock: ...
    @property
    def ids(self) -> Ids: ...
    @property
    def tasks(self) -> Tasks: ...
    @property
    def caches(self) -> Caches: ...


class WordsPorts(Protocol):
    """What it takes to bring the words of rows into a search index."""

    @property
    def table(self) -> Table: ...
    @property
    def objects(self) -> ObjectStore: ...
    @property
    def search(self) -> SearchIndex: ...
    @property
    def queue(self) -> Queue: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def ids(self) -> Ids: ...


class IndexingPorts(Protocol):
    """What it takes to bring rows with their vectors into a search index."""

    @property
    def table(self) -> Table: ...
    @property
    def objects(self) -> ObjectStore: ...
    @property
    def search(self) -> SearchIndex: ...
    @property
    def embedder(self) -> Embedder: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def ids(self) -> Ids: ...
