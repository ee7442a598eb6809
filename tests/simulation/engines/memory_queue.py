"""The Queue port with its consumer's side as lists: what a poller of SQS sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from threading import RLock
from typing import Any

from local.broker import Received
from local.engine.sqlite_queue import DEDUP_WINDOW_MS, QueueDefinition
from neve.adapters.queue_rules import encoded_body
from neve.ports.queue import Message


@dataclass
class Waiting:
    """A message that has not been deleted. ``receipt``: of its last delivery."""

    seq: int
    body: str
    group: str
    dedup_id: str | None
    sent_ms: int
    visible_ms: int
    receives: int = 0
    first_received_ms: int | None = None
    receipt: str | None = None
    source: str | None = None


@dataclass
class _Line:
    """One queue. Messages stand in the order of their sends."""

    definition: QueueDefinition
    messages: list[Waiting] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)


class MemoryQueue:
    """``order`` may put what a standard queue delivers into another order."""

    def __init__(
        self,
        now_ms: Callable[[], int],
        definitions: Mapping[str, QueueDefinition],
        order: Callable[[list[Waiting]], object] = lambda _: None,
    ) -> None:
        self._now_ms = now_ms
        self._lines = {name: _Line(definition) for name, definition in definitions.items()}
        self._order = order
        self._seqs = count(1)
        self._lock = RLock()

    def send(self, queue: str, messages: Sequence[Message]) -> None:
        """See ``ports.Queue``; here all are sent or none."""
        line = self._lines[queue]
        bodies = [encoded_body(message) for message in messages]
        with self._lock:
            now = self._now_ms()
            for message, body in zip(messages, bodies, strict=True):
                if line.definition.fifo and message.dedup_id is not None:
                    if now - line.seen.get(message.dedup_id, -DEDUP_WINDOW_MS) < DEDUP_WINDOW_MS:
                        continue
                    line.seen[message.dedup_id] = now
                visible = now + round(line.definition.delay_s * 1000)
                dedup_id = message.dedup_id if line.definition.fifo else None
                line.messages.append(Waiting(next(self._seqs), body, message.group, dedup_id, now, visible))

    def receive(self, queue: str, limit: int) -> list[Received]:
        """At most ``limit`` messages; from a FIFO queue, consecutive ones of a group that has nothing in flight."""
        line = self._lines[queue]
        if not line.messages:
            return []
        with self._lock:
            now = self._now_ms()
            batch: list[Received] = []
            while len(batch) < limit:
                found = (self._of_a_group(line, now) if line.definition.fifo else self._any(line, now))[
                    : limit - len(batch)
                ]
                for waiting in found:
                    if line.definition.max_receives is not None and waiting.receives >= line.definition.max_receives:
                        self._bury(line, waiting, queue, now)
                    else:
                        batch.append(self._deliver(line, waiting, now))
                if not found or (line.definition.fifo and batch):
                    break
            return batch

    def delete(self, queue: str, receipt: str) -> bool:
        """False, and nothing done, unless ``receipt`` is that of the message's last delivery."""
        with self._lock:
            line = self._lines[queue]
            waiting = self._held(line, receipt)
            if waiting is not None:
                line.messages.remove(waiting)
            return waiting is not None

    def release(self, queue: str, receipt: str, delay_s: float) -> bool:
        """Deliver the message again ``delay_s`` from now."""
        with self._lock:
            waiting = self._held(self._lines[queue], receipt)
            if waiting is not None:
                waiting.visible_ms = self._now_ms() + round(delay_s * 1000)
            return waiting is not None

    def waiting(self, queue: str) -> list[Waiting]:
        """Everything that has not been deleted."""
        return self._lines[queue].messages

    def redrive(self, queue: str) -> int:
        """Give the dead letters of a queue back to it; how many."""
        line = self._lines[queue]
        if line.definition.dlq is None:
            return 0
        dead = self._lines[line.definition.dlq]
        moved, dead.messages = dead.messages, []
        for waiting in moved:
            waiting.visible_ms, waiting.source = self._now_ms(), None
        line.messages = sorted([*line.messages, *moved], key=lambda waiting: waiting.seq)
        return len(moved)

    def forget_dead(self, queue: str) -> int:
        """Nobody gives the dead letters of a queue back; how many there were."""
        dead = self._lines.get(self._lines[queue].definition.dlq or "")
        if dead is None:
            return 0
        gone, dead.messages = dead.messages, []
        return len(gone)

    # --- parts ----------------------------------------------------------------------------------

    def _any(self, line: _Line, now: int) -> list[Waiting]:
        found = [waiting for waiting in line.messages if waiting.visible_ms <= now]
        self._order(found)
        return found

    def _of_a_group(self, line: _Line, now: int) -> list[Waiting]:
        """A group waits while one of its messages is in flight, or while its oldest is delayed."""
        busy = {w.group for w in line.messages if w.visible_ms > now and w.receipt is not None}
        group: str | None = None
        found: list[Waiting] = []
        for waiting in line.messages:
            if waiting.group in busy or waiting.group not in (group or waiting.group,):
                continue
            if waiting.visible_ms > now:
                busy.add(waiting.group)
                continue
            group = waiting.group
            found.append(waiting)
        return found

    def _deliver(self, line: _Line, waiting: Waiting, now: int) -> Received:
        waiting.receives += 1
        waiting.receipt = f"{waiting.seq}-{waiting.receives}-{waiting.source or ''}"
        waiting.visible_ms = now + round(line.definition.visibility_s * 1000)
        if waiting.first_received_ms is None:
            waiting.first_received_ms = now
        attributes: dict[str, Any] = {
            "ApproximateReceiveCount": waiting.receives,
            "SentTimestamp": waiting.sent_ms,
            "ApproximateFirstReceiveTimestamp": waiting.first_received_ms,
            "MessageGroupId": waiting.group,
            "SequenceNumber": f"{waiting.seq:020d}" if line.definition.fifo else None,
            "MessageDeduplicationId": waiting.dedup_id,
            "DeadLetterQueueSourceArn": waiting.source,
        }
        known = {name: str(value) for name, value in attributes.items() if value is not None}
        return Received(f"m{waiting.seq}", waiting.receipt, waiting.body, known)

    def _bury(self, line: _Line, waiting: Waiting, queue: str, now: int) -> None:
        line.messages.remove(waiting)
        waiting.receives, waiting.first_received_ms, waiting.receipt = 0, None, None
        waiting.source, waiting.visible_ms = queue, now
        self._lines[str(line.definition.dlq)].messages.append(waiting)

    @staticmethod
    def _held(line: _Line, receipt: str) -> Waiting | None:
        return next((waiting for waiting in line.messages if waiting.receipt == receipt), None)
