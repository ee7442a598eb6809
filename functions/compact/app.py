"""The compact queue: observe a session to its end, then move its horizon."""

from __future__ import annotations

from typing import Any

from neve.usecases.compact_session import compact_session
from neve.worker import process_fifo


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return process_fifo(event, context, "compact", compact_session)
