"""The deliver queue: send webhooks the events that wait for them."""

from __future__ import annotations

from typing import Any

from neve import wiring
from neve.workers.deliveries import process_deliveries

wiring.prepare()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return process_deliveries(wiring.ports(), event, context)
