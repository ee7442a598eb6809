"""A job over HTTP."""

from __future__ import annotations

from neve.domain.records import Job
from neve.http.router import Answer
from neve.http.schemas.jobs.jobs import JobOut


def job_answer(job: Job) -> Answer:
    """200 for a job that has ended, 202 for one that has not."""
    return Answer(200 if job.status in ("done", "failed") else 202, JobOut.of(job))
