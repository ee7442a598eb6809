"""Remembers what the table's stream and the queues delivered, so that a test can have it delivered once more."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import groupby
from typing import Any
from uuid import uuid4

from local.broker import Received
from local.engine.sqlite_table import Change
from local.template import QueueSource, QueueSpec, StreamSource
from local.workers.queue_worker import deliver
from local.workers.stream_worker import deliver_changes

CACHE_SIZE = 1000
CHANGES = 3000


class Deliveries:
    """The newest messages of each queue and the newest changes of the table, oldest first."""

    def __init__(self, invoke: Callable[[str, Any], Any], sources: Sequence[QueueSource]) -> None:
        self._invoke = invoke
        self._sources: Mapping[str, QueueSource] = {source.queue: source for source in sources}
        self._lock = threading.Lock()
        self._delivered: dict[str, deque[tuple[QueueSpec, Received]]] = {}
        self._changes: deque[tuple[StreamSource, Change]] = deque(maxlen=CHANGES)

    def remember_changes(self, source: StreamSource, changes: Sequence[Change]) -> None:
        with self._lock:
            self._changes.extend((source, change) for change in changes)

    def remember(self, spec: QueueSpec, batch: Sequence[Received]) -> None:
        with self._lock:
            self._delivered.setdefault(spec.name, deque(maxlen=CACHE_SIZE)).extend((spec, one) for one in batch)

    def again(self, queue: str, *, times: int, concurrent: int, index: int = -1) -> int:
        """Deliver one message ``times`` more, ``concurrent`` at once; how many of these deliveries failed. ``index``
        counts the remembered messages of the queue, -1 being the newest. Raises LookupError when there is none."""
        with self._lock:
            spec, message = list(self._delivered.get(queue, ()))[index]
        with ThreadPoolExecutor(concurrent) as pool:
            receives = range(2, 2 + times)
            return sum(pool.map(lambda receive: self._once(spec, message, receive), receives))

    def replay(self, match: str) -> tuple[int, int]:
        """Deliver every change and every message that names this text once more, the changes first. How many that were,
        and how many of them failed."""
        with self._lock:
            changes = [(source, change) for source, change in self._changes if match in change.key.pk]
            messages = [one for queue in self._delivered.values() for one in queue if match in one[1].body]
        handled = 0
        for source, found in groupby(changes, lambda one: one[0]):
            same = [change for _, change in found]
            for start in range(0, len(same), source.batch_size):
                handled += deliver_changes(self._invoke, source, same[start : start + source.batch_size])
        failed = len(changes) - handled + sum(self._once(spec, message, 2) for spec, message in messages)
        return len(changes) + len(messages), failed

    def _once(self, spec: QueueSpec, message: Received, receive: int) -> int:
        attributes = {**message.attributes, "ApproximateReceiveCount": str(receive)}
        copy = replace(message, receipt=uuid4().hex, attributes=attributes)
        return len(deliver(self._invoke, self._sources[spec.name], spec, [copy]))
