"""The events that AWS sends to workers: batches of a DynamoDB stream, of an SQS queue, and a schedule's tick."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from local.engine.sqlite_queue import Received
from local.engine.sqlite_table import Change
from local.template import QueueSpec, Schedule
from neve.attribute_values import typed_item
from neve.domain.times import iso
from neve.ports.table import Item

REGION = "local"
ACCOUNT = "000000000000"
STREAM_ARN = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/neve/stream/local"
SHARD = "shardId-local"
SCHEDULED_TIME = "<aws.scheduler.scheduled-time>"


class BadAnswer(Exception):
    """A worker named something in ``batchItemFailures`` that was not in its batch: AWS repeats the whole batch."""


def stream_event(changes: Sequence[Change]) -> dict[str, Any]:
    """A batch with NEW_AND_OLD_IMAGES and typed attribute values."""
    return {"Records": [_stream_record(change, change.old, change.new) for change in changes]}


def outline(change: Change, attributes: Collection[str]) -> dict[str, Any]:
    """The record of a change, with no more of the row than these attributes."""

    def part_of(row: Item | None) -> Item | None:
        return None if row is None else {name: row[name] for name in attributes if name in row}

    return _stream_record(change, part_of(change.old), part_of(change.new))


def sequence_number(change: Change) -> str:
    return f"{change.seq:021d}"


def queue_event(spec: QueueSpec, messages: Sequence[Received]) -> dict[str, Any]:
    arn = f"arn:aws:sqs:{REGION}:{ACCOUNT}:neve-{spec.name}{'.fifo' if spec.fifo else ''}"
    return {"Records": [_queue_record(arn, message) for message in messages]}


def schedule_event(schedule: Schedule, at: datetime) -> Any:
    """The schedule's input with the scheduled time filled in."""
    return json.loads(schedule.input.replace(SCHEDULED_TIME, iso(at)))


def failed_items(answer: Any, sent: Sequence[str]) -> set[str]:
    """The identifiers that a worker reported as failed. Raises BadAnswer."""
    failures = (answer or {}).get("batchItemFailures") or []
    failed = {failure.get("itemIdentifier") for failure in failures}
    if not failed <= set(sent):
        raise BadAnswer(f"unknown items in batchItemFailures: {sorted(map(str, failed - set(sent)))}")
    return failed


def given_up_message(function: str, changes: Sequence[Change], attempts: int) -> dict[str, Any]:
    """What the failure destination of a stream is told: where the records are, not what they hold."""
    now = time.time()
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    return {
        "requestContext": {
            "functionArn": f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{function}",
            "condition": "RetryAttemptsExhausted",
            "approximateInvokeCount": attempts,
        },
        "version": "1.0",
        "timestamp": at,
        "DDBStreamBatchInfo": {
            "shardId": SHARD,
            "startSequenceNumber": sequence_number(changes[0]),
            "endSequenceNumber": sequence_number(changes[-1]),
            "batchSize": len(changes),
            "streamArn": STREAM_ARN,
        },
    }


def _image(item: Mapping[str, Any]) -> dict[str, Any]:
    """A row as an event writes it: as the table does, but with bytes in base64."""
    return typed_item(item, _base64)


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _stream_record(change: Change, old: Item | None, new: Item | None) -> dict[str, Any]:
    """``old``, ``new``: what is shown of the row before and after."""
    number = sequence_number(change)
    images: dict[str, Item] = {}
    if new is not None:
        images["NewImage"] = _image(new)
    if old is not None:
        images["OldImage"] = _image(old)
    return {
        "eventID": hashlib.md5(number.encode(), usedforsecurity=False).hexdigest(),
        "eventName": "INSERT" if change.old is None else "REMOVE" if change.new is None else "MODIFY",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": REGION,
        "dynamodb": {
            "ApproximateCreationDateTime": int(time.time()),
            "Keys": _image(change.key._asdict()),
            **images,
            "SequenceNumber": number,
            "SizeBytes": 0,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        },
        "eventSourceARN": STREAM_ARN,
    }


def _queue_record(arn: str, message: Received) -> dict[str, Any]:
    return {
        "messageId": message.id,
        "receiptHandle": message.receipt,
        "body": message.body,
        "attributes": {**message.attributes, "SenderId": ACCOUNT},
        "messageAttributes": {},
        "md5OfBody": hashlib.md5(message.body.encode(), usedforsecurity=False).hexdigest(),
        "eventSource": "aws:sqs",
        "eventSourceARN": arn,
        "awsRegion": REGION,
    }
