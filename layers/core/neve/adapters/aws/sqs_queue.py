"""The Queue port on Amazon SQS."""

from __future__ import annotations

import hashlib
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

from neve.adapters.aws.errors import translated
from neve.adapters.queue_rules import encoded_body
from neve.ports.errors import StoreUnavailable
from neve.ports.queue import Message, QueueName

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient
    from types_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef, SendMessageBatchResultTypeDef

MAX_BATCH = 10
MAX_BATCH_BYTES = 256 * 1024
"""SQS takes 1 MiB a batch since August 2025, other servers 256 KiB. It costs nothing to stay below: SQS bills by
64 KiB."""
ATTEMPTS = 3
MAX_PAUSE_S = (0.1, 0.4)
"""Seconds before the second and the third attempt: drawn between 0 and this, so that senders that were refused together
do not come back together."""
GOOD_ID = re.compile(r"[!-~]{1,128}")
"""Letters, digits and punctuation of ASCII: what SQS takes as a group or deduplication id."""


class SqsQueue:
    """The Queue port on Amazon SQS. ``urls`` by queue; a queue is FIFO iff its URL ends in ``.fifo``. Needs
    ``sqs:SendMessage``. ``pause`` waits so many seconds between two attempts."""

    def __init__(
        self, client: SQSClient, urls: Mapping[QueueName, str], pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._client = client
        self._urls = dict(urls)
        self._pause = pause

    def send(self, queue: QueueName, messages: Sequence[Message]) -> None:
        """See ``ports.Queue``. On a FIFO queue the messages of a group arrive in their order also when some have to be
        sent again, and a ``dedup_id`` that was sent less than 5 minutes ago is dropped; None is never dropped. Raises
        ValueError, before anything is sent, for a queue without a URL and for a malformed message."""
        url = self._urls.get(queue)
        if url is None:
            raise ValueError(f"no queue is named {queue}")
        fifo = url.endswith(".fifo")
        for batch in _batches([_entry(message, fifo) for message in messages], fifo):
            self._send(url, batch)

    def _send(self, url: str, batch: Sequence[SendMessageBatchRequestEntryTypeDef]) -> None:
        """Send a batch until every message of it is sent; one that was has its id among those of the answer."""
        waiting = list(batch)
        for attempt in range(ATTEMPTS):
            if attempt:
                self._pause(random.uniform(0, MAX_PAUSE_S[attempt - 1]))
            with translated("queue"):
                answer = self._client.send_message_batch(QueueUrl=url, Entries=waiting)
            sent = {entry["Id"] for entry in answer.get("Successful", [])}
            waiting = [entry for entry in waiting if entry["Id"] not in sent]
            if not waiting:
                return
            if any(failure["SenderFault"] for failure in answer.get("Failed", [])):
                break
        raise StoreUnavailable(
            "queue", f"{len(waiting)} of {len(batch)} messages were refused ({_codes(answer)}), the others were sent"
        )


def _entry(message: Message, fifo: bool) -> SendMessageBatchRequestEntryTypeDef:
    """Make the entry of a message, without its ``Id``. The deduplication id is drawn once, so that a message that is
    sent again is not two."""
    entry: SendMessageBatchRequestEntryTypeDef = {
        "Id": "",
        "MessageBody": encoded_body(message),
        "MessageGroupId": _good_id(message.group),
    }
    if fifo:
        entry["MessageDeduplicationId"] = uuid4().hex if message.dedup_id is None else _good_id(message.dedup_id)
    return entry


def _good_id(given: str) -> str:
    """Give ``given`` itself, or its hash where SQS would refuse it: ids of tenant, user and session together may be
    longer than 128 characters."""
    return given if GOOD_ID.fullmatch(given) else hashlib.sha256(given.encode()).hexdigest()


def _batches(
    entries: Sequence[SendMessageBatchRequestEntryTypeDef], fifo: bool
) -> Iterator[list[SendMessageBatchRequestEntryTypeDef]]:
    """Split the entries into batches, in order. A batch of a FIFO queue holds a group once: were the first of two
    messages refused and sent again, it would arrive behind the second."""
    batch: list[SendMessageBatchRequestEntryTypeDef] = []
    size = 0
    groups: set[str] = set()
    for entry in entries:
        group, length = entry["MessageGroupId"], len(entry["MessageBody"].encode())
        full = len(batch) == MAX_BATCH or size + length > MAX_BATCH_BYTES
        if batch and (full or (fifo and group in groups)):
            yield batch
            batch, size, groups = [], 0, set()
        batch.append({**entry, "Id": str(len(batch))})
        size += length
        groups.add(group)
    if batch:
        yield batch


def _codes(answer: SendMessageBatchResultTypeDef) -> str:
    return ", ".join(sorted({failure["Code"] for failure in answer.get("Failed", [])})) or "not mentioned"
