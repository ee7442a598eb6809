"""E9 ``memories/forget`` with a confirmation: have exactly that forgotten which was listed
(docs/rules/forget.md#confirm)."""

from __future__ import annotations

from neve.domain.errors import invalid
from neve.domain.records.jobs import Job
from neve.domain.times import iso
from neve.scope import UserScope
from neve.store import rows
from neve.store.transact import transact
from neve.usecases.core.jobs.queued_jobs import FORGET
from neve.usecases.tell.forget.listed import job_of, read_confirmed

UNKNOWN = "is not known, or older than an hour: list once more what is to be forgotten, with dry_run"


def confirm_forgetting(scope: UserScope, confirm: str, *, purge_packs: bool = False) -> Job:
    """Queue the job that forgets what ``confirm`` was given for, and return it; a repeat gets the same one. Raises 422
    of an unknown or old ``confirm``, erasing, user_closed, conflict, StoreUnavailable."""
    job_id = job_of(confirm, scope.ports.clock.now())
    if job_id is None:
        raise invalid("confirm", UNKNOWN)
    return transact(scope.ports, lambda: _queue(scope, job_id, purge_packs=purge_packs))


def _queue(scope: UserScope, job_id: str, *, purge_packs: bool) -> Job:
    """Try once. Raises Conflict."""
    head, begun, is_listed = read_confirmed(scope, job_id)
    rows.writable(head)
    if begun is not None:
        return begun
    if not is_listed:
        raise invalid("confirm", UNKNOWN)
    now = iso(scope.ports.clock.now())
    state = {"purge_packs": purge_packs}
    job = Job(job_id, FORGET, "queued", now, user_id=scope.user, state=state, due_at=now)
    put = rows.put_queued_job(scope.keys, job, head.incarnation)
    scope.ports.table.write([rows.check_head(scope.keys, head), put])
    return job
