"""Structured logs and metrics: one JSON object a line, never a body, a text, a query or a key.

Metrics go out in CloudWatch's embedded metric format, in the namespace ``Neve`` with the dimensions ``Stage`` and
``Function``: a tenant is never a dimension. ``POWERTOOLS_METRICS_DISABLED=true`` leaves them out."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from aws_lambda_powertools.logging import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from neve.config import stage_of
from neve.troubles import Trouble

NAMESPACE = "Neve"

logger = Logger(service="neve", utc=True, log_record_order=["level", "message", "timestamp"])
"""``POWERTOOLS_LOG_LEVEL`` sets the level. Fields are passed with each line, because one process may serve many
calls."""

logging.getLogger().setLevel(logging.WARNING)  # of packages: where Lambda writes JSON it would have them from INFO on


def log_to_stderr() -> None:
    """Log to stderr from now on. Lambda takes both streams alike; in a process that a person started, stdout is for
    what they asked for."""
    for handler in logger.handlers:
        if isinstance(handler, logging.StreamHandler):
            handler.setStream(sys.stderr)


def log_from(level: str) -> None:
    """Log no line below ``level`` from now on, unless ``POWERTOOLS_LOG_LEVEL`` says another. The logger reads that
    variable when this module is imported: to set it later changes nothing."""
    logger.setLevel(os.environ.get("POWERTOOLS_LOG_LEVEL", level))


def request_completed(
    operation: str, request_id: str, status: int, code: str | None, elapsed_ms: float, degraded: str = ""
) -> None:
    """Log one line a call. ``degraded``: what its answer lacks, as its header says it."""
    fields = {"operation": operation, "correlation_id": request_id, "status": status, "elapsed_ms": elapsed_ms}
    told = {"code": code, "degraded": degraded}
    logger.info("request completed", extra=fields | {name: value for name, value in told.items() if value})


def message_processed(queue: str, correlation_id: str) -> None:
    """Log that a message has been handled."""
    logger.info("message processed", extra={"component": queue, "correlation_id": correlation_id})


def message_postponed(queue: str, correlation_id: str, held: Exception) -> None:
    """Log that a message has been sent to its queue again because its session or its user is ``held`` by another
    worker."""
    fields = {"component": queue, "correlation_id": correlation_id, "blocked_by": type(held).__name__}
    logger.info("message postponed", extra=fields)


def job_sent_again(where: str, kind: str, job_id: str, since: str) -> None:
    """Log that a job that was asked for at ``since`` has not ended, and may never have come to its queue."""
    logger.warning("job sent again", extra={"component": where, "kind": kind, "job_id": job_id, "since": since})


def event_unobservable(queue: str, correlation_id: str, seq: int, reason: str) -> None:
    """Log an event that the observer would not read, or gave no usable answer about; its session's passes go on
    without."""
    fields = {"component": queue, "correlation_id": correlation_id, "seq": seq, "reason": reason}
    logger.warning("event unobservable", extra=fields)


def images_left_out(queue: str, correlation_id: str, seqs: Sequence[int]) -> None:
    """Log the events that the observer read without their images, which it had refused."""
    logger.warning("images left out", extra={"component": queue, "correlation_id": correlation_id, "seqs": list(seqs)})


def lines_left_out(queue: str, correlation_id: str, count: int) -> None:
    """Log the lines of the first turn of a pass for which, as a whole, it had no room; no later pass says them."""
    logger.warning("lines left out", extra={"component": queue, "correlation_id": correlation_id, "count": count})


def facts_left_out(queue: str, correlation_id: str, count: int) -> None:
    """Log the facts for which their pass, or the live list of its session, had no room; its lines have what they
    say."""
    logger.warning("facts left out", extra={"component": queue, "correlation_id": correlation_id, "count": count})


def malformed_lines_dropped(queue: str, correlation_id: str, count: int) -> None:
    """Log the lines of an observer's answer that were not of the form; the others are kept."""
    logger.warning(
        "malformed lines dropped", extra={"component": queue, "correlation_id": correlation_id, "count": count}
    )


def malformed_facts_dropped(queue: str, correlation_id: str, count: int) -> None:
    """Log the facts of an observer's answer that were not of the form."""
    logger.warning(
        "malformed facts dropped", extra={"component": queue, "correlation_id": correlation_id, "count": count}
    )


def summary_refused(queue: str, correlation_id: str) -> None:
    """Log a compaction whose summary is an extract, because the model would not read what it covers."""
    logger.warning("summary refused", extra={"component": queue, "correlation_id": correlation_id})


def reflection_skipped(queue: str, correlation_id: str, reason: str) -> None:
    """Log that the reflection of a session is due: its worker went on without, and a later pass tries again."""
    logger.warning("reflection skipped", extra={"component": queue, "correlation_id": correlation_id, "reason": reason})


def reflection_left_out(queue: str, correlation_id: str, count: int, cut: int | None = None) -> None:
    """Log the rows of a reflection that its target has no room for as a whole; what they were made of is replaced.
    ``cut``: of how many of them a part is kept, where that is known."""
    fields = {"component": queue, "correlation_id": correlation_id, "count": count}
    logger.warning("reflection left out", extra=fields | ({} if cut is None else {"cut": cut}))


def documents_not_shown(queue: str, correlation_id: str, count: int) -> None:
    """Log the documents that a librarian had no room to read beside the others."""
    logger.warning("documents not shown", extra={"component": queue, "correlation_id": correlation_id, "count": count})


def librarian_actions_rejected(queue: str, correlation_id: str, rejected: Mapping[str, int]) -> None:
    """Log the parts of a librarian's answer that were not applied, by reason."""
    fields = {"component": queue, "correlation_id": correlation_id, "rejected": dict(rejected)}
    logger.warning("librarian actions rejected", extra=fields)


def failed(where: str, correlation_id: str, error: BaseException, job_id: str | None = None) -> None:
    """Log the type of an error and the way to it; ``job_id``: whose work failed. Its message is left out: it may quote
    what a person wrote. That of an error with ``text_is_logged`` is our own, such as why a model gave no answer, or
    which store refused what."""
    frames = traceback.extract_tb(error.__traceback__)
    stack = [f"{frame.filename.rpartition('/neve/')[2]}:{frame.lineno} {frame.name}" for frame in frames]
    kind = f"{type(error).__module__}.{type(error).__qualname__}"
    fields: dict[str, Any] = {"component": where, "correlation_id": correlation_id, "error": kind, "stack": stack}
    if job_id is not None:
        fields["job_id"] = job_id
    if getattr(error, "text_is_logged", False):
        fields["reason"] = str(error)
    logger.error("failed", extra=fields)


def worker_cut_off(function: str) -> None:
    """Log that a worker had not finished when its time was over."""
    logger.warning("worker cut off", extra={"component": function})


def health_issue(trouble: Trouble) -> None:
    """Log that something beneath the process fails again and again, or is damaged."""
    logger.warning("health issue", extra={"component": trouble.what, "kind": trouble.kind, "reason": trouble.reason})


def emit_metrics(function: str, values: Mapping[str, float]) -> None:
    """Write one metric line; an empty mapping writes none. A name's suffix tells its unit: ``Seconds``, else a
    count."""
    if not values:
        return
    metrics = EphemeralMetrics(namespace=NAMESPACE, service="")
    metrics.add_dimension("Stage", stage_of(os.environ))
    metrics.add_dimension("Function", function)
    for name, value in values.items():
        metrics.add_metric(name, MetricUnit.Seconds if name.endswith("Seconds") else MetricUnit.Count, value)
    metrics.flush_metrics()
