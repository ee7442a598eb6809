"""Remembers what the queues delivered, so that a test can have it delivered once more."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from uuid import uuid4

from local.template import QueueSource, QueueSpec
from local.workers.broker import Received
from local.workers.queue_worker import deliver

CACHE_SIZE = 1000


class Deliveries:
    """The newest messages of each queue, oldest first."""

    def __init__(self, invoke: Callable[[str, Any], Any], sources: Sequence[QueueSource]) -> None:
        self._invoke = invoke
        self._sources: Mapping[str, QueueSource] = {source.queue: source for source in sources}
        self._lock = threading.Lock()
        self._delivered: dict[str, deque[tuple[QueueSpec, Received]]] = {}

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

    def _once(self, spec: QueueSpec, message: Received, receive: int) -> int:
        attributes = {**message.attributes, "ApproximateReceiveCount": str(receive)}
        copy = replace(message, receipt=uuid4().hex, attributes=attributes)
        return len(deliver(self._invoke, self._sources[spec.name], spec, [copy]))
