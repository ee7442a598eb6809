"""Handles the batch of every function whose messages are work of their own: one after the other, failures reported one
by one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from neve import observability
from neve.correlation import FIELD, correlated
from neve.domain.errors import NeveError, TenantRemoved
from neve.domain.jobs.time_limits import DELIVERIES
from neve.observing import SecondsLeft, time_of
from neve.ports.errors import StoreUnavailable
from neve.ports.queue import QueueName

GivenUp = Callable[[dict[str, Any], Exception], None]
Work = Callable[[dict[str, Any], SecondsLeft], None]
"""A message's body, which says what it was caused by, and how long the worker may still run."""


def process_one_by_one(
    event: Mapping[str, Any],
    context: Any,
    queue: QueueName,
    work: Work,
    failures: str | None = None,
    given_up: GivenUp | None = None,
) -> dict[str, Any]:
    """Handle a batch message by message, and give the partial batch answer. ``work`` raises to have its message
    delivered again, unless it is that of a tenant who was removed. ``context``: Lambda's, which knows how long the
    worker may still run; None: for ever. ``failures``: the metric that counts them beside the queue's. ``given_up`` is
    told of a message whose last delivery has failed."""
    seconds_left = time_of(context)
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
                if given_up is not None and _is_last(record):
                    with suppress(NeveError, StoreUnavailable):
                        given_up(body, error)
                failed.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failed}


def _is_last(record: Mapping[str, Any]) -> bool:
    return int(record["attributes"].get("ApproximateReceiveCount", 1)) >= DELIVERIES
