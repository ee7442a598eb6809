"""Feeds the messages of one queue to a queue-triggered function and deletes those that it handled."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from local.broker import Broker, Counts, Received
from local.template import QueueSource, QueueSpec
from local.workers.failure_log import report
from local.workers.worker_events import failed_items, queue_event
from neve.ports.runtime import Clock

CONSUMERS = 2
"""FIFO groups, and batches of a standard queue, are handled beside each other."""
CONSUMERS_OF = {"deliver": 16}
"""Of functions that wait for the servers of others, and not for this machine: one that hangs holds up no other."""
HURRIED_RETRY_S = 0.1
"""Times the number of deliveries: a message that a drain cannot get handled reaches its DLQ in a few seconds."""


class QueueWorker:
    """``step`` delivers one batch; ``consumers`` threads may be in it. A message that failed stays hidden for the
    queue's visibility timeout, as on AWS, unless ``hurry`` brings it back. ``spec`` describes the queue as it was made:
    with the delay that it has."""

    def __init__(
        self,
        source: QueueSource,
        spec: QueueSpec,
        queue: Broker,
        clock: Clock,
        invoke: Callable[[str, Any], Any],
        delivered: Callable[[QueueSpec, Sequence[Received]], None] | None = None,
    ) -> None:
        """``clock``: the queue's own, where it goes by one of ours. ``delivered`` is told of every batch before it is
        handled."""
        self.name = source.function
        self.consumers = CONSUMERS_OF.get(source.function, CONSUMERS)
        self.spec = spec
        self._source = source
        self._queue = queue
        self._clock = clock
        self._invoke = invoke
        self._delivered = delivered
        self._hidden: deque[tuple[str, float]] = deque()

    def step(self, *, hurry: bool) -> bool:
        """Whether there was something to deliver. ``hurry`` ignores the queue's delay."""
        batch = self._receive(hurry)
        if not batch:
            return False
        failed = self._deliver(batch)
        for message in batch:
            if message.id in failed:
                pause_s = HURRIED_RETRY_S * int(message.attributes["ApproximateReceiveCount"])
                self._hidden.append((message.receipt, pause_s))
            else:
                self._queue.delete(self.spec.name, message.receipt)
        return True

    def wait(self, timeout_s: float) -> None:
        """Until there may be something to do again, or ``timeout_s`` are over."""
        self._queue.wait_for_messages([self.spec.name], min(timeout_s, self._queue.look_again_s(self.spec.name)))

    def wait_for_more(self, timeout_s: float) -> None:
        """Until something was sent or came back, or ``timeout_s`` are over."""
        self._queue.wait_for_messages([self.spec.name], timeout_s)

    def counts(self) -> Counts:
        return self._queue.counts(self.spec.name)

    def settled(self, held: int) -> bool:
        """Nothing is left to deliver, except to passes that a test holds, or behind them in their FIFO group."""
        counts = self._queue.counts(self.spec.name, dead=False)
        return counts.in_flight <= held and (held > 0 or counts.visible + counts.delayed == 0)

    def _receive(self, hurry: bool) -> list[Received]:
        now = self._clock.now() + timedelta(seconds=self.spec.delay_s if hurry else 0)
        return self._queue.receive(self.spec.name, self._source.batch_size, now)

    def bring_back(self) -> None:
        """Failed messages, soon. A drain does so while no pass is at work: a message that failed because of another
        pass would otherwise use up its receives before a slow machine is done with that one."""
        with suppress(IndexError):
            while True:
                receipt, pause_s = self._hidden.popleft()
                # a drain looks ahead by the delay, and so must the pause
                self._queue.release(self.spec.name, receipt, self.spec.delay_s + pause_s)

    def _deliver(self, batch: Sequence[Received]) -> set[str]:
        """The ids of the messages that are not done with."""
        if self._delivered is not None:
            self._delivered(self.spec, batch)
        return deliver(self._invoke, self._source, self.spec, batch)


def deliver(
    invoke: Callable[[str, Any], Any], source: QueueSource, spec: QueueSpec, batch: Sequence[Received]
) -> set[str]:
    """Call the function; the ids of the messages that failed, all of them when it raised."""
    ids = [message.id for message in batch]
    try:
        answer = invoke(source.function, queue_event(spec, batch))
        return failed_items(answer, ids) if source.partial_failures else set()
    except Exception as error:
        report(f"{source.function}: a batch of {len(batch)} messages failed", error)
        return set(ids)
