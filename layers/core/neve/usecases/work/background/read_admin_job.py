"""E14 GET: any job of the tenant, as it stands now; without what a session's job wrote, whose paths are made of what
the user said: that is read with the user's own calls."""

from __future__ import annotations

from dataclasses import replace

from neve.domain.records.jobs import Job
from neve.scope import TenantScope
from neve.usecases.core.jobs.downloads import with_downloads
from neve.usecases.work.indexing.drain_embeddings import read_drain
from neve.usecases.work.reflect.run import as_it_stands, is_open_run
from neve.usecases.work.retract.left_index import with_index

WRITTEN = frozenset({"documents", "session_summary", "inbox"})


def read_admin_job(scope: TenantScope, job_id: str) -> Job:
    """Read a job. Work on many rows or users is done when they are, and said to be when a caller asks. Raises
    job_not_found, StoreUnavailable."""
    job = _without_what_was_written(with_index(scope, with_downloads(scope, read_drain(scope, job_id))))
    return as_it_stands(scope, job) if is_open_run(job) else job


def _without_what_was_written(job: Job) -> Job:
    if job.session_id is None:
        return job
    return replace(job, result={name: value for name, value in job.result.items() if name not in WRITTEN})
