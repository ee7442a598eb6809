"""Handles the batch of a function behind a standard queue: all messages together to one use case, failures reported
one by one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from neve import observability
from neve.correlation import FIELD
from neve.observing import SecondsLeft, time_left_of
from neve.ports.queue import QueueName
from neve.usecases.work.indexing.by_kind import Failures, IndexMessage

Work = Callable[[Sequence[IndexMessage]], Failures]
TimedWork = Callable[[Sequence[IndexMessage], SecondsLeft], Failures]


def process_in_time(event: Mapping[str, Any], context: Any, queue: QueueName, work: TimedWork) -> dict[str, Any]:
    """Do as ``process_together`` for a work that ends before its worker does. ``context``: Lambda's, which knows how
    long it may still run; None: for ever."""
    return process_together(event, queue, lambda received: work(received, time_left_of(context)))


def process_together(event: Mapping[str, Any], queue: QueueName, work: Work) -> dict[str, Any]:
    """Handle all messages of a batch together and give the partial batch answer: the messages that failed are named, to
    be delivered again."""
    records = event["Records"]
    received = [IndexMessage(json.loads(record["body"]), _again(record)) for record in records]
    failures = work(received)
    for position, (record, one) in enumerate(zip(records, received, strict=True)):
        caused_by = one.body.get(FIELD, record["messageId"])
        if position in failures:
            observability.failed(queue, caused_by, failures[position])
        else:
            observability.message_processed(queue, caused_by)
    return {"batchItemFailures": [{"itemIdentifier": records[position]["messageId"]} for position in sorted(failures)]}


def _again(record: Mapping[str, Any]) -> bool:
    return int(record["attributes"]["ApproximateReceiveCount"]) > 1
