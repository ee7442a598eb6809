"""Handles the batch of the functions behind the queues of lasting work: all that is kept of one user, one log, a night;
failures reported one by one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from neve import observability
from neve.correlation import FIELD
from neve.observing import SecondsLeft
from neve.ports.engines import Ports
from neve.ports.queue import QueueName
from neve.usecases.core.jobs.carry_on import carry_on
from neve.usecases.core.jobs.queued_jobs import WorkerReplaced, queue_of
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.work.background.steps import steps
from neve.usecases.work.reflect.reflect_user import NightReport
from neve.workers.cut_off import telling_if_cut_off
from neve.workers.one_by_one import process_one_by_one

METRICS = {
    "replaced": "RowsCondensed",
    "written": "RowsWritten",
    "kept": "RowsUnchanged",
    "refused": "RowsRefused",
    "changed": "RowConflicts",
    "reflection_left_out": "ReflectionRowsLeftOut",
    "reflection_cut": "ReflectionRowsTruncated",
}


def process_jobs(ports: Ports, queue: QueueName, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """Handle a batch and give the partial batch answer. ``context``: Lambda's, which knows how long the worker may
    still run; None: for ever."""
    with telling_if_cut_off(ports, queue, context):
        return process_one_by_one(event, context, queue, partial(work, ports))


def work(ports: Ports, body: Mapping[str, Any], seconds_left: SecondsLeft) -> None:
    """Do the work of one message."""
    kind, caused_by, report = body["work"], str(body.get(FIELD, "")), NightReport()
    scope = tenant_scope(ports, body["tenant"]).of_user(body["user"])
    try:
        carry_on(scope, kind, body["job_id"], steps(scope, report)[kind], seconds_left)
    except WorkerReplaced as held:
        observability.message_postponed(queue_of(kind), caused_by, held)  # another worker is at it
    finally:
        _report(queue_of(kind), caused_by, report)


def _report(queue: QueueName, caused_by: str, report: NightReport) -> None:
    """Tell of all that was not done: kept, refused and changed rows are counted, and so is a failure; what an answer
    had no room for is logged, too."""
    for count, cut in report.no_room:
        observability.reflection_left_out(queue, caused_by, count, cut)
    counts: dict[str, float] = {METRICS[name]: n for name, n in report.counts.items() if name in METRICS and n}
    counts |= {"ReflectionsFailed": 1} if report.failed else {}
    counts |= {"NightlyReflectionsCompleted": report.nights} if report.nights else {}
    if counts:
        observability.emit_metrics(queue, counts)
