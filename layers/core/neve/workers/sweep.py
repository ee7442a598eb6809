"""Runs the function behind the sweep's schedule: the sweep, and the numbers that tell of it."""

from __future__ import annotations

from typing import Any

from neve import observability
from neve.domain.records.jobs import Job
from neve.observing import time_left_of
from neve.ports.engines import Ports
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.indexing.requeue import backlog_age_s
from neve.workers.cut_off import telling_if_cut_off

METRICS = {
    "failed": "SweepTasksFailed",
    "closed": "SessionsClosed",
    "orphans": "OrphanSessionsEnded",
    "idle_failed": "SessionEndsFailed",
    "idle_left": "SessionEndsDeferred",
    "lost": "JobsResent",
    "deletions": "IndexDeletionsResent",
    "embeddings": "IndexMessagesResent",
    "passes": "PassesResent",
    "left": "SweepTasksDeferred",
}
"""Counts of the sweep that are told when they are not 0. ``failed``: packs, replacements and jobs that the next one
tries again. ``lost``: jobs that had not ended in ten minutes, and were sent again. ``deletions``: those, and
retractions, that the search index had not heard of by then. ``embeddings``, ``passes``: messages about what was not in
the index by then, or without vectors, and about sessions that no pass had observed. An outbox that does not run fails
nowhere and is seen by these alone (alarm sweep-resends). ``idle_left``: more sessions were due than one sweep looks at.
``left``: kinds of work that had no time for all that was due."""


def sweep(ports: Ports, context: Any) -> dict[str, int]:
    """Run the sweep and give its counts. ``context``: Lambda's, which knows how long the function may still run. Raises
    StoreUnavailable."""
    with telling_if_cut_off(ports, "sweep", context):
        done = sweep_due(ports, time_left_of(context), _failed, _lost)
    values = {"ScheduledRunsSucceeded": 1.0, "EmbeddingBacklogAgeSeconds": backlog_age_s(ports)}
    values |= {metric: float(done[name]) for name, metric in METRICS.items() if done[name]}
    observability.emit_metrics("sweep", values)
    return done


def _failed(kind: str, error: Exception) -> None:
    observability.failed(f"sweep {kind}", "", error)


def _lost(job: Job) -> None:
    observability.job_sent_again("sweep", job.kind, job.id, job.created_at)
