"""E14 GET: what goes on for a tenant behind its calls, by a bounded number of reads (docs/rules/jobs.md#overview)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from neve.domain.ids import ulid_time
from neve.domain.outgoing.webhook import Delivery, Webhook
from neve.domain.records.jobs import Job
from neve.domain.reflect.nightly import last_night
from neve.domain.times import iso
from neve.ports.table import Index
from neve.scope import TenantScope
from neve.store import rows
from neve.store.keys import behind_prefix_of_tenant, due_partitions
from neve.store.outgoing import read_delivery, read_webhooks
from neve.usecases.work.reflect.run import as_it_stands, night_run_id

MOST = 50
"""Jobs, and sessions, that are named (*chosen*)."""
PAGE, JOB_QUERIES = 200, 5
"""The newest jobs that are looked at, the ended ones among them (*chosen*)."""
OF_A_SHARD = 25
LOGGED = 20
"""The newest attempts of a webhook among which failures are counted (*chosen*)."""
A_MOMENT = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Night:
    """A night of the tenant. ``run``: its job as it stands; ``began``: when it was to begin."""

    began: str
    run: Job


@dataclass(frozen=True, slots=True)
class Waiting:
    """A session whose log is ahead of the search index or of its memory."""

    user_id: str
    session_id: str


@dataclass(frozen=True, slots=True)
class Failing:
    """A webhook some of whose last attempts failed. ``failed``: how many of them; ``last``: the newest such one."""

    webhook: Webhook
    failed: int
    last: Delivery


@dataclass(frozen=True, slots=True)
class TenantWork:
    """The work of a tenant. ``jobs``: that have not ended, newest first; ``jobs_complete``: no other was left out;
    ``night``: the last one that was begun."""

    jobs: Sequence[Job]
    jobs_complete: bool
    night: Night | None
    waiting: Sequence[Waiting]
    waiting_complete: bool
    failing: Sequence[Failing]


def tenant_work(scope: TenantScope) -> TenantWork:
    """Read at most five pages of jobs, two nights and the parts of one, a page of each shard of the sessions that are
    behind, and a page of attempts of each webhook. Raises StoreUnavailable."""
    now = scope.ports.clock.now()
    jobs, jobs_complete = _open_jobs(scope, now)
    waiting, waiting_complete = _waiting(scope)
    return TenantWork(jobs, jobs_complete, _night(scope, now), waiting, waiting_complete, _failing(scope, now))


def _open_jobs(scope: TenantScope, now: datetime) -> tuple[list[Job], bool]:
    """Look through the jobs whose ids are in the order of time."""
    oldest = now - timedelta(days=rows.JOB_DAYS)
    between = ulid_time(oldest), ulid_time(now + A_MOMENT)
    found: list[Job] = []
    cursor: str | None = None
    for _ in range(JOB_QUERIES):
        page = scope.ports.table.query(scope.keys.jobs, between=between, reverse=True, limit=PAGE, cursor=cursor)
        found += (job for item in page.items if rows.live(item, now) and not (job := rows.read_job(item)).ended)
        cursor = page.cursor
        if cursor is None or len(found) > MOST:
            break
    return found[:MOST], cursor is None and len(found) <= MOST


def _night(scope: TenantScope, now: datetime) -> Night | None:
    last = last_night(now, scope.policy.timezone)
    nights = (last, last_night(last - A_MOMENT, scope.policy.timezone))
    keys = {night: scope.keys.job(night_run_id(scope.keys, night)) for night in nights}
    found = scope.ports.table.get_many(list(keys.values()))
    began = next((night for night in nights if keys[night] in found), None)
    if began is None:
        return None
    run = rows.read_job(found[keys[began]])
    return Night(iso(began), run if run.ended else as_it_stands(scope, run))


def _waiting(scope: TenantScope) -> tuple[list[Waiting], bool]:
    found: list[Waiting] = []
    complete = True
    for place in due_partitions("behind"):
        page = scope.ports.table.query(
            place, index=Index.DUE, prefix=behind_prefix_of_tenant(scope.tenant.id), limit=OF_A_SHARD
        )
        found += (Waiting(item["user_id"], item["session_id"]) for item in page.items)
        complete = complete and page.cursor is None
    return found[:MOST], complete and len(found) <= MOST


def _failing(scope: TenantScope, now: datetime) -> list[Failing]:
    failing = []
    for webhook in read_webhooks(scope.ports.table.get(scope.keys.webhooks)).all:
        since = scope.keys.deliveries_since(ulid_time(datetime.fromisoformat(webhook.created_at)))
        page = scope.ports.table.query(scope.keys.deliveries(webhook.id), between=since, reverse=True, limit=LOGGED)
        lines = [read_delivery(item) for item in page.items if rows.live(item, now)]
        failed = [line for line in lines if line.outcome != "delivered"]
        if failed:
            failing.append(Failing(webhook, len(failed), failed[0]))
    return failing
