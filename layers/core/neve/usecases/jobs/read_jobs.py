"""Poll a piece of asynchronous work."""

from __future__ import annotations

import time

from neve.domain.errors import not_found
from neve.domain.records import Job
from neve.store import rows
from neve.wiring import Ports, Tenant

WAIT_S = 20.0
"""A call with ``wait`` polls this long; the gateway allows 29 s (architecture §4)."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 0.5


def get_job(ports: Ports, tenant: Tenant, user: str | None, job_id: str) -> Job:
    """``user`` None: any job of the tenant (scope admin). Raises job_not_found, also for another user's job."""
    job = find_job(ports, tenant, job_id)
    if job is None or (user is not None and job.user_id != user):
        raise not_found("job", job_id)
    return job


def find_job(ports: Ports, tenant: Tenant, job_id: str) -> Job | None:
    item = rows.live(ports.table.get(tenant.keys.job(job_id)), ports.clock.now())
    return rows.read_job(item) if item else None


def wait_for_job(ports: Ports, tenant: Tenant, job: Job) -> Job:
    """The job once it is done or failed, or as it stands after WAIT_S. The pause doubles from 20 ms to half a
    second."""
    end, pause = time.monotonic() + WAIT_S, _FIRST_PAUSE_S
    while job.status in ("queued", "running") and time.monotonic() < end:
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE_S)
        job = find_job(ports, tenant, job.id) or job
    return job
