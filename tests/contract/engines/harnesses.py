"""What the suites of the Queue and ObjectStore ports work on: the port, and what happens to it from outside."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol, cast

from local.broker import Received
from local.limits.lineage import HEADER
from neve.ports.objects import ObjectStore
from neve.ports.queue import Queue, QueueName

# --- queue --------------------------------------------------------------------------------------

VISIBILITY_S = 600
SHORT_VISIBILITY_S = 2
DELAY_S = 4
MAX_RECEIVES = 2
STANDARD, DELAYED_FIFO, FIFO = QueueName.EMBED, QueueName.EXTRACT, QueueName.COMPACT
"""What the suite makes of the three queues. No message comes back because a machine is slow."""
SHORT, SHORT_FIFO = cast("QueueName", "short"), cast("QueueName", "short-fifo")
"""Two more, for tests that wait until a message comes back, also where the clock is the real one."""
KINDS = (
    *((STANDARD, False, 0, VISIBILITY_S), (DELAYED_FIFO, True, DELAY_S, VISIBILITY_S), (FIFO, True, 0, VISIBILITY_S)),
    *((SHORT, False, 0, SHORT_VISIBILITY_S), (SHORT_FIFO, True, 0, SHORT_VISIBILITY_S)),
)
"""Name, whether it is a FIFO queue, delay and visibility in seconds."""


@dataclass(frozen=True)
class Delivery:
    """``source``: the queue that a dead letter comes from. ``trace``: the chain that it was sent in."""

    receipt: str
    body: dict[str, Any]
    receives: int
    sent_ms: int
    group: str
    source: str | None
    trace: str | None


class QueueHarness(Protocol):
    """A queue with the consumer's side, which production leaves to the event source mapping."""

    @property
    def queue(self) -> Queue: ...

    def receive(self, name: QueueName, limit: int = 10) -> list[Delivery]: ...

    def delete(self, name: QueueName, receipt: str) -> None: ...

    def release(self, name: QueueName, receipt: str, delay_s: int) -> None: ...

    def dead_letters(self, name: QueueName) -> list[Delivery]: ...

    def pass_time(self, seconds: float) -> None: ...


def delivery_of(found: Received) -> Delivery:
    given = found.attributes
    return Delivery(
        receipt=found.receipt,
        body=json.loads(found.body),
        receives=int(given["ApproximateReceiveCount"]),
        sent_ms=int(given["SentTimestamp"]),
        group=given["MessageGroupId"],
        source=given.get("DeadLetterQueueSourceArn"),
        trace=given.get(HEADER),
    )


# --- objects ------------------------------------------------------------------------------------


class ObjectsHarness(Protocol):
    """A store with what happens to it from outside."""

    @property
    def store(self) -> ObjectStore: ...

    def content_type(self, key: str) -> str | None: ...

    def upload(self, url: str, content_type: str, body: bytes, *, if_none_match: str = "*") -> bool:
        """One HTTP PUT to a pre-signed URL; False when it was refused."""

    def download(self, url: str) -> bytes | None:
        """One HTTP GET of a pre-signed URL; None when it was refused, or nothing is there."""

    def pass_time(self, seconds: float) -> None: ...
