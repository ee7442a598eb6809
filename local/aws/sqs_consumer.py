"""Receiving from SQS on one machine: what Lambda's event source mapping does on AWS.

Queues are asked again and again, there is no long poll: a poll that is left behind by a worker that pauses would take a
message and keep it from everybody until its visibility timeout."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from local.aws.queues_at_rest import QueuesAtRest
from local.broker import Counts, Received
from local.limits.lineage import HEADER, trace_header
from local.template import QueueSpec
from neve.adapters.aws.errors import translated
from neve.adapters.aws.sqs_queue import SqsQueue
from neve.ports.errors import StoreUnavailable
from neve.ports.queue import Message, QueueName

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient
    from types_boto3_sqs.literals import QueueAttributeNameType
    from types_boto3_sqs.type_defs import MessageTypeDef

RECEIVE_BATCH_SIZE = 10
"""Messages that SQS gives in one answer."""
LOOK_S = 3.0
"""How often a consumer looks for messages that another process sent, or that come back because their visibility timeout
is over; those that this process sends wake it at once."""
DELAYED_LOOK_S = 0.5
"""And for those of this process that the queue's delay still hides."""
JUST_LOOKED_S = 0.05
"""A queue that was empty so shortly ago, and that nothing was sent to since, is not asked by the next consumer too.
Where nobody else sends, nor anything is about to come back, that holds for ``LOOK_S``."""
STATES: Sequence[QueueAttributeNameType] = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)
"""Visible, in flight, delayed. Approximate on AWS, exact on the local server."""


