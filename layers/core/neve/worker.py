"""What a function behind a FIFO queue does with its batch: each message to one use case, failures reported one by one,
and a message whose session is busy put off.

Who finds the lease of a session taken has not failed. A failure would hide the message for the queue's visibility
timeout and bring it nearer to the dead letters, so it is sent again as a new message and the received one is done with.
The new one stands behind the others of its group. That changes nothing: a message names a session, and whoever takes it
up does all that is to be done there."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from aws_lambda_powertools.utilities.batch import SqsFifoPartialProcessor, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from neve import observability
from neve.correlation import FIELD, correlated
from neve.ports import Message, Ports, QueueName
from neve.scope import SessionScope
from neve.usecases.observe.lease import LeaseHeld
from neve.usecases.observe.observe_session import SecondsLeft
from neve.usecases.observe.report import ObservationReport
from neve.usecases.tenants.policy_in_force import tenant_scope

Work = Callable[[SessionScope, dict[str, Any], SecondsLeft], ObservationReport | None]

POSTPONED_S = 2.0
"""Pause of a queue without a delay before a message is sent again. Between two passes that appends asked for lie the
5 s of the extract queue's delay (template.yaml), so that who looks this often finds the session free."""


def process_fifo(
    ports: Ports, event: Mapping[str, Any], context: Any, queue: QueueName, work: Work, pause_s: float = 0.0
) -> dict[str, Any]:
    """The partial batch answer. A failed message holds back the later ones of its group only. ``work`` raises to have
    its message delivered again, LeaseHeld to have it postponed: it is sent to ``queue``, where it came from, once more,
    ``pause_s`` later (0 when the queue has a delay of its own). A report that says ``left_off_at`` has it sent once
    more, too: the job goes on in another worker. ``context``: Lambda's, which knows how long the worker may still run;
    None: for ever."""

    def seconds_left() -> float:
        return math.inf if context is None else float(context.get_remaining_time_in_millis()) / 1000

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
        user = tenant_scope(ports, body["tenant"]).of_user(body["user"])
        try:
            report = work(user.of_session(body["session"]), body, seconds_left)
        except LeaseHeld:
            if pause_s:
                ports.clock.sleep(pause_s)
            _send_again(ports, queue, record, body)
            observability.postponed(queue, body.get(FIELD, record.message_id))
            return
        if report is None:
            return
        if report.left_off_at is not None:
            _send_again(ports, queue, record, body, f"{body['job_id']}.{report.left_off_at}")
        _tell(queue, body.get(FIELD, record.message_id), report)

    # one processor a call: it holds the state of its batch
    processor = SqsFifoPartialProcessor(skip_group_on_error=True)
    processor.raise_on_entire_batch_failure = False
    return dict(
        process_partial_response(event=dict(event), record_handler=handle, processor=processor, context=context)
    )


def _send_again(
    ports: Ports, queue: QueueName, record: SQSRecord, body: dict[str, Any], dedup_id: str | None = None
) -> None:
    """Before the received copy is acknowledged: a crash between the two leaves both, and every work may be repeated.
    Without a dedup id a fresh one is made, because the queue drops those that it has seen. Raises StoreUnavailable."""
    group = record.attributes["MessageGroupId"]
    ports.queue.send(queue, [Message(body=body, group=group, dedup_id=dedup_id or ports.ids.token())])


def _tell(queue: QueueName, correlation_id: str, report: ObservationReport) -> None:
    """Log and count what this worker could not observe."""
    unobservable, images = report.untold()
    for one in unobservable:
        observability.unobservable(queue, correlation_id, one["seq"], one["reason"])
    if images:
        observability.images_left_out(queue, correlation_id, images)
    counts = {"EventsUnobservable": len(unobservable), "ImagesLeftOut": len(images)}
    observability.measured(queue, {name: count for name, count in counts.items() if count})
