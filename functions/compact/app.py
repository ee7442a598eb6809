"""The compact queue: what callers wait for. Observe a session now, or observe it to its end and move its horizon."""

from __future__ import annotations

from typing import Any

from neve import wiring
from neve.ports.queue import QueueName
from neve.usecases.work.background.asked_for import asked_for
from neve.worker import process_fifo

wiring.prepare()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return process_fifo(wiring.ports(), event, context, QueueName.COMPACT, asked_for)
