"""The consumer's side of a queue, as the worker loops need it: what Lambda's event source mapping does on AWS."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol


@dataclass(frozen=True, slots=True)
class Received:
    """A delivery. ``attributes`` are named and typed as SQS does it: ApproximateReceiveCount, SentTimestamp and
    ApproximateFirstReceiveTimestamp (milliseconds), MessageGroupId; on a FIFO queue SequenceNumber and
    MessageDeduplicationId; on a dead-letter queue DeadLetterQueueSourceArn, here the name of the source queue."""

    id: str
    receipt: str
    body: str
    attributes: Mapping[str, str]


class Counts(NamedTuple):
    """``dlq`` counts the messages of the dead-letter queue in whatever state."""

    visible: int
    in_flight: int
    delayed: int
    dlq: int


class Broker(Protocol):
    """Queues by name. Every method raises ValueError for a name that it does not know, and StoreUnavailable.

    It does not list what is in flight, because a message server cannot. An engine that can, the embedded one, gives
    what a dead process was working on back at the next start (``take_over``); on any other it comes back by itself when
    its visibility timeout is over."""

    def receive(self, queue: str, limit: int, now: datetime) -> list[Received]:
        """At most ``limit`` messages, oldest first, which stay in flight for the queue's visibility timeout. Never
        waits for one. ``now`` is the consumer's time, which may run ahead of the queue's delay; a server goes by its
        own clock instead."""

    def delete(self, queue: str, receipt: str) -> bool:
        """The message has been handled. False, and nothing done, unless ``receipt`` is that of its last delivery."""

    def release(self, queue: str, receipt: str, delay_s: float) -> bool:
        """Deliver the message again ``delay_s`` from now, or up to a second later. False, and nothing done, unless
        ``receipt`` is that of its last delivery."""

    def counts(self, queue: str, *, dead: bool = True) -> Counts:
        """``dead`` False: nobody asks for its dead letters, and 0 is said of them."""

    def look_again_s(self, queue: str) -> float:
        """How often to look for messages that become visible because time passes; infinity when that is not known of
        any."""

    def wait_for_messages(self, queues: Collection[str], timeout_s: float) -> bool:
        """Until one of ``queues`` may have something that the last empty ``receive`` did not see; False when the time
        is over or the broker was closed."""
