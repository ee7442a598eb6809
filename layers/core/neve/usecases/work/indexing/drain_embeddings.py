"""E14: bring everything that is pending into the index, now."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import islice

from neve.domain.jobs.time_share import TimeShare
from neve.domain.records.jobs import Job
from neve.domain.times import iso, parse
from neve.ports.errors import Conflict
from neve.ports.runtime import Clock
from neve.ports.table import Index, WriteOp
from neve.scope import TenantScope
from neve.store import rows
from neve.store.partitions import all_rows
from neve.store.transact import transact
from neve.usecases.core.jobs.read_jobs import get_tenant_job
from neve.usecases.work.indexing.requeue import MAX_ROWS, WhoseRows, find_due, lagging_logs, requeue_all

KIND = "drain_embeddings"
QUEUED_WITHIN_S = 15.0
"""A row costs a write before it is queued; the gateway waits 29 s for the answer (*limit*), the messages included."""
LOOKED_WITHIN_S = 27.0
"""How long the drain looks whether anything is pending, and counts, the waiting included."""
COUNTED_WITHIN_S = 5.0
"""How long the drain counts, at most: what of a tenant is pending may stand behind any number of sessions of which
nothing is."""
GIVEN_UP_AFTER, MANY_GIVEN_UP_AFTER = timedelta(hours=1), timedelta(days=1)
"""A drain of which nothing has moved for so long has failed (*chosen*: twice as long as a message of the embed queue
takes to become a dead letter; where there is more than is counted, no drain sees it move)."""
MOVED_AT = "moved_at"
LOST = "nothing of what is pending has come into the index for too long: its messages were given up"
_PAUSE_S, _MAX_PAUSE_S = 0.1, 1.0
"""The pause between two looks; it doubles."""


def drain_embeddings(scope: TenantScope, user: str | None, wait_s: float) -> Job:
    """Queue everything of the tenant (of one user) that is pending, or failed before, and wait for it at most
    ``wait_s``. The job is done when nothing is unindexed or unembedded any more, memories and events alike, and running
    until then. The result says how many rows and logs were ``queued``, and how much is still ``pending`` (counted up to
    2,000 rows and 2,000 logs; what there was no time to look at counts as one); ``left`` that there was no time to
    queue the rest, or that it was too much for one drain, for which the caller has to ask for another. Raises erasing,
    user_closed, StoreUnavailable."""
    _check_user(scope, user)
    clock, asked = scope.ports.clock, WhoseRows(scope.tenant.id, user)
    started_at, began_ms = clock.now(), clock.monotonic_ms()
    share = _seconds(clock, QUEUED_WITHIN_S, began_ms)
    queued = requeue_all(scope.ports, asked, share)
    ends_ms = began_ms + wait_s * 1000
    pause_s = _PAUSE_S
    while (
        left := _is_left(scope, asked, _seconds(clock, LOOKED_WITHIN_S, began_ms))
    ) and clock.monotonic_ms() < ends_ms:
        clock.sleep(pause_s)
        pause_s = min(2 * pause_s, _MAX_PAUSE_S, max(_PAUSE_S, (ends_ms - clock.monotonic_ms()) / 1000))
    counting_s = min(COUNTED_WITHIN_S, LOOKED_WITHIN_S - (clock.monotonic_ms() - began_ms) / 1000)
    pending = _pending(scope, asked, counting_s) if left else 0
    job = Job(
        id=f"job_{scope.ports.ids.ulid(started_at)}",
        kind=KIND,
        status="running",
        created_at=iso(started_at),
        user_id=user,
        result={"queued": queued, "pending": pending} | ({"left": True} if share.left else {}),
    )
    job = _ended(scope, job, pending)
    transact(scope.ports, lambda: _store(scope, job))
    return job


def _store(scope: TenantScope, job: Job) -> None:
    """Store the job, unless the user is being erased: an erasure that has looked through the tenant's jobs must not
    miss one. Raises erasing, user_closed, Conflict."""
    scope.ports.table.write([*_check_user(scope, job.user_id), rows.put_job(scope.keys, job)])


def _check_user(scope: TenantScope, user: str | None) -> list[WriteOp]:
    """Return the check that the user, if the drain is about one, is still as read here. Raises erasing, user_closed."""
    if user is None:
        return []
    keys = scope.keys.of_user(user)
    head = rows.read_head(scope.ports.table.get(keys.head))
    rows.writable(head)
    return [rows.check_head(keys, head)]


def read_drain(scope: TenantScope, job_id: str) -> Job:
    """Read a job of the tenant; a drain that was running is returned as it stands now, failed where nothing of it
    moves. Raises job_not_found, StoreUnavailable."""
    job = get_tenant_job(scope, job_id)
    if job.kind != KIND or job.status != "running":
        return job
    clock, asked = scope.ports.clock, WhoseRows(scope.tenant.id, job.user_id)
    left = _is_left(scope, asked, _seconds(clock, QUEUED_WITHIN_S, clock.monotonic_ms()))
    pending = _pending(scope, asked, COUNTED_WITHIN_S) if left else 0
    seen = _ended(scope, replace(job, result={**job.result, "pending": pending}), pending)
    if pending < job.result["pending"] or seen.ended:
        moved = replace(seen, state={**job.state, MOVED_AT: iso(clock.now())})
        try:
            scope.ports.table.write([rows.put_job(scope.keys, moved)])
        except Conflict:
            return get_tenant_job(scope, job_id)
    return seen


def _ended(scope: TenantScope, job: Job, pending: int) -> Job:
    """Return the job done when nothing is pending, failed when nothing of it has moved for so long that its messages
    are lost; else as it is."""
    now = scope.ports.clock.now()
    if not pending:
        return replace(job, status="done", finished_at=iso(now))
    patience = GIVEN_UP_AFTER if pending < MAX_ROWS else MANY_GIVEN_UP_AFTER
    if now - parse(job.state.get(MOVED_AT, job.created_at)) <= patience:
        return job
    return replace(job, status="failed", finished_at=iso(now), result={**job.result, "reason": LOST})


def _seconds(clock: Clock, seconds: float, began_ms: float) -> TimeShare:
    return TimeShare(lambda: seconds - (clock.monotonic_ms() - began_ms) / 1000, 0.0)


def _is_left(scope: TenantScope, asked: WhoseRows, share: TimeShare) -> bool:
    """Say whether anything is pending, or there was no time to look at all of it. Reads up to the first row that is."""
    table = scope.ports.table
    if asked.one is not None:
        rows_left = any("rev_at" in item for item in all_rows(table, asked.one.partition, index=Index.RECENT))
    else:
        rows_left = any(True for _ in find_due(table, "embed", share, asked))
    return rows_left or any(progress.lacks_something for _, progress in lagging_logs(table, share, asked)) or share.left


def _pending(scope: TenantScope, asked: WhoseRows, within_s: float) -> int:
    """Count the memories and events that lack their words or their vectors; at least 1 while there was no time to look
    at all of them."""
    if within_s <= 0:
        return 1
    table, clock = scope.ports.table, scope.ports.clock
    share = _seconds(clock, within_s, clock.monotonic_ms())
    count = sum(1 for _ in islice(find_due(table, "embed", share, asked), MAX_ROWS))
    logs = (progress.indexed.unembedded(progress.head.last_seq) for _, progress in lagging_logs(table, share, asked))
    count += sum(islice(filter(None, logs), MAX_ROWS))
    return max(count, int(share.left))
