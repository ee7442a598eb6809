"""Write the outcome of a worker to the row that callers poll."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from neve.domain.records import Job
from neve.domain.times import iso
from neve.scope import SessionScope
from neve.store import rows
from neve.store.transact import transact
from neve.usecases.jobs.read_jobs import find_job


def finish_job(
    scope: SessionScope, job_id: str, kind: str, status: Literal["done", "failed"], result: dict[str, Any]
) -> None:
    """Makes the row if nobody asked for the job before it ran. A job that is done stays as it was first done: a
    redelivered message must not overwrite what the pass wrote with "nothing new"."""

    def attempt() -> None:
        now = iso(scope.ports.clock.now())
        job = find_job(scope, job_id)
        job = job or Job(job_id, kind, "queued", now, user_id=scope.user, session_id=scope.session)
        if job.status != "done":
            finished = replace(job, status=status, finished_at=now, result=result)
            scope.ports.table.write([rows.put_job(scope.keys, finished)])

    transact(scope.ports, attempt)
