"""E14: bring everything that is pending into the index, now."""

from __future__ import annotations

from dataclasses import replace

from neve.domain.jobs.time_share import TimeShare
from neve.domain.records import Job
from neve.domain.times import iso
from neve.ports import Conflict
from neve.scope import TenantScope
from neve.store import rows
from neve.usecases.indexing.requeue import WhoseRows, find_due, logs_behind, requeue_all
from neve.usecases.jobs.begin_encoding import encode_again, users_being_encoded
from neve.usecases.jobs.read_jobs import get_tenant_job

KIND = "drain_embeddings"
QUEUED_WITHIN_S = 15.0
"""A row costs a write before it is queued; the gateway waits 29 s for the answer (*limit*), the messages included."""
_PAUSE_S = 0.1


def drain_embeddings(scope: TenantScope, user: str | None, wait_s: float) -> Job:
    """Everything of the tenant (of one user) that is pending, or failed before, is queued. The job is done when nothing
    is unindexed or unembedded any more, memories and events alike, nor, where the tenant reranks late, without its
    token vectors; and running until then. It is waited for at most ``wait_s``. The result says how many rows and logs
    were ``queued``, and how much is still ``pending`` (counted up to 2,000 rows and 2,000 logs; a user with something
    to be encoded counts as one); ``left`` that there was no time to queue the rest, for which another drain has to be
    asked. Raises StoreUnavailable."""
    clock, asked = scope.ports.clock, WhoseRows(scope.tenant.id, user)
    started_at, began_ms = clock.now(), clock.monotonic_ms()
    share = TimeShare(lambda: QUEUED_WITHIN_S - (clock.monotonic_ms() - began_ms) / 1000, 0.0)
    queued = requeue_all(scope.ports, asked, share)
    if scope.policy.rerank == "late":
        encode_again(scope.ports, scope.keys, user, f"drain {scope.ports.ids.token()}")
    ends_ms = began_ms + wait_s * 1000
    while (pending := _pending(scope, asked)) and clock.monotonic_ms() < ends_ms:
        clock.sleep(_PAUSE_S)
    job = Job(
        id=f"job_{scope.ports.ids.ulid(started_at)}",
        kind=KIND,
        status="running",
        created_at=iso(started_at),
        user_id=user,
        result={"queued": queued, "pending": pending} | ({"left": True} if share.left else {}),
    )
    job = _ended(scope, job, pending)
    scope.ports.table.write([rows.put_job(scope.keys, job)])
    return job


def read_drain(scope: TenantScope, job_id: str) -> Job:
    """Any job of the tenant; a drain that was running as it stands now. Raises job_not_found, StoreUnavailable."""
    job = get_tenant_job(scope, job_id)
    if job.kind != KIND or job.status != "running":
        return job
    pending = _pending(scope, WhoseRows(scope.tenant.id, job.user_id))
    job = _ended(scope, replace(job, result={**job.result, "pending": pending}), pending)
    if job.status == "done":
        try:
            scope.ports.table.write([rows.put_job(scope.keys, job)])
        except Conflict:
            return get_tenant_job(scope, job_id)
    return job


def _ended(scope: TenantScope, job: Job, pending: int) -> Job:
    return job if pending else replace(job, status="done", finished_at=iso(scope.ports.clock.now()))


def _pending(scope: TenantScope, asked: WhoseRows) -> int:
    """Memories and events that lack their words or their vectors, and users with something to be encoded."""
    table, events = scope.ports.table, 0
    for _, progress in logs_behind(table, asked):
        events += progress.indexed.unembedded(progress.head.last_seq)
    encoding = users_being_encoded(table, scope.keys, asked.user) if scope.policy.rerank == "late" else 0
    return len(find_due(table, "embed", asked)) + events + encoding
