"""A job over HTTP."""

from __future__ import annotations

from neve.domain.records import Job
from neve.http.router import Answer
from neve.http.schemas.jobs.jobs import JobOut
from neve.scope import UserScope
from neve.usecases.jobs.read_jobs import get_job
from neve.usecases.jobs.stages import stages_of


def job_answer(job: Job) -> Answer:
    """200 for a job that has ended, 202 for one that has not."""
    return Answer(200 if job.status in ("done", "failed") else 202, JobOut.of(job))


def staged_job(scope: UserScope, job_id: str) -> Answer:
    """With how far its work has come. Raises job_not_found, StoreUnavailable."""
    job = get_job(scope, job_id)
    return Answer(body=JobOut.of(job, stages_of(scope, job)))
