"""E14: embed what is pending, now."""

from __future__ import annotations

from neve.domain.records import Job
from neve.domain.times import iso
from neve.scope import TenantScope
from neve.store import rows
from neve.usecases.indexing.requeue import WhoseRows, find_due, requeue_all
from neve.usecases.jobs.read_jobs import WAIT_S

_PAUSE_S = 0.1


def drain_embeddings(scope: TenantScope, user: str | None, wait: bool) -> Job:
    """Everything of the tenant (of one user) that is pending, or failed before, is queued; the job is done when it is.
    ``wait``: and until nothing of it is pending any more, at most 20 s. The result says how many rows were ``queued``
    and how many are still ``pending`` (2,000 at most). Raises StoreUnavailable."""
    clock, asked = scope.ports.clock, WhoseRows(scope.tenant.id, user)
    started_at = clock.now()
    queued = requeue_all(scope.ports, asked)
    ends_ms = clock.monotonic_ms() + (WAIT_S * 1000 if wait else 0.0)
    while (pending := len(find_due(scope.ports.table, "embed", asked))) and clock.monotonic_ms() < ends_ms:
        clock.sleep(_PAUSE_S)
    job = Job(
        id=f"job_{scope.ports.ids.ulid(started_at)}",
        kind="drain_embeddings",
        status="done",
        created_at=iso(started_at),
        user_id=user,
        finished_at=iso(clock.now()),
        result={"queued": queued, "pending": pending},
    )
    scope.ports.table.write([rows.put_job(scope.keys, job)])
    return job
