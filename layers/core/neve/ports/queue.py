"""The queues, and what travels in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol


class QueueName(StrEnum):
    INDEX = "index"
    EMBED = "embed"
    EXTRACT = "extract"
    COMPACT = "compact"
    REFLECT = "reflect"
    LIBRARIAN = "librarian"
    JOBS = "jobs"
    DELIVER = "deliver"
    DELIVER_DEAD = "deliver-dlq"
    """Where a worker puts what it gives up itself; all others get there by their receives."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message to send. ``group``: FIFO group, or fairness group on a standard queue. ``dedup_id``: FIFO only (5
    minutes)."""

    body: dict[str, Any]
    group: str
    dedup_id: str | None = None


class Queue(Protocol):
    def send(self, queue: QueueName, messages: Sequence[Message]) -> None:
        """Send messages, durable once it returns; raises StoreUnavailable, in which case some may have been sent."""
