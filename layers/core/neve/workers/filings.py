"""Handles the batch of the function behind the librarian queue: one session a message, failures reported one by
one, and a message whose work is not done sent again."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from neve import observability
from neve.correlation import FIELD
from neve.domain.privacy.screen import metrics
from neve.observing import SecondsLeft
from neve.ports.engines import Ports
from neve.ports.queue import QueueName
from neve.usecases.core.jobs.again import again
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.work.librarian.file_session import FilingReport, file_session
from neve.workers.cut_off import telling_if_cut_off
from neve.workers.one_by_one import process_one_by_one

QUEUE = QueueName.LIBRARIAN


def process_filings(ports: Ports, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """Handle a batch and give the partial batch answer. ``context``: Lambda's, which knows how long the worker may
    still run; None: for ever."""
    with telling_if_cut_off(ports, QUEUE, context):
        return process_one_by_one(event, context, QUEUE, partial(_work, ports), failures="FilingsFailed")


def _work(ports: Ports, body: dict[str, Any], seconds_left: SecondsLeft) -> None:
    session = tenant_scope(ports, body["tenant"]).of_user(body["user"]).of_session(body["session"])
    report = file_session(session, body, seconds_left)
    if report is None:
        return
    _report(report, body[FIELD])
    if report.left_off:
        ports.queue.send(QUEUE, [again(body)])


def _report(report: FilingReport, caused_by: str) -> None:
    """Tell of all that was not applied, or not shown."""
    if report.rejected:
        observability.librarian_actions_rejected(QUEUE, caused_by, report.rejected)
    if report.documents_not_shown:
        observability.documents_not_shown(QUEUE, caused_by, report.documents_not_shown)
    counts = {
        "DocumentsWritten": len(report.result.get("documents", ())),
        "ProposalsCreated": len(report.result.get("inbox", ())),
        "ActionsRejected": sum(report.rejected.values()),
        "FilingConflicts": report.raced,
        "DocumentsNotShown": report.documents_not_shown,
        "FilingsFailed": int(report.failed),
        **metrics("Redacted", report.redacted),
    }
    observability.emit_metrics(QUEUE, {name: count for name, count in counts.items() if count})