class SqsBroker:
    """``local.broker.Broker`` and ``ports.Queue``: what is sent through it wakes the consumers. ``specs``
    describe the queues as they were made, ``urls`` say where they are; both by name, dead-letter queues included."""

    def __init__(
        self, client: SQSClient, specs: Mapping[str, QueueSpec], urls: Mapping[str, str], *, alone: bool = False
    ) -> None:
        """``alone``: nobody else sends to these queues or receives from them, so they are asked less."""
        self._client = client
        self._alone = alone
        self._at_rest = QueuesAtRest(specs, alone=alone)
        self._specs = dict(specs)
        self._urls = dict(urls)
        self._queue = SqsQueue(client, {cast("QueueName", name): url for name, url in urls.items()})
        self._moved = threading.Condition()
        self._moves = dict.fromkeys(urls, 1)
        self._looked = dict.fromkeys(urls, 0)
        self._moved_at = dict.fromkeys(urls, -math.inf)
        self._looked_at = dict.fromkeys(urls, -math.inf)
        self._back_by = dict.fromkeys(urls, -math.inf)
        self._receiving = {name: threading.Lock() for name in urls}
        self._closed = False
        client.meta.events.register("provide-client-params.sqs.SendMessageBatch", cast("Any", _with_trace))

    def send(self, queue: QueueName, messages: Sequence[Message]) -> None:
        """See ``neve.adapters.aws.sqs_queue``."""
        self._open()
        self._at_rest.sending(queue, len(messages))
        try:
            with self._at_rest.in_doubt(queue):
                self._queue.send(queue, messages)
        finally:
            self._announce(queue, self._specs[queue].delay_s)

    def receive(self, queue: str, limit: int, now: datetime) -> list[Received]:  # noqa: ARG002  (the server's clock)
        """As many answers of SQS as ``limit`` takes. Those that came before one failed are delivered."""
        url = self._url(queue)
        with self._receiving[queue]:
            return self._look(queue, url, limit)

    def _look(self, queue: str, url: str, limit: int) -> list[Received]:
        with self._moved:
            moves, began = self._moves[queue], time.monotonic()
            holds_s = LOOK_S if self._alone and began > self._back_by[queue] else JUST_LOOKED_S
            if moves == self._looked[queue] and began - self._looked_at[queue] < holds_s:
                return []
        batch = self._take(queue, url, limit)
        if not batch:
            with self._moved:
                self._looked[queue] = max(self._looked[queue], moves)
                self._looked_at[queue] = began
        return batch

    def _take(self, queue: str, url: str, limit: int) -> list[Received]:
        batch: list[Received] = []
        while len(batch) < limit and not self._at_rest.nothing_waits(queue):
            try:
                with self._at_rest.in_doubt(queue):
                    found = [*map(_received, self._receive(url, min(limit - len(batch), RECEIVE_BATCH_SIZE)))]
            except StoreUnavailable:
                if not batch:
                    raise
                break
            if not found:
                break
            self._at_rest.received(queue, found)
            batch += found
        return batch

    def delete(self, queue: str, receipt: str) -> bool:
        """The group of a FIFO queue may go on now."""
        url = self._url(queue)
        deleted = True
        with self._at_rest.in_doubt(queue), translated("queue"):
            try:
                self._client.delete_message(QueueUrl=url, ReceiptHandle=receipt)
            except self._client.exceptions.ReceiptHandleIsInvalid:
                deleted = False
        self._at_rest.deleted(queue, receipt)
        if self._specs[queue].fifo:
            self._announce(queue)
        return deleted

    def release(self, queue: str, receipt: str, delay_s: float) -> bool:
        """SQS counts whole seconds: rounded up."""
        url = self._url(queue)
        gone = (self._client.exceptions.ReceiptHandleIsInvalid, self._client.exceptions.MessageNotInflight)
        released = True
        with self._at_rest.in_doubt(queue), translated("queue"):
            try:
                self._client.change_message_visibility(
                    QueueUrl=url, ReceiptHandle=receipt, VisibilityTimeout=math.ceil(delay_s)
                )
            except gone:
                released = False
        if released:
            self._at_rest.released(queue, receipt)
        self._announce(queue, math.ceil(delay_s))
        return released

    def counts(self, queue: str, *, dead: bool = True) -> Counts:
        url = self._url(queue)
        known = self._at_rest.counts(queue)
        if known is None:
            moment = self._at_rest.moment(queue)
            known = self._states(url)
            if time.monotonic() > self._back_by[queue]:
                self._at_rest.keep(queue, known, moment)
        visible, in_flight, delayed = known
        dead_letters = self._specs[queue].dead_letters if dead else None
        return Counts(visible, in_flight, delayed, self._dead(queue, dead_letters) if dead_letters else 0)

    def wait_for_messages(self, queues: Collection[str], timeout_s: float) -> bool:
        """See ``Broker``. True also after ``LOOK_S``: another process may have sent something."""
        with self._moved:
            self._moved.wait_for(lambda: self._closed or self._has_moved(queues), min(timeout_s, LOOK_S))
            return not self._closed and (timeout_s > LOOK_S or self._has_moved(queues))

    def look_again_s(self, queue: str) -> float:
        """See ``Broker``. What waits is not counted for it: that would be a request for every look."""
        with self._moved:
            behind_a_send = time.monotonic() - self._moved_at[queue] <= self._specs[queue].delay_s + DELAYED_LOOK_S
        return DELAYED_LOOK_S if behind_a_send and self._specs[queue].delay_s else math.inf

    def close(self) -> None:
        """Wakes everybody who waits; every later call raises StoreUnavailable. The client stays open: it is the
        caller's."""
        with self._moved:
            self._closed = True
            self._moved.notify_all()

    def _receive(self, url: str, limit: int) -> Sequence[MessageTypeDef]:
        with translated("queue"):
            answer = self._client.receive_message(
                QueueUrl=url, MaxNumberOfMessages=limit, MessageSystemAttributeNames=["All"], WaitTimeSeconds=0
            )
        return answer.get("Messages", [])

    def _dead(self, queue: str, letters: str) -> int:
        """How many there are in whatever state."""
        known = self._at_rest.dead(letters, queue)
        if known is None:
            moment = self._at_rest.moment(letters, queue)
            known = sum(self._states(self._url(letters)))
            self._at_rest.keep_dead(letters, known, moment)
        return known

    def _states(self, url: str) -> Sequence[int]:
        """What the server says. A message that is about to come back may be missed by one that counts what is hidden
        and what is not one after the other."""
        with translated("queue"):
            found = self._client.get_queue_attributes(QueueUrl=url, AttributeNames=STATES)["Attributes"]
        return [int(found[state]) for state in STATES]

    def _url(self, queue: str) -> str:
        self._open()
        url = self._urls.get(queue)
        if url is None:
            raise ValueError(f"no queue is named {queue}")
        return url

    def _open(self) -> None:
        if self._closed:
            raise StoreUnavailable("queue", "closed")

    def _announce(self, queue: str, back_in_s: float = 0.0) -> None:
        with self._moved:
            self._moves[queue] += 1
            self._moved_at[queue] = time.monotonic()
            if back_in_s:
                self._back_by[queue] = max(self._back_by[queue], self._moved_at[queue] + back_in_s + DELAYED_LOOK_S)
            self._moved.notify_all()

    def _has_moved(self, queues: Collection[str]) -> bool:
        return any(self._moves[queue] > self._looked[queue] for queue in queues)


def _with_trace(params: dict[str, Any], **_: Any) -> dict[str, Any]:
    """As the AWS SDK does inside Lambda: what a function sends carries on where it comes from."""
    trace = trace_header()
    if trace is None:
        return params
    attribute = {HEADER: {"DataType": "String", "StringValue": trace}}
    return params | {"Entries": [entry | {"MessageSystemAttributes": attribute} for entry in params["Entries"]]}


def _received(message: MessageTypeDef) -> Received:
    attributes = {str(name): value for name, value in message["Attributes"].items()}
    if source := attributes.get("DeadLetterQueueSourceArn"):
        attributes["DeadLetterQueueSourceArn"] = source.rpartition(":")[2].removesuffix(".fifo")
    return Received(message["MessageId"], message["ReceiptHandle"], message["Body"], attributes)
