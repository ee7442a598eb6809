"""The extract queue: observe what is new in a session, then reflect if it has grown enough."""

from __future__ import annotations

from typing import Any

from neve import wiring
from neve.ports.queue import QueueName
from neve.usecases.work.observe.extract_session import extract_session
from neve.worker import process_fifo

wiring.prepare()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return process_fifo(wiring.ports(), event, context, QueueName.EXTRACT, extract_session)
