"""Write the outcome of a worker to the row that callers poll."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from neve.domain.records import Job
from neve.domain.times import iso
from neve.ports import Conflict
from neve.store import rows
from neve.usecases.jobs.read_jobs import find_job
from neve.wiring import Ports, Tenant


def finish_job(
    ports: Ports,
    tenant: Tenant,
    job_id: str,
    kind: str,
    user: str,
    session: str,
    status: Literal["done", "failed"],
    result: dict[str, Any],
) -> None:
    """Makes the row if nobody asked for the job before it ran. A job that is done stays as it was first done: a
    redelivered message must not overwrite what the pass wrote with "nothing new"."""
    while True:
        now = iso(ports.clock.now())
        job = find_job(ports, tenant, job_id) or Job(job_id, kind, "queued", now, user_id=user, session_id=session)
        if job.status == "done":
            return
        finished = replace(job, status=status, finished_at=now, result=result)
        try:
            ports.table.write([rows.put_job(tenant.keys, finished)])
        except Conflict:
            continue
        return
