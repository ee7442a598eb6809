"""Handles the batch of the function that sends events to webhooks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from neve import observability
from neve.observing import SecondsLeft
from neve.ports.engines import Ports
from neve.ports.queue import QueueName
from neve.usecases.work.outgoing.deliver import Delivered, deliver_message
from neve.workers.cut_off import telling_if_cut_off
from neve.workers.one_by_one import process_one_by_one

METRICS = {
    "attempts": "WebhookAttempts",
    "delivered": "WebhookEventsDelivered",
    "given_up": "WebhookEventsGivenUp",
    "disabled": "WebhooksDisabled",
}


def process_deliveries(ports: Ports, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """Handle a batch and give the partial batch answer. ``context``: Lambda's, which knows how long the worker may
    still run; None: for ever."""
    with telling_if_cut_off(ports, QueueName.DELIVER, context):
        return process_one_by_one(event, context, QueueName.DELIVER, partial(_work, ports))


def _work(ports: Ports, body: Mapping[str, Any], seconds_left: SecondsLeft) -> None:
    counts = Delivered()
    try:
        deliver_message(ports, body, seconds_left, counts)
    finally:
        values = {metric: float(n) for name, metric in METRICS.items() if (n := getattr(counts, name))}
        if values:
            observability.emit_metrics(QueueName.DELIVER, values)
