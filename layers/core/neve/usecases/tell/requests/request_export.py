"""E15 export: a job that writes everything that is kept of a user (docs/rules/export.md)."""

from __future__ import annotations

from neve.domain.records.jobs import Job
from neve.domain.times import iso
from neve.ports.table import WriteOp
from neve.scope import UserScope
from neve.store import rows
from neve.store.idempotency import Beside, nothing_beside
from neve.store.transact import transact
from neve.usecases.core.jobs.queued_jobs import EXPORT


def request_export(scope: UserScope, beside: Beside[Job] = nothing_beside) -> Job:
    """Queue an export and return its job. ``beside``: what is written with it. Raises erasing, user_closed."""
    job_id = f"job_{scope.ports.ids.ulid(scope.ports.clock.now())}"
    return transact(scope.ports, lambda: _queue(scope, job_id, beside))


def _queue(scope: UserScope, job_id: str, beside: Beside[Job]) -> Job:
    keys, ports = scope.keys, scope.ports
    head = rows.read_head(ports.table.get(keys.head))
    rows.writable(head)
    now = iso(ports.clock.now())
    job = Job(job_id, EXPORT, "queued", now, user_id=scope.user, due_at=now)
    put = rows.put_queued_job(keys, job, head.incarnation)
    ops: list[WriteOp] = [rows.check_head(keys, head), put, *beside(job)]
    ports.table.write(ops)
    return job
