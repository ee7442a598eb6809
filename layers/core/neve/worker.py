"""What a function behind a FIFO queue does with its batch: each message to one use case, failures reported one by one,
and a message whose session is busy put off.

Who finds the lease of a session taken has not failed. A failure would hide the message for the queue's visibility
timeout and bring it nearer to the dead letters, so it is sent again as a new message and the received one is done with.
The new one stands behind the others of its group. That changes nothing: a message names a session, and whoever takes it
up does all that is to be done there."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from aws_lambda_powertools.utilities.batch import SqsFifoPartialProcessor, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from neve import observability, wiring
from neve.correlation import FIELD, correlated
from neve.http.tenancy import policies
from neve.ports import Message, QueueName
from neve.usecases.observe.lease import LeaseHeld
from neve.wiring import Ports, Tenant

Work = Callable[[Ports, Tenant, dict[str, Any]], None]
Pause = Callable[[float], None]

POSTPONED_S = 2.0
"""Pause of a queue without a delay before a message is sent again. Between two passes that appends asked for lie the
5 s of the extract queue's delay (template.yaml), so that who looks this often finds the session free."""


def process_fifo(
    event: Mapping[str, Any], context: Any, queue: str, work: Work, pause: Pause | None = None
) -> dict[str, Any]:
    """The partial batch answer. A failed message holds back the later ones of its group only. ``work`` raises to have
    its message delivered again, LeaseHeld to have it postponed: it is sent to ``queue``, where it came from, once more.
    ``pause`` (seconds) waits before that; None when the queue has a delay of its own."""

    def handle(record: SQSRecord) -> None:
        body: dict[str, Any] = json.loads(record.body)
        with correlated(body):
            try:
                work_or_postpone(record, body)
            except Exception as error:
                observability.failed(queue, body.get(FIELD, record.message_id), error)
                observability.measured(queue, {"PassesFailed": 1})
                raise
        observability.worked(queue, body.get(FIELD, record.message_id))

    def work_or_postpone(record: SQSRecord, body: dict[str, Any]) -> None:
        ports = wiring.ports()
        try:
            work(ports, policies.tenant(ports, body["tenant"], without_store=False), body)
        except LeaseHeld:
            if pause is not None:
                pause(POSTPONED_S)
            _send_again(ports, QueueName(queue), record, body)

    # one processor a call: it holds the state of its batch
    processor = SqsFifoPartialProcessor(skip_group_on_error=True)
    processor.raise_on_entire_batch_failure = False
    return dict(
        process_partial_response(event=dict(event), record_handler=handle, processor=processor, context=context)
    )


def _send_again(ports: Ports, queue: QueueName, record: SQSRecord, body: dict[str, Any]) -> None:
    """Before the received copy is acknowledged: a crash between the two leaves both, and every work may be repeated.
    The dedup id is a fresh one, because the queue drops those that it has seen. Raises StoreUnavailable."""
    again = Message(body=body, group=record.attributes["MessageGroupId"], dedup_id=ports.ids.token())
    ports.queue.send(queue, [again])
    observability.postponed(queue, body.get(FIELD, record.message_id))
