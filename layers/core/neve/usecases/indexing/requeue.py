"""Queue again what the search index lacks: rows whose message was lost, and rows that are there without their
vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from neve.domain.records import EmbeddingState, Memory, Priority
from neve.domain.times import iso, parse
from neve.ports import Conflict, Index, Item, Key, Message, QueueName
from neve.store import rows
from neve.store.keys import DUE_SHARDS, Keys, due_partition
from neve.usecases.indexing.index_events import read_indexed
from neve.usecases.indexing.messages import events_message, memory_message
from neve.wiring import Ports

COOLDOWN = timedelta(minutes=5)
"""The sweep queues one row at most this often (product.md §7), so that a row which fails again and again, or is
replaced and comes back, does not keep the workers busy."""
AT_ONCE = 2_000
"""Rows of one run; what is left stays due."""
ATTEMPTS = 5
"""Stamps of one row: each repetition means that somebody else changed the row in between."""
PAGE = 100
_AFTER_EVERY_NAME = "~"
_FIRST_SERVED = {Priority.HIGH: 0, Priority.MEDIUM: 1, Priority.LOW: 2}

Kind = Literal["embed", "failed"]
"""``embed``: not in the index yet. ``failed``: in the index by its words only."""


def requeue_pending(ports: Ports, older_than: datetime) -> int:
    """For the sweep: what has been due since before ``older_than``, important rows first, each at most once in five
    minutes. How many were queued. Raises StoreUnavailable."""
    due = find_due(ports, "embed", until=older_than)
    now = ports.clock.now()
    waiting = [(item, m) for item, m in _memories(ports, due) if _is_waiting(m, older_than, now)]
    return requeue(ports, waiting)


def _is_waiting(memory: Memory, older_than: datetime, now: datetime) -> bool:
    if memory.rev_at is None or parse(memory.rev_at) > older_than:
        return False
    return memory.embed_queued_at is None or now - parse(memory.embed_queued_at) >= COOLDOWN


def requeue_all(ports: Ports, tenant: str, user: str | None) -> int:
    """For whoever asks: everything of a tenant, or of one user, that is due or failed. How many were queued. Raises
    StoreUnavailable."""
    due = [item for kind in ("embed", "failed") for item in find_due(ports, kind, tenant=tenant, user=user)]
    return requeue(ports, _memories(ports, due)) + _requeue_events(ports, due)


def find_due(
    ports: Ports, kind: Kind, *, until: datetime | None = None, tenant: str | None = None, user: str | None = None
) -> list[Item]:
    """What the index of due work holds, oldest first, at most ``AT_ONCE``. It may be a moment behind the rows."""
    found: list[Item] = []
    for item in _due(ports, kind, until):
        if tenant in (None, item["tenant_id"]) and user in (None, item["user_id"]):
            found.append(item)
            if len(found) == AT_ONCE:
                break
    return found


def backlog_age_s(ports: Ports) -> float:
    """How long the oldest row has waited for the search index, to its 10 minute bucket; 0 when none waits."""
    oldest = [item["due_sk"].partition("#")[0] for item in _oldest(ports, "embed")]
    if not oldest:
        return 0.0
    since = datetime.fromisoformat(min(oldest)).replace(tzinfo=UTC)
    return max(0.0, (ports.clock.now() - since).total_seconds())


def _oldest(ports: Ports, kind: Kind) -> Iterator[Item]:
    for shard in range(DUE_SHARDS):
        yield from ports.table.query(due_partition(kind, shard), index=Index.DUE, limit=1).items


def _due(ports: Ports, kind: Kind, until: datetime | None) -> Iterator[Item]:
    last = _AFTER_EVERY_NAME if until is None else f"{rows.time_bucket(until)}#{_AFTER_EVERY_NAME}"
    for shard in range(DUE_SHARDS):
        cursor: str | None = None
        while True:
            partition = due_partition(kind, shard)
            page = ports.table.query(partition, index=Index.DUE, between=("0", last), limit=PAGE, cursor=cursor)
            yield from page.items
            cursor = page.cursor
            if cursor is None:
                break


def _memories(ports: Ports, due: Iterable[Item]) -> list[tuple[Item, Memory]]:
    """The rows themselves, those that are still there and lack something."""
    places = {Key(item["pk"], item["sk"]): item for item in due if item["type"] == "memory"}
    found = ports.table.get_many(list(places)) if places else {}
    memories = [(places[key], rows.read_memory(item)) for key, item in found.items()]
    return [(item, memory) for item, memory in memories if _lacks_something(memory)]


def _lacks_something(memory: Memory) -> bool:
    return memory.rev_at is not None or memory.embedding_state is EmbeddingState.FAILED


def requeue(ports: Ports, waiting: Iterable[tuple[Item, Memory]]) -> int:
    """Stamp each row, then queue it. A row that somebody changes at the same time is left to the change's own
    message."""
    now = ports.clock.now()
    by_importance = sorted(waiting, key=lambda one: (_FIRST_SERVED[one[1].priority], one[1].id))
    stamped = [(item, memory) for item, memory in by_importance if _stamp(ports, item, memory, now)]
    heads = {Keys(item["tenant_id"]).head(item["user_id"]) for item, _ in stamped}
    found = ports.table.get_many(sorted(heads)) if heads else {}
    messages: list[Message] = []
    for item, memory in stamped:
        tenant, user = item["tenant_id"], item["user_id"]
        incarnation = rows.read_head(found.get(Keys(tenant).head(user))).incarnation
        messages.append(memory_message(tenant, user, incarnation, memory.id, memory.rev))
    if messages:
        ports.queue.send(QueueName.EMBED, messages)
    return len(messages)


def _stamp(ports: Ports, item: Item, memory: Memory, now: datetime) -> bool:
    """False for a row that lacks nothing any more, or that others keep changing."""
    keys, user = Keys(item["tenant_id"]), item["user_id"]
    for _ in range(ATTEMPTS):
        stamped = replace(memory, embed_queued_at=iso(now))
        if memory.rev_at is None:
            stamped = replace(stamped, embedding_state=EmbeddingState.PENDING, rev_at=iso(now))
        try:
            ports.table.write([rows.put_memory(keys, user, stamped)])
        except Conflict:
            again = ports.table.get(keys.memory(user, memory.id))
            if again is None or not _lacks_something(memory := rows.read_memory(again)):
                return False
        else:
            return True
    return False


def _requeue_events(ports: Ports, due: Iterable[Item]) -> int:
    """Logs that are indexed without vectors from some event on. How many logs."""
    places = {Key(item["pk"], item["sk"]): item for item in due if item["type"] == "indexed"}
    found = ports.table.get_many(list(places)) if places else {}
    heads = {Keys(item["tenant_id"]).head(item["user_id"]) for item in found.values()}
    known = ports.table.get_many(sorted(heads)) if heads else {}
    messages: list[Message] = []
    for item in found.values():
        tenant, user, session = item["tenant_id"], item["user_id"], item["session_id"]
        row = read_indexed(session, item)
        if row.without_vectors_from is not None:
            incarnation = rows.read_head(known.get(Keys(tenant).head(user))).incarnation
            seqs = (row.without_vectors_from, row.indexed_seq)
            messages.append(events_message(tenant, user, incarnation, session, *seqs))
    if messages:
        ports.queue.send(QueueName.EMBED, messages)
    return len(messages)
