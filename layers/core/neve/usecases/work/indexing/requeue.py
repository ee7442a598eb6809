"""Queue again what the search index lacks: rows and logs whose message was lost, and those that are there without their
vectors."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Literal, TypeVar

from neve.domain.jobs.time_share import TimeShare
from neve.domain.records.documents import Document
from neve.domain.records.memories import EmbeddingState, Memory, Priority
from neve.domain.times import iso, parse
from neve.ports.engines import Ports
from neve.ports.queue import Message, QueueName
from neve.ports.table import Index, Item, Table, key_of
from neve.store import rows
from neve.store.documents import read_document
from neve.store.keys import (
    DUE_SHARDS,
    SessionKeys,
    UserKeys,
    behind_prefix,
    behind_prefix_of_tenant,
    due_bucket,
    due_partition,
    due_partitions,
    due_shard,
)
from neve.store.partitions import all_rows, due_rows
from neve.store.transact import batches, transact
from neve.usecases.core.jobs.messages.indexing import events_message, memory_message
from neve.usecases.core.lag.indexed_row import read_indexed
from neve.usecases.core.lag.memory_lag import Progress, Unreadable, progress_of
from neve.usecases.work.indexing.by_kind import INDEXED_COLLECTIONS
from neve.usecases.work.reflect.note_due import candidates_of, note_due, rows_of_due

T = TypeVar("T")

COOLDOWN = timedelta(minutes=5)
"""The sweep queues one row at most this often (docs/rules/indexing.md#sweep), so that a row which fails again and
again, or is replaced and comes back, does not keep the workers busy."""
LOST_AFTER = timedelta(minutes=1)
"""A drain queues logs again that have waited this long; the others' messages are on their way."""
MAX_ROWS = 2_000
"""Rows that one run queues, and messages about logs; what is left stays due."""
PART = 100
"""Rows of the index that are looked up together."""
_TURN_S = 600
"""A sweep begins with the shard behind that of the one before, ten minutes ago, so that what one has no time for does
not wait behind the same rows again."""
_FIRST_SERVED = {Priority.HIGH: 0, Priority.MEDIUM: 1, Priority.LOW: 2}

Kind = Literal["embed", "failed", "behind"]
"""``embed``: a memory or a document that is not in the index yet. ``failed``: in the keyword index only, without
vectors. ``behind``: a session whose log is ahead of index, vectors or marker."""


@dataclass(frozen=True, slots=True)
class WhoseRows:
    """The tenant, and the user, whose rows are asked for; None admits every one."""

    tenant: str | None = None
    user: str | None = None

    def admits(self, item: Item) -> bool:
        return self.tenant in (None, item["tenant_id"]) and self.user in (None, item["user_id"])

    @property
    def one(self) -> UserKeys | None:
        """Return the user, where it is one."""
        return UserKeys(self.tenant, self.user) if self.tenant is not None and self.user is not None else None


EVERYBODY = WhoseRows()


def requeue_pending(ports: Ports, older_than: datetime, share: TimeShare, unreadable: Unreadable | None = None) -> int:
    """Queue for the sweep memories that have been due since before ``older_than``, important ones first, each at most
    once in five minutes, at most ``MAX_ROWS``. Return how many were queued. ``unreadable``: told of rows that cannot be
    read, which keep no other waiting. Raises StoreUnavailable."""
    now, reading = ports.clock.now(), share.half()
    due = find_due(ports.table, "embed", reading, until=older_than, first=first_shard(now))
    found = _indexed(ports.table, due, unreadable)
    waiting = ((item, one) for item, one in found if _is_waiting(one, older_than, now))
    chosen = _take_most(waiting, reading)
    share.left = share.left or reading.left
    return requeue(ports, chosen, share)


def first_shard(now: datetime) -> int:
    """Return the part of the index ``due`` with which the sweep of this time begins."""
    return int(now.timestamp()) // _TURN_S % DUE_SHARDS


def row_parts(found: Iterable[T]) -> Iterator[list[T]]:
    """Yield the rows in lists of ``PART``."""
    return batches(found, most=PART)


def _take_most(found: Iterable[T], share: TimeShare) -> list[T]:
    """Take at most ``MAX_ROWS`` of them; the share says whether there are more."""
    some = list(islice(found, MAX_ROWS + 1))
    share.left = share.left or len(some) > MAX_ROWS
    return some[:MAX_ROWS]


def _is_waiting(memory: Memory | Document, older_than: datetime, now: datetime) -> bool:
    if memory.rev_at is None or parse(memory.rev_at) > older_than:
        return False
    return memory.embed_queued_at is None or now - parse(memory.embed_queued_at) >= COOLDOWN


def requeue_all(ports: Ports, asked: WhoseRows, share: TimeShare) -> int:
    """Queue for a caller everything of a tenant, or of one user, that is due or failed, and the logs that the index is
    behind of. Return how many were queued, of the rows that there was time for, at most ``MAX_ROWS`` of each kind; the
    share says whether there are more. Raises StoreUnavailable."""
    table, reading = ports.table, share.half()
    kinds: tuple[Kind, ...] = ("embed", "failed")
    due = [item for kind in kinds for item in _take_most(find_due(table, kind, reading, asked), reading)]
    queued = requeue(ports, _indexed(table, due), share) + _requeue_failed_logs(ports, due)
    lacking = (one for one in lagging_logs(table, share, asked) if one[1].lacks_something)
    lost = _take_most(waiting_for(LOST_AFTER, ports.clock.now(), lacking), share)
    share.left = share.left or reading.left
    return queued + requeue_logs(ports, lost)


def find_due(
    table: Table,
    kind: Kind,
    share: TimeShare,
    asked: WhoseRows = EVERYBODY,
    until: datetime | None = None,
    first: int = 0,
) -> Iterator[Item]:
    """Yield what the indexes hold of due work, as far as the share has time to read: of all users, the oldest of each
    shard first. They may be a moment behind the rows. Raises StoreUnavailable."""
    return filter(asked.admits, share.of(_due(table, kind, asked, until, first)))


def _due(table: Table, kind: Kind, asked: WhoseRows, until: datetime | None, first: int) -> Iterator[Item]:
    """Read the due work, by keys that name the tenant or the user where there are such; it may hold rows of others."""
    if asked.one is not None and kind == "embed":
        found = all_rows(table, asked.one.partition, index=Index.RECENT)
        return (item for item in found if "rev_at" in item)  # facts that do not hold may lack nothing
    if asked.one is not None:
        prefix = behind_prefix(asked.one) if kind == "behind" else None
        return all_rows(table, due_partition(kind, due_shard(asked.one)), index=Index.DUE, prefix=prefix)
    if asked.tenant is not None and kind == "behind":
        prefix = behind_prefix_of_tenant(asked.tenant)
        places = due_partitions(kind, first)
        return (item for place in places for item in all_rows(table, place, index=Index.DUE, prefix=prefix))
    return due_rows(table, kind, until, first)


def backlog_age_s(ports: Ports) -> float:
    """Return how many seconds the oldest row has waited for the search index, to its 10 minute bucket; 0 when none
    waits."""
    oldest = [due_bucket(item["due_sk"]) for item in _oldest(ports, "embed")]
    if not oldest:
        return 0.0
    since = datetime.fromisoformat(min(oldest)).replace(tzinfo=UTC)
    return max(0.0, (ports.clock.now() - since).total_seconds())


def _oldest(ports: Ports, kind: Kind) -> Iterator[Item]:
    for partition in due_partitions(kind):
        yield from ports.table.query(partition, index=Index.DUE, limit=1).items


def _indexed(
    table: Table, due: Iterable[Item], unreadable: Unreadable | None = None
) -> Iterator[tuple[Item, Memory | Document]]:
    """Read the rows themselves; yield those that are still there and lack something."""
    for part in row_parts(due):
        places = {key_of(item): item for item in part if item["type"] in INDEXED_COLLECTIONS}
        for key, item in (table.get_many(list(places)) if places else {}).items():
            try:
                one = _read(item)
            except Exception as error:
                if unreadable is None:
                    raise
                unreadable(error)
                continue
            if lacks_something(one):
                yield places[key], one


def _read(item: Item) -> Memory | Document:
    return rows.read_memory(item) if item["type"] == "memory" else read_document(item)


def lacks_something(row: Memory | Document) -> bool:
    return row.rev_at is not None or row.embedding_state is EmbeddingState.FAILED


def requeue(ports: Ports, waiting: Iterable[tuple[Item, Memory | Document]], share: TimeShare) -> int:
    """Stamp each row, note for whom there is a night, then queue it: as many as the share has time for. A row that
    another writer changes at the same time is left to the change's own message."""
    now = ports.clock.now()
    by_importance = sorted(waiting, key=lambda one: (_rank_to_serve(one[1]), str(one[1].id)))
    in_time = share.of(by_importance)
    stamped = [(_owner_of(item), item["type"], one) for item, one in in_time if _stamp(ports, item, one, now)]
    _note_due(ports, ((keys, one) for keys, _, one in stamped))
    incarnations = _incarnations(ports.table, {keys for keys, _, _ in stamped})
    for queue, has_words in ((QueueName.INDEX, False), (QueueName.EMBED, True)):
        messages = [
            memory_message(keys, incarnations[keys], str(one.id), one.rev, kind)
            for keys, kind, one in stamped
            if (one.words_at is not None or one.rev_at is None) is has_words
        ]
        if messages:
            ports.queue.send(queue, messages)
    return len(stamped)


def _note_due(ports: Ports, pending: Iterable[tuple[UserKeys, Memory | Document]]) -> None:
    """Note for whom there is a night. The outbox notes it before it sends, so a row that lost its message may not be
    noted."""
    users = candidates_of((keys, one) for keys, one in pending if isinstance(one, Memory) and one.rev_at is not None)
    if users:
        note_due(ports, users, ports.table.get_many(sorted(rows_of_due(users))))


def _rank_to_serve(row: Memory | Document) -> int:
    """Return the rank by which rows are served: documents among memories of medium priority."""
    return _FIRST_SERVED[row.priority if isinstance(row, Memory) else Priority.MEDIUM]


def _owner_of(item: Item) -> UserKeys:
    return UserKeys(item["tenant_id"], item["user_id"])


def _incarnations(table: Table, users: Collection[UserKeys]) -> dict[UserKeys, int]:
    found = table.get_many(sorted(keys.head for keys in users)) if users else {}
    return {keys: rows.read_head(found.get(keys.head)).incarnation for keys in users}


def _stamp(ports: Ports, item: Item, row: Memory | Document, now: datetime) -> bool:
    """Note that the row is queued; False for a row that lacks nothing any more."""
    keys, (collection, _) = _owner_of(item), INDEXED_COLLECTIONS[item["type"]]
    identifier = str(row.id)
    current: Memory | Document | None = row

    def attempt() -> bool:
        nonlocal current
        if current is None:
            current = collection.find(ports.table, keys, [identifier])[0].get(identifier)
        read, current = current, None  # another attempt reads the row again
        if read is None or not lacks_something(read):
            return False
        stamped = replace(read, embed_queued_at=iso(now))
        if read.rev_at is None:
            stamped = replace(stamped, embedding_state=EmbeddingState.PENDING, rev_at=iso(now), words_at=iso(now))
        ports.table.write([collection.put(keys, stamped)])
        return True

    return transact(ports, attempt)


def _requeue_failed_logs(ports: Ports, due: Iterable[Item]) -> int:
    """Queue logs that are indexed without vectors from some event on; return how many."""
    places = {key_of(item): item for item in due if item["type"] == "indexed"}
    found = ports.table.get_many(list(places)) if places else {}
    incarnations = _incarnations(ports.table, {_owner_of(item) for item in found.values()})
    messages: list[Message] = []
    for item in found.values():
        keys, session = _owner_of(item), item["session_id"]
        row = read_indexed(session, item)
        if row.without_vectors_from is not None:
            first, last = row.without_vectors_from, row.indexed_seq
            messages.append(events_message(keys.of_session(session), incarnations[keys], first, last))
    if messages:
        ports.queue.send(QueueName.EMBED, messages)
    return len(messages)


# --- logs that the index lags behind ---------------------------------------------------------------


def lagging_logs(
    table: Table,
    share: TimeShare,
    asked: WhoseRows = EVERYBODY,
    first: int = 0,
    unreadable: Unreadable | None = None,
) -> Iterator[tuple[SessionKeys, Progress]]:
    """Yield the logs that the index is behind of, as far as the share has time to read, one batch read for each
    ``PART``. Raises StoreUnavailable."""
    for part in row_parts(find_due(table, "behind", share, asked, first=first)):
        sessions = [_owner_of(item).of_session(item["session_id"]) for item in part]
        yield from progress_of(table, sessions, unreadable)


def waiting_for(
    time: timedelta, now: datetime, logs: Iterable[tuple[SessionKeys, Progress]]
) -> Iterator[tuple[SessionKeys, Progress]]:
    """Yield those of the logs whose oldest event has waited so long for its words or vectors."""
    return ((k, one) for k, one in logs if one.lacks_something and one.lacking_s(now) >= time.total_seconds())


def requeue_logs(ports: Ports, behind: Iterable[tuple[SessionKeys, Progress]]) -> int:
    """Queue the words that are missing, else the vectors; return how many messages were sent. Raises
    StoreUnavailable."""
    logs = list(behind)
    incarnations = _incarnations(ports.table, {UserKeys(keys.tenant, keys.user) for keys, _ in logs})
    words: list[Message] = []
    vectors: list[Message] = []
    for keys, progress in logs:
        incarnation = incarnations[UserKeys(keys.tenant, keys.user)]
        indexed, last = progress.indexed, progress.head.last_seq
        if last > indexed.indexed_seq:
            words.append(events_message(keys, incarnation, indexed.indexed_seq + 1, last))
        lacking = indexed.not_embedded((1, indexed.indexed_seq)) if indexed.indexed_seq else ()
        vectors += [events_message(keys, incarnation, first, to) for first, to in lacking]
    for queue, messages in ((QueueName.INDEX, words), (QueueName.EMBED, vectors)):
        if messages:
            ports.queue.send(queue, messages)
    return len(words) + len(vectors)
