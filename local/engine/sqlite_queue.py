"""The Queue port on one SQLite file, and the consumer's side of it: what a poller of SQS sees."""

from __future__ import annotations

import math
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import heapify, heappop, heappush
from pathlib import Path
from sqlite3 import Connection
from typing import Any, NamedTuple
from uuid import uuid4

from local.broker import Counts as Counts
from local.broker import Received as Received
from local.engine import dead_letters
from local.engine.sqlite_file import SqliteFile
from local.limits.lineage import HEADER, trace_header
from neve.adapters.queue_rules import encoded_body
from neve.ports.queue import Message, QueueName
from neve.ports.runtime import Clock
from neve.troubles import Troubles

SCHEMA = """
CREATE TABLE IF NOT EXISTS messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    queue TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, group_id TEXT NOT NULL, dedup_id TEXT,
    sent_ms INTEGER NOT NULL, visible_ms INTEGER NOT NULL,
    receives INTEGER NOT NULL DEFAULT 0, first_received_ms INTEGER, receipt TEXT, source TEXT
);
CREATE INDEX IF NOT EXISTS messages_queue ON messages (queue);
CREATE INDEX IF NOT EXISTS messages_of_group ON messages (queue, group_id, seq, visible_ms);
CREATE INDEX IF NOT EXISTS messages_in_flight ON messages (queue, group_id, visible_ms) WHERE receipt IS NOT NULL;
DROP INDEX IF EXISTS messages_group;
DROP INDEX IF EXISTS messages_received;
CREATE UNIQUE INDEX IF NOT EXISTS messages_receipt ON messages (receipt) WHERE receipt IS NOT NULL;
CREATE TABLE IF NOT EXISTS dedup_ids (
    queue TEXT NOT NULL, dedup_id TEXT NOT NULL, sent_ms INTEGER NOT NULL, PRIMARY KEY (queue, dedup_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS dedup_ids_sent ON dedup_ids (sent_ms);
CREATE TABLE IF NOT EXISTS traces (id TEXT PRIMARY KEY, header TEXT NOT NULL) WITHOUT ROWID;
"""

COLUMNS = "seq, queue, id, body, group_id, dedup_id, sent_ms, visible_ms, receives, first_received_ms, receipt, source"

GROUPS = """
WITH RECURSIVE groups (name) AS (
    SELECT min(group_id) FROM messages WHERE queue = :queue
    UNION ALL
    SELECT (SELECT min(group_id) FROM messages WHERE queue = :queue AND group_id > name) FROM groups
    WHERE name IS NOT NULL
)"""
"""Of a queue, one look into the index for each: a backlog of thousands of messages of one group is passed over."""
IN_FLIGHT = """(
    SELECT count(*) FROM messages AS flying INDEXED BY messages_in_flight
    WHERE queue = :queue AND group_id = name AND visible_ms > :now AND receipt IS NOT NULL
)"""
DELIVERABLE_GROUPS = f"""{GROUPS}
SELECT name, in_flight, head FROM (
    SELECT name, {IN_FLIGHT} AS in_flight, (
        SELECT seq FROM messages WHERE queue = :queue AND group_id = name AND visible_ms <= :now ORDER BY seq LIMIT 1
    ) AS head FROM groups WHERE name IS NOT NULL
) WHERE head IS NOT NULL ORDER BY in_flight, head LIMIT :limit
"""  # noqa: S608
"""As a fair queue of SQS: a group that has less in flight goes first, so that the backlog of one holds up no other.
Whatever is among the first ``limit`` messages is of one of the first ``limit`` groups."""
DELIVERABLE_OF_GROUP = f"""
SELECT {COLUMNS} FROM messages WHERE queue = ? AND group_id = ? AND visible_ms <= ? ORDER BY seq LIMIT ?
"""  # noqa: S608
DELIVERABLE_FIFO_GROUP = f"""{GROUPS}
SELECT name FROM (
    SELECT name, (
        SELECT seq FROM messages WHERE queue = :queue AND group_id = name ORDER BY seq LIMIT 1
    ) AS head FROM groups WHERE name IS NOT NULL AND {IN_FLIGHT} = 0
) WHERE (SELECT visible_ms <= :now FROM messages WHERE seq = head) ORDER BY head LIMIT 1
"""  # noqa: S608
"""A FIFO group waits while one of its messages is in flight, or while the oldest one is delayed."""
GROUP = f"SELECT {COLUMNS} FROM messages WHERE queue = ? AND group_id = ? ORDER BY seq LIMIT ?"  # noqa: S608
COUNTS = """
SELECT coalesce(sum(queue = :queue AND visible_ms <= :now), 0),
       coalesce(sum(queue = :queue AND visible_ms > :now AND receipt IS NOT NULL), 0),
       coalesce(sum(queue = :queue AND visible_ms > :now AND receipt IS NULL), 0),
       coalesce(sum(queue = :dlq), 0)
FROM messages WHERE queue IN (:queue, :dlq)
"""

