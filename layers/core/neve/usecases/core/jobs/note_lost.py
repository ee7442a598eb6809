"""Jobs that the next sweep sends because their call is repeated: those that have failed, and those that were written
before the index of due work named them (docs/rules/jobs.md#lost)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from neve.domain.records.jobs import Job
from neve.domain.times import iso, parse
from neve.ports.errors import Conflict
from neve.scope import SessionScope
from neve.store import rows
from neve.usecases.core.jobs.read_jobs import find_job


def note_lost(scope: SessionScope, job: Job) -> Job:
    """Note on a job that its work is asked for again: a job that has failed is queued once more, and one that no worker
    has taken up in ten minutes is due. Returns the job as it is then. At most one write. Raises StoreUnavailable."""
    noted = _noted(job, scope.ports.clock.now())
    if noted is None:
        return job
    try:
        scope.ports.table.write([rows.put_job(scope.keys, noted)])
    except Conflict:  # a worker has just taken it up
        return find_job(scope, job.id) or job
    return replace(noted, version=job.version + 1)


def _noted(job: Job, now: datetime) -> Job | None:
    """Return the job as it is to be written. None for a job that has ended well, or says itself when it is due, or
    whose row is no message."""
    if job.incarnation is None:
        return None
    if job.status == "failed":
        result = {name: value for name, value in job.result.items() if name != "reason"}
        return replace(job, status="queued", finished_at=None, result=result, due_at=iso(now))
    waits = job.status == "queued" and job.due_at is None and now - parse(job.created_at) >= rows.SENT_WITHIN
    return replace(job, due_at=iso(now)) if waits else None
