"""Adds to an export the addresses from which its parts are loaded. They are signed when a caller asks: no row holds an
address."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from neve.domain.records.jobs import Job
from neve.domain.times import iso
from neve.scope import TenantScope
from neve.store import rows
from neve.store.keys import UserKeys
from neve.usecases.core.jobs.queued_jobs import EXPORT

EXPIRES_S = 900
"""The seconds for which an address holds, as the target of an upload; a caller that needs longer asks again."""
KEPT = timedelta(days=7)
"""The time for which the parts are kept (infra/data.yaml); the job says for longer that there were some."""


def with_downloads(scope: TenantScope, job: Job) -> Job:
    """Return the job as it is, an export that is done with an address for each of its parts, or with when they were
    removed. No address of a user who is being erased, whose parts may still be there. Raises StoreUnavailable."""
    if job.kind != EXPORT or job.status != "done" or job.user_id is None or job.finished_at is None:
        return job
    keys, now = UserKeys(scope.keys.tenant, job.user_id), scope.ports.clock.now()
    gone = datetime.fromisoformat(job.finished_at) + KEPT
    if gone <= now:
        return replace(job, result=job.result | {"parts_removed_at": iso(gone)})
    if rows.hidden(rows.read_head(scope.ports.table.get(keys.head))):
        return job
    until = iso(now + timedelta(seconds=EXPIRES_S))
    parts = [
        part | {"url": scope.ports.objects.presign_get(keys.export_object(job.id, part["part"]), expires_s=EXPIRES_S)}
        for part in job.result["parts"]
    ]
    return replace(job, result=job.result | {"parts": parts, "urls_expire_at": until})
