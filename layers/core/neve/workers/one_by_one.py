"""Handles the batch of every function whose messages are work of their own: one after the other, failures reported one
by one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from neve import observability
from neve.correlation import FIELD, correlated
from neve.domain.errors import TenantRemoved
from neve.observing import SecondsLeft, time_left_of
from neve.ports.queue import QueueName

Work = Callable[[dict[str, Any], SecondsLeft], None]
"""A message's body, which says what it was caused by, and how long the worker may still run."""


def process_one_by_one(
    event: Mapping[str, Any],
    context: Any,
    queue: QueueName,
    work: Work,
    failures: str | None = None,
) -> dict[str, Any]:
    """Handle a batch message by message, and give the partial batch answer. ``work`` raises to have its message
    delivered again, unless it is that of a tenant who was removed. ``context``: Lambda's, which knows how long the
    worker may still run; None: for ever. ``failures``: the metric that counts them beside the queue's."""
    seconds_left = time_left_of(context)
    failed = []
    for record in event["Records"]:
        body: dict[str, Any] = json.loads(record["body"])
        caused_by = body.setdefault(FIELD, record["messageId"])
        with correlated(body):
            try:
                with suppress(TenantRemoved):
                    work(body, seconds_left)
                observability.message_processed(queue, caused_by)
            except Exception as error:
                observability.failed(queue, caused_by, error)
                if failures:
                    observability.emit_metrics(queue, {failures: 1})
                failed.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failed}
