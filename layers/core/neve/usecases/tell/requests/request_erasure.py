"""E15 DELETE: erase a user and everything that is kept of them (docs/rules/erase.md#job)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from neve.domain.records.jobs import Job
from neve.domain.times import iso
from neve.ports.errors import Conflict
from neve.ports.table import WriteOp
from neve.scope import UserScope
from neve.store import rows
from neve.store.idempotency import Beside, nothing_beside
from neve.store.keys import UserKeys
from neve.store.transact import transact
from neve.usecases.core.jobs.queued_jobs import ERASURE
from neve.usecases.core.jobs.read_jobs import find_job


def request_erasure(scope: UserScope, *, close: bool, beside: Beside[Job] = nothing_beside) -> Job:
    """Queue an erasure, and give its job. The tombstone is in the same transaction: from here on no commit of a request
    or a worker that saw the user before succeeds, writes are refused, reads are empty. An erasure under way is answered
    with its job; ``close`` then holds for it, too. A user who was never seen is erased like any other. ``beside``: what
    is written with a new job.

    Raises user_closed; erasing when an operator is at it."""
    job_id = f"job_{scope.ports.ids.ulid(scope.ports.clock.now())}"
    return transact(scope.ports, lambda: _begin(scope, job_id, beside, close=close))


def _begin(scope: UserScope, job_id: str, beside: Beside[Job], *, close: bool) -> Job:
    """Try once. Raises Conflict."""
    keys, ports = scope.keys, scope.ports
    head = rows.read_head(ports.table.get(keys.head))
    if head.state == "erasing" and head.erasure_job is not None:
        under_way = find_job(scope, head.erasure_job)
        if under_way is not None and under_way.ended:
            raise Conflict  # the id was let go since the head was read
        if under_way is not None:
            return _also_close(scope, under_way) if close else under_way
    else:
        rows.writable(head)
    now = ports.clock.now()
    begun = replace(head, incarnation=head.incarnation + 1, state="erasing", erasure_job=job_id)
    begun = replace(begun, created_at=head.created_at or iso(now), replacement_job=None, replaced_by=None)
    job = new_erasure(job_id, keys, now, close=close)
    ops: list[WriteOp] = [rows.put_head(keys, begun), rows.put_queued_job(keys, job, begun.incarnation), *beside(job)]
    ports.table.write(ops)
    return job


def _also_close(scope: UserScope, job: Job) -> Job:
    """Let an erasure under way close the id, too. Raises Conflict when the worker moved the job."""
    if job.state.get("close", True):
        return job
    closing = replace(job, state=job.state | {"close": True})
    scope.ports.table.write([rows.put_job(scope.keys, closing)])
    return replace(closing, version=job.version + 1)


def new_erasure(job_id: str, keys: UserKeys, now: datetime, *, close: bool) -> Job:
    return Job(job_id, ERASURE, "queued", iso(now), user_id=keys.user, state={"close": close}, due_at=iso(now))
