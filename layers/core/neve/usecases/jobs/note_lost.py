"""Jobs that were written before the index of due work named them (docs/rules/jobs.md#lost)."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from neve.domain.records.jobs import Job
from neve.domain.times import iso, parse
from neve.ports.errors import Conflict
from neve.scope import SessionScope
from neve.store import rows


def note_lost(scope: SessionScope, job: Job | None) -> None:
    """For who asks again for what such a job does: where nobody has taken it up in ten minutes, the next sweep sends
    it. Nothing for a job that says itself when it is due. At most one write. Raises StoreUnavailable."""
    now = scope.ports.clock.now()
    if job is None or job.status != "queued" or job.due_at is not None or job.incarnation is None:
        return
    if now - parse(job.created_at) >= rows.SENT_WITHIN:
        with contextlib.suppress(Conflict):  # a worker has just taken it up
            scope.ports.table.write([rows.put_job(scope.keys, replace(job, due_at=iso(now)))])