NOT_HIDDEN_SO_LONG = """
UPDATE messages SET visible_ms = :until
WHERE queue = :queue AND (receipt IS NOT NULL) = :received AND visible_ms > :until
"""

DELAYED_LOOK_S, HIDDEN_LOOK_S = 0.5, 5.0
DEDUP_WINDOW_MS = 5 * 60 * 1000
SET_BACK_MS = 1_000
"""A clock that was moved back by less is waited for."""


@dataclass(frozen=True, slots=True)
class QueueDefinition:
    """As in a template: ``max_receives`` deliveries without a deletion move a message to ``dlq``, a queue that is
    defined beside this one. A dead-letter queue itself has neither, and keeps a message for ``retention_s``."""

    fifo: bool
    visibility_s: float
    delay_s: float = 0.0
    max_receives: int | None = None
    dlq: str | None = None
    retention_s: float = 14 * 86_400.0


class _Row(NamedTuple):
    seq: int
    queue: str
    id: str
    body: str
    group_id: str
    dedup_id: str | None
    sent_ms: int
    visible_ms: int
    receives: int
    first_received_ms: int | None
    receipt: str | None
    source: str | None


def _nobody_told(queue: str, messages: int, deliveries: int) -> None:
    """Where nobody has to be told of dead letters."""


