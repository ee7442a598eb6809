"""Poll a piece of asynchronous work."""

from __future__ import annotations

from neve.domain.errors import not_found
from neve.domain.records.jobs import Job
from neve.ports.table import Item
from neve.scope import TenantScope, UserScope
from neve.store import rows

WAIT_S = 20.0
"""A call with ``wait`` polls this long; the gateway allows 29 s (docs/rules/jobs.md#waiting)."""
MAX_WAIT_S = 25
"""And this long at most when it says how long."""
_FIRST_PAUSE_S, _MAX_PAUSE_S = 0.02, 0.5


def get_job(scope: UserScope, job_id: str) -> Job:
    """Read a job of the user. Raises job_not_found, also for another user's job, and for any but the erasure's own of a
    user who is being erased: a summary's job says what was said."""
    keys = scope.keys
    found = scope.ports.table.get_many([keys.job(job_id), keys.head])
    job, head = _job_of(scope, found.get(keys.job(job_id))), rows.read_head(found.get(keys.head))
    if job is None or job.user_id != scope.user or (head.erasure_job != job.id and rows.hidden(head)):
        raise not_found("job", job_id)
    return job


def get_tenant_job(scope: TenantScope, job_id: str) -> Job:
    """Read a job of the tenant (scope admin), whosever it is. Raises job_not_found."""
    job = find_job(scope, job_id)
    if job is None:
        raise not_found("job", job_id)
    return job


def find_job(scope: TenantScope, job_id: str) -> Job | None:
    return _job_of(scope, scope.ports.table.get(scope.keys.job(job_id)))


def _job_of(scope: TenantScope, item: Item | None) -> Job | None:
    """Read the job of a row, unless there is none or its time is over."""
    living = rows.live(item, scope.ports.clock.now())
    return rows.read_job(living) if living else None


def wait_for_job(scope: TenantScope, job: Job) -> Job:
    """Return the job once it is done or failed, or as it stands after WAIT_S. The pause doubles from 20 ms to half a
    second."""
    clock, pause_s = scope.ports.clock, _FIRST_PAUSE_S
    ends_ms = clock.monotonic_ms() + WAIT_S * 1000
    while not job.ended and clock.monotonic_ms() < ends_ms:
        clock.sleep(pause_s)
        pause_s = min(pause_s * 2, _MAX_PAUSE_S)
        job = find_job(scope, job.id) or job
    return job
