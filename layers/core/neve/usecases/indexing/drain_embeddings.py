"""E14: embed what is pending, now."""

from __future__ import annotations

import time

from neve.domain.records import Job
from neve.domain.times import iso
from neve.store import rows
from neve.usecases.indexing.requeue import find_due, requeue_all
from neve.usecases.jobs.read_jobs import WAIT_S
from neve.wiring import Ports, Tenant

_PAUSE_S = 0.1


def drain_embeddings(ports: Ports, tenant: Tenant, user: str | None, wait: bool) -> Job:
    """Everything of the tenant (of one user) that is pending, or failed before, is queued; the job is done when it is.
    ``wait``: and until nothing of it is pending any more, at most 20 s. The result says how many rows were ``queued``
    and how many are still ``pending`` (2,000 at most). Raises StoreUnavailable."""
    started_at = ports.clock.now()
    queued = requeue_all(ports, tenant.id, user)
    ends = time.monotonic() + (WAIT_S if wait else 0.0)
    while (pending := len(find_due(ports, "embed", tenant=tenant.id, user=user))) and time.monotonic() < ends:
        time.sleep(_PAUSE_S)
    job = Job(
        id=f"job_{ports.ids.ulid(started_at)}",
        kind="drain_embeddings",
        status="done",
        created_at=iso(started_at),
        user_id=user,
        finished_at=iso(ports.clock.now()),
        result={"queued": queued, "pending": pending},
    )
    ports.table.write([rows.put_job(tenant.keys, job)])
    return job