class SqliteQueue:
    """``definitions`` by queue name. Every method raises ValueError for a name that is not among them.

    A send is on disk when it returns. Receiving, deleting and releasing survive the death of the process, but a power
    cut may undo the last of them, which delivers a message once more: consumers are idempotent.

    SQS has a clock of its own. When the machine's is set back, while the file is open or not, no message stays hidden
    for longer than its queue says, and no deduplication id is taken for longer."""

    def __init__(
        self,
        path: Path,
        clock: Clock,
        definitions: Mapping[str, QueueDefinition],
        troubles: Troubles | None = None,
        gave_up: dead_letters.GaveUp = _nobody_told,
    ) -> None:
        _check_definitions(definitions)
        self._file = SqliteFile(path, store="queue", schema=SCHEMA, troubles=troubles)
        self._clock = clock
        self._definitions = dict(definitions)
        self._troubles = troubles
        self._gave_up = gave_up
        self._moved = threading.Condition()
        self._moves = dict.fromkeys(definitions, 1)
        self._looked = dict.fromkeys(definitions, 0)
        self._closed = False
        self._latest_ms = 0
        with self._file.writing(durable=False) as connection:
            self._set_back(connection, _ms(clock.now()))

    # --- ports.Queue ----------------------------------------------------------------------------

    def send(self, queue: QueueName, messages: Sequence[Message]) -> None:
        """See ``ports.Queue``; here all are sent or none. On a FIFO queue a message whose ``dedup_id`` was sent less
        than 5 minutes ago is dropped, also when that one was deleted; None is never dropped."""
        definition = self._definition(queue)
        bodies = [encoded_body(message) for message in messages]
        now_ms, trace = _ms(self._clock.now()), trace_header()
        with self._file.writing() as connection:
            self._follow_clock(connection)
            connection.execute("DELETE FROM dedup_ids WHERE sent_ms <= ?", (now_ms - DEDUP_WINDOW_MS,))
            for message, body in zip(messages, bodies, strict=True):
                if definition.fifo and not _first_of_its_kind(connection, queue, message.dedup_id, now_ms):
                    continue
                message_id = str(uuid4())
                if trace is not None:
                    connection.execute("INSERT INTO traces VALUES (?, ?)", (message_id, trace))
                connection.execute(
                    "INSERT INTO messages (queue, id, body, group_id, dedup_id, sent_ms, visible_ms)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (
                        queue,
                        message_id,
                        body,
                        message.group,
                        message.dedup_id if definition.fifo else None,
                        now_ms,
                        now_ms + _duration_ms(definition.delay_s),
                    ),
                )
        self._announce(queue)

    # --- the consumer's side --------------------------------------------------------------------

    def receive(self, queue: str, limit: int, now: datetime) -> list[Received]:
        """At most ``limit`` messages, oldest first, which stay in flight for the queue's ``visibility_s``. From a FIFO
        queue: consecutive messages of one group that has nothing in flight. A message that was delivered
        ``max_receives`` times moves to the dead-letter queue instead."""
        definition = self._definition(queue)
        with self._moved:
            moves = self._moves[queue]
        now_ms = _ms(now)
        batch: list[Received] = []
        exhausted: list[_Row] = []
        with self._file.writing(durable=False) as connection:
            self._follow_clock(connection)
            while len(batch) < limit:
                found = _next(connection, queue, definition.fifo, limit - len(batch), now_ms)
                for row in found:
                    if definition.max_receives is not None and row.receives >= definition.max_receives:
                        dead_letters.move(connection, row.seq, definition.dlq, now_ms)
                        exhausted.append(row)
                    else:
                        batch.append(_deliver(connection, row, now_ms, definition))
                if not found or (definition.fifo and batch):
                    break
        if exhausted and definition.dlq is not None and definition.max_receives is not None:
            self._announce(definition.dlq)
            self._gave_up(queue, len(exhausted), definition.max_receives)
            dead_letters.note(self._troubles, definition.dlq, definition.max_receives)
        if not batch:
            with self._moved:
                self._looked[queue] = max(self._looked[queue], moves)
        return batch

    def delete(self, queue: str, receipt: str) -> bool:
        """The message has been handled. False, and nothing done, unless ``receipt`` is that of its last delivery."""
        definition = self._definition(queue)
        with self._file.writing(durable=False) as connection:
            deleted = connection.execute(
                "DELETE FROM messages WHERE queue = ? AND receipt = ? RETURNING id", (queue, receipt)
            ).fetchall()
            connection.executemany("DELETE FROM traces WHERE id = ?", deleted)
        if definition.fifo:
            self._announce(queue)
        return bool(deleted)

    def release(self, queue: str, receipt: str, delay_s: float) -> bool:
        """Deliver the message again ``delay_s`` from now. False, and nothing done, unless ``receipt`` is that of its
        last delivery."""
        self._definition(queue)
        visible_ms = _ms(self._clock.now()) + _duration_ms(delay_s)
        with self._file.writing(durable=False) as connection:
            released = connection.execute(
                "UPDATE messages SET visible_ms = ? WHERE queue = ? AND receipt = ?", (visible_ms, queue, receipt)
            ).rowcount
        self._announce(queue)
        return released > 0

    def in_flight(self) -> list[str]:
        """The bodies of all messages in flight, oldest first."""
        with self._file.reading() as connection:
            found = connection.execute(
                "SELECT body FROM messages WHERE receipt IS NOT NULL AND visible_ms > ? ORDER BY seq",
                (_ms(self._clock.now()),),
            ).fetchall()
        return [body for (body,) in found]

    def return_in_flight(self) -> None:
        """Make every message that is in flight deliverable now: for a process that has just started and knows that
        nobody else works on them. Deliveries so far stay counted."""
        now_ms = _ms(self._clock.now())
        with self._file.writing(durable=False) as connection:
            connection.execute(
                "UPDATE messages SET visible_ms = ? WHERE receipt IS NOT NULL AND visible_ms > ?", (now_ms, now_ms)
            )
        for queue in self._definitions:
            self._announce(queue)

    def give_back(self) -> dict[str, int]:
        """Dead letters to the queues that gave them up, as an operator does on AWS: for a process that has just
        started, before which somebody may have mended what they failed of. Each message once. How many, by queue."""
        dead = {name: one.dlq for name, one in self._definitions.items() if one.dlq is not None}
        with self._file.writing() as connection:
            given = dict(dead_letters.give_back(connection, dead, _ms(self._clock.now())))
        for queue in given:
            self._announce(queue)
        return given

    def expire(self, now: datetime) -> int:
        """Remove dead letters whose time is over; how many. Of those that are left health is told."""
        kept = {n: _duration_ms(one.retention_s) for n, one in self._definitions.items() if one.dlq is None}
        dead = {n: (one.dlq, one.max_receives) for n, one in self._definitions.items() if one.dlq and one.max_receives}
        with self._file.writing() as connection:
            gone = dead_letters.expire(connection, kept, _ms(now))
            dead_letters.look(connection, self._troubles, dead)
        return gone

    def counts(self, queue: str, *, dead: bool = True) -> Counts:
        definition = self._definition(queue)
        given = {"queue": queue, "dlq": definition.dlq if dead else None, "now": _ms(self._clock.now())}
        with self._file.reading() as connection:
            return Counts(*connection.execute(COUNTS, given).fetchone())

    def look_again_s(self, queue: str) -> float:
        """How often to look for messages that become visible because time passes, as long as there are some."""
        counts = self.counts(queue, dead=False)
        return DELAYED_LOOK_S if counts.delayed else HIDDEN_LOOK_S if counts.in_flight else math.inf

    def wait_for_messages(self, queues: Collection[str], timeout_s: float) -> bool:
        """Until one of ``queues`` may have something that the last empty ``receive`` on it, by whatever thread, did not
        see; False when the time is over or the queue was closed. A message that becomes visible because time passes
        wakes nobody: that is what the timeout is for."""
        with self._moved:
            self._moved.wait_for(lambda: self._closed or self._has_moved(queues), timeout_s)
            return not self._closed and self._has_moved(queues)

    def wipe(self) -> bool:
        """See ``SqliteFile``."""
        return self._file.wipe()

    def close(self) -> None:
        self._file.close()
        with self._moved:
            self._closed = True
            self._moved.notify_all()

    def _follow_clock(self, connection: Connection) -> None:
        """By the machine's clock, whatever time a consumer says that it is."""
        now_ms = _ms(self._clock.now())
        if now_ms < self._latest_ms - SET_BACK_MS:
            self._set_back(connection, now_ms)
        self._latest_ms = now_ms

    def _set_back(self, connection: Connection, now_ms: int) -> None:
        for queue, definition in self._definitions.items():
            for received, hidden_s in ((False, definition.delay_s), (True, definition.visibility_s)):
                until = now_ms + _duration_ms(hidden_s)
                connection.execute(NOT_HIDDEN_SO_LONG, {"queue": queue, "received": received, "until": until})
        connection.execute("UPDATE dedup_ids SET sent_ms = ? WHERE sent_ms > ?", (now_ms, now_ms))

    def _definition(self, queue: str) -> QueueDefinition:
        definition = self._definitions.get(queue)
        if definition is None:
            raise ValueError(f"no queue is named {queue}")
        return definition

    def _announce(self, queue: str) -> None:
        with self._moved:
            self._moves[queue] += 1
            self._moved.notify_all()

    def _has_moved(self, queues: Collection[str]) -> bool:
        return any(self._moves[queue] > self._looked[queue] for queue in queues)


