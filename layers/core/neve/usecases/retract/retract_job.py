"""The job of a retraction: how far it has come (docs/rules/retract.md#job)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from neve.domain.records.jobs import Job
from neve.scope import SessionScope
from neve.store import rows
from neve.store.incarnation import UserErased
from neve.store.transact import transact

REPLACED, REVERTED, SUMMARY, ERASED, PACK = "replaced", "unfiled", "summary", "erased", "pack"
"""Steps of the job that are noted in its state when they are done."""
MEANWHILE = "pack meanwhile"
"""The pack without what the model refuses to read. It is built again behind that."""


class JobEnded(Exception):
    """Another worker has ended the job: whoever still works at it has nothing left to do."""


def is_done(job: Job, step: str) -> bool:
    return step in job.state.get("done", ())


def after(job: Job, step: str, result: dict[str, Any] | None = None, **state: Any) -> Job:
    """The running job once a step is done."""
    done = [*job.state.get("done", ()), step]
    return replace(
        job, status="running", state={**job.state, **state, "done": done}, result={**job.result, **(result or {})}
    )


def note(scope: SessionScope, job_id: str, change: Callable[[Job], Job]) -> Job:
    """The job as it is after the change. Raises UserErased, JobEnded."""

    def attempt() -> Job:
        job = read(scope, job_id)
        changed = change(job)
        if changed != job:
            scope.ports.table.write([rows.put_job(scope.keys, changed)])
            return replace(changed, version=job.version + 1)
        return job

    return transact(scope.ports, attempt)


def read(scope: SessionScope, job_id: str) -> Job:
    """Raises UserErased when its row is gone, JobEnded."""
    item = scope.ports.table.get(scope.keys.job(job_id))
    if item is None:
        raise UserErased
    job = rows.read_job(item)
    if job.status == "done":
        raise JobEnded
    return job
