"""Handles the batch of a function behind a FIFO queue: each message to one use case, failures reported one by one,
and a message whose session is busy put off.

A worker that finds the lease of a session taken has not failed. A failure would hide the message for the queue's
visibility timeout and bring it nearer to the dead letters, so it is sent again as a new message and the received one is
done with. The new one stands behind the others of its group. That changes nothing: a message names a session, and the
worker that takes it up does all that is to be done there.

A queue on which messages go round for ever looks like one that works. So a message that is sent again says since when
its session has stood where it stands, and fails when that is too long ago: then its receives are counted, and it ends
as a dead letter."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from aws_lambda_powertools.utilities.batch import SqsFifoPartialProcessor, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from neve import observability
from neve.correlation import FIELD, correlated
from neve.domain.errors import TenantRemoved
from neve.domain.observe.time_limits import NO_PROGRESS_FOR, POSTPONED_S
from neve.domain.privacy.screen import metrics
from neve.domain.times import iso, parse
from neve.observing import SecondsLeft, time_left_of
from neve.ports.engines import Ports
from neve.ports.queue import QueueName
from neve.scope import SessionScope
from neve.usecases.core.jobs.again import again
from neve.usecases.core.memories.replace_rows import ReplacementBusy
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.work.observe.lease import LeaseHeld
from neve.usecases.work.observe.report import ObservationReport
from neve.workers.cut_off import telling_if_cut_off

Work = Callable[[SessionScope, dict[str, Any], SecondsLeft, ObservationReport], object]

PROGRESS = "stands"
"""The field of a message that was sent again: where its session stood, and since when."""


class NoProgress(Exception):
    """The message was sent again and again for ``NO_PROGRESS_FOR``, and its session stands where it stood."""


def process_fifo(ports: Ports, event: Mapping[str, Any], context: Any, queue: QueueName, work: Work) -> dict[str, Any]:
    """Handle a batch message by message, and give the partial batch answer. A failed message holds back the later ones
    of its group only. ``work`` raises to have its message delivered again, LeaseHeld and ReplacementBusy to have it
    postponed: it is sent to ``queue``, where it came from, once more, ``POSTPONED_S`` later. A report that says
    ``left_off_at`` has it sent once more, too: the job goes on in another worker. What else the report says is told,
    whether ``work`` raises or not. ``context``: Lambda's, which knows how long the worker may still run; None: for
    ever."""
    seconds_left = time_left_of(context)

    def handle(record: SQSRecord) -> None:
        body: dict[str, Any] = json.loads(record.body)
        with correlated(body):
            try:
                with suppress(TenantRemoved):
                    work_or_postpone(record, body)
            except Exception as error:
                observability.failed(queue, body.get(FIELD, record.message_id), error, body.get("job_id"))
                observability.emit_metrics(queue, {"PassesFailed": 1})
                raise
        observability.message_processed(queue, body.get(FIELD, record.message_id))

    def told(record: SQSRecord, body: dict[str, Any]) -> ObservationReport:
        user, report = tenant_scope(ports, body["tenant"]).of_user(body["user"]), ObservationReport()
        try:
            work(user.of_session(body["session"]), body, seconds_left, report)
        except Exception:
            report.failure = None  # the error that is raised is told instead
            raise
        finally:
            _report(queue, body.get(FIELD, record.message_id), report, body.get("job_id"))
        return report

    def work_or_postpone(record: SQSRecord, body: dict[str, Any]) -> None:
        try:
            report = told(record, body)
        except (LeaseHeld, ReplacementBusy) as held:
            progress = _note_progress(ports, body, held.place)
            ports.clock.sleep(POSTPONED_S)
            _send_again(ports, queue, record, progress)
            observability.message_postponed(queue, body.get(FIELD, record.message_id), held)
            return
        if report.left_off_at is not None:
            _send_again(ports, queue, record, _note_progress(ports, body, report.left_off_at))

    # one processor a call: it holds the state of its batch
    processor = SqsFifoPartialProcessor(skip_group_on_error=True)
    processor.raise_on_entire_batch_failure = False
    with telling_if_cut_off(ports, queue, context):
        return dict(
            process_partial_response(event=dict(event), record_handler=handle, processor=processor, context=context)
        )


def _note_progress(ports: Ports, body: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Give the body to be sent again. Raises NoProgress."""
    now, before = ports.clock.now(), body.get(PROGRESS, {})
    since = parse(before["since"]) if before.get("at") == place else now
    if now - since > NO_PROGRESS_FOR:
        raise NoProgress(place)
    return {**body, PROGRESS: {"at": place, "since": iso(since)}}


def _send_again(ports: Ports, queue: QueueName, record: SQSRecord, body: dict[str, Any]) -> None:
    """Send the message again. Its dedup id names the message that it takes the place of. Two workers of one message
    send it once; what it leads to has another id, wherever it stands: the queue drops those that it has seen. Raises
    StoreUnavailable."""
    group = record.attributes["MessageGroupId"]
    ports.queue.send(queue, [again(body, group, f"{record.message_id}.again")])


def _report(queue: QueueName, correlation_id: str, report: ObservationReport, job_id: str | None) -> None:
    """Log and count what this worker could not observe or have summarised."""
    if report.failure is not None:
        observability.failed(queue, correlation_id, report.failure, job_id)
    unobservable, images = report.unreported()
    for one in unobservable:
        observability.event_unobservable(queue, correlation_id, one["seq"], one["reason"])
    if images:
        observability.images_left_out(queue, correlation_id, images)
    if report.summary_refused:
        observability.summary_refused(queue, correlation_id)
    if report.not_reflected:
        observability.reflection_skipped(queue, correlation_id, report.not_reflected)
    if report.reflection_left_out:
        observability.reflection_left_out(queue, correlation_id, report.reflection_left_out)
    lines = report.unreported_lines()
    if lines["left_out"]:
        observability.lines_left_out(queue, correlation_id, lines["left_out"])
    if lines["not_read"]:
        observability.malformed_lines_dropped(queue, correlation_id, lines["not_read"])
    facts = report.unreported_facts()
    if facts["left_out"]:
        observability.facts_left_out(queue, correlation_id, facts["left_out"])
    if facts["not_read"]:
        observability.malformed_facts_dropped(queue, correlation_id, facts["not_read"])
    counts = {
        "PassesFailed": int(report.failure is not None),
        "PassesRefused": int(report.failure is not None),
        "EventsUnobservable": len(unobservable),
        "ImagesLeftOut": len(images),
        "SummariesRefused": int(report.summary_refused),
        "ReflectionsSkipped": int(report.not_reflected is not None),
        "ReflectionRowsLeftOut": report.reflection_left_out,
        "LinesLeftOut": lines["left_out"],
        "LinesMalformed": lines["not_read"],
        "FactsLeftOut": facts["left_out"],
        "FactsMalformed": facts["not_read"],
        "FactsInInbox": facts.get("inbox", 0),
        "FactsRejected": facts.get("rejected", 0),
        **metrics("Redacted", report.uncounted()),
    }
    observability.emit_metrics(queue, {name: count for name, count in counts.items() if count})