def _check_definitions(definitions: Mapping[str, QueueDefinition]) -> None:
    for name, definition in definitions.items():
        if (definition.dlq is None) != (definition.max_receives is None):
            raise ValueError(f"queue {name} needs both max_receives and dlq, or neither")
        if definition.dlq is None:
            continue
        target = definitions.get(definition.dlq)
        if target is None:
            raise ValueError(f"the dead-letter queue {definition.dlq} of {name} is not defined")
        if target.fifo != definition.fifo:
            raise ValueError(f"{name} and its dead-letter queue {definition.dlq} must be of one type")


def _first_of_its_kind(connection: Connection, queue: str, dedup_id: str | None, now_ms: int) -> bool:
    if dedup_id is None:
        return True
    found = connection.execute(
        "INSERT INTO dedup_ids (queue, dedup_id, sent_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (queue, dedup_id, now_ms),
    )
    return found.rowcount > 0


def _next(connection: Connection, queue: str, fifo: bool, limit: int, now_ms: int) -> list[_Row]:
    asked = {"queue": queue, "now": now_ms, "limit": limit}
    if not fifo:
        return _fairly(connection, queue, limit, now_ms, connection.execute(DELIVERABLE_GROUPS, asked).fetchall())
    group = connection.execute(DELIVERABLE_FIFO_GROUP, asked).fetchone()
    if group is None:
        return []
    found: list[_Row] = []
    for row in map(_Row._make, connection.execute(GROUP, (queue, group[0], limit)).fetchall()):
        if row.visible_ms > now_ms:
            break
        found.append(row)
    return found


