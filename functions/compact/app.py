"""The compact queue: observe a session to its end, then move its horizon."""

from __future__ import annotations

from typing import Any

from neve import wiring
from neve.ports import QueueName
from neve.usecases.compact.compact_session import compact_session
from neve.worker import POSTPONED_S, process_fifo

wiring.prepare()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return process_fifo(wiring.ports(), event, context, QueueName.COMPACT, compact_session, POSTPONED_S)