def _fairly(
    connection: Connection, queue: str, limit: int, now_ms: int, groups: Sequence[tuple[str, int, int]]
) -> list[_Row]:
    """``groups``: the name, how many of its messages are in flight, and the seq of the first one that is not. What is
    taken counts as in flight for what follows."""
    heads = [(in_flight, seq, name, 0) for name, in_flight, seq in groups]
    heapify(heads)
    waiting: dict[str, list[_Row]] = {}
    found: list[_Row] = []
    while heads and len(found) < limit:
        in_flight, _, name, at = heappop(heads)
        if name not in waiting:
            rows = connection.execute(DELIVERABLE_OF_GROUP, (queue, name, now_ms, limit - len(found)))
            waiting[name] = [_Row(*row) for row in rows]
        found.append(waiting[name][at])
        if at + 1 < len(waiting[name]):
            heappush(heads, (in_flight + 1, waiting[name][at + 1].seq, name, at + 1))
    return found


def _deliver(connection: Connection, row: _Row, now_ms: int, definition: QueueDefinition) -> Received:
    receipt = uuid4().hex
    first_ms = now_ms if row.first_received_ms is None else row.first_received_ms
    connection.execute(
        "UPDATE messages SET receipt = ?, visible_ms = ?, receives = receives + 1, first_received_ms = ? WHERE seq = ?",
        (receipt, now_ms + _duration_ms(definition.visibility_s), first_ms, row.seq),
    )
    trace = connection.execute("SELECT header FROM traces WHERE id = ?", (row.id,)).fetchone()
    attributes: dict[str, Any] = {
        "ApproximateReceiveCount": row.receives + 1,
        "SentTimestamp": row.sent_ms,
        "ApproximateFirstReceiveTimestamp": first_ms,
        "MessageGroupId": row.group_id,
        "SequenceNumber": f"{row.seq:020d}" if definition.fifo else None,
        "MessageDeduplicationId": row.dedup_id,
        "DeadLetterQueueSourceArn": row.source if row.source != row.queue else None,
        HEADER: trace[0] if trace else None,
    }
    known = {name: str(value) for name, value in attributes.items() if value is not None}
    return Received(row.id, receipt, row.body, known)


def _ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)


def _duration_ms(seconds: float) -> int:
    return round(seconds * 1000)
