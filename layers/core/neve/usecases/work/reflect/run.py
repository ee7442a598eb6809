"""A run over all users of a tenant: told of one by one, page by page, and done when each of them is
(docs/rules/reflect.md#planner)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from neve.domain.ids import ulid_named
from neve.domain.records.jobs import Job
from neve.domain.reflect.night_limits import GIVEN_UP_AFTER
from neve.domain.times import iso, parse
from neve.ports.errors import Conflict
from neve.ports.queue import QueueName
from neve.ports.table import Index
from neve.scope import TenantScope
from neve.store import rows
from neve.store.keys import Keys, reflect_due_until
from neve.store.transact import transact
from neve.usecases.core.jobs.messages.reflection import KIND, ReflectionRequest, part_of, user_message
from neve.usecases.core.jobs.read_jobs import get_tenant_job
from neve.usecases.work.reflect.run_parts import COUNTS, sum_of_parts

LOST = "the messages of the users that have not ended were given up; the next night goes on"
PAGE = 10
"""Users of one page, a batch of messages on SQS: tenants take turns by it, whatever the queue makes of groups."""


def night_run_id(keys: Keys, night: datetime) -> str:
    """Return the id of the job of one night: the same for every planner."""
    return f"job_{ulid_named(f'night/{keys.tenant}/{iso(night)}')}"


def new_run(asked: ReflectionRequest, created_at: str) -> Job:
    return Job(asked.job_id, KIND, "queued", created_at, state={**asked.body(), "planned": False})


def queue_users(scope: TenantScope, asked: ReflectionRequest) -> bool:
    """Queue a message for each user of the next page of a run; False when there may be another page, for which its
    message is to be sent again: it then stands behind the pages of other tenants. A page is on the job's row before it
    is sent, and counted when it has been: a crash sends it again, and the same users know that they were told. Raises
    StoreUnavailable."""
    page = transact(scope.ports, lambda: _next_page(scope, asked))
    if page is None:
        return True
    users = [scope.keys.of_user(user) for user in page]
    if users:
        scope.ports.queue.send(QueueName.REFLECT, [user_message(user, part_of(user, asked)) for user in users])
    return transact(scope.ports, lambda: _note_page_queued(scope, asked, page))


def _next_page(scope: TenantScope, asked: ReflectionRequest) -> list[str] | None:
    """Return the users who are to be told of next; None when all were. Goes on with a run that has failed: an operator
    has given its message back."""
    job = _run(scope, asked)
    if job.status == "done" or job.state.get("planned"):
        return None
    if "telling" in job.state:
        return list(job.state["telling"])
    users, cursor = _page(scope, asked, job.state.get("cursor"))
    state = {**job.state, "telling": users, "next": cursor}
    scope.ports.table.write([rows.put_job(scope.keys, replace(_going_on(job), state=state))])
    return users


def _note_page_queued(scope: TenantScope, asked: ReflectionRequest, queued: list[str]) -> bool:
    """Note that a page was told of, and say whether all users were."""
    job = _run(scope, asked)
    if job.state.get("telling") != queued:  # another worker was told of the same page, and was faster
        return bool(job.state.get("planned"))
    cursor = job.state.get("next")
    state = {name: value for name, value in job.state.items() if name not in ("telling", "next", "cursor")}
    state |= {"planned": True} if cursor is None else {"cursor": cursor}
    job = _going_on(job)
    result = {**job.result, "users": job.result.get("users", 0) + len(queued)}
    scope.ports.table.write([rows.put_job(scope.keys, replace(job, state=state, result=result))])
    return cursor is None


def _going_on(job: Job) -> Job:
    result = {name: value for name, value in job.result.items() if name != "reason"}
    return replace(job, status="running", finished_at=None, result=result)


def _run(scope: TenantScope, asked: ReflectionRequest) -> Job:
    """Return the run's job; a message that came before its row makes it."""
    item = scope.ports.table.get(scope.keys.job(asked.job_id))
    return rows.read_job(item) if item else new_run(asked, iso(scope.ports.clock.now()))


def _page(scope: TenantScope, asked: ReflectionRequest, cursor: str | None) -> tuple[list[str], str | None]:
    """Return the users of the next page, and the cursor behind it: those whose rows are due, or all users where the
    caller asked for all."""
    table, keys = scope.ports.table, scope.keys
    if asked.regardless:
        page = table.query(keys.users, index=Index.RECENT, limit=PAGE, cursor=cursor)
        return [item["recent_sk"] for item in page.items], page.cursor
    bounds = reflect_due_until(asked.until)
    page = table.query(keys.reflect_dues, index=Index.DUE, between=bounds, limit=PAGE, cursor=cursor)
    return _leave_out_begun(scope, asked, [item["user_id"] for item in page.items]), page.cursor


def _leave_out_begun(scope: TenantScope, asked: ReflectionRequest, users: Sequence[str]) -> list[str]:
    """Leave out the users whose part has begun: old rows that came in meanwhile put a user into the index once more,
    behind the cursor. A user who was told twice would be counted twice, and end once: the run would never be done."""
    parts = {user: scope.keys.job(part_of(scope.keys.of_user(user), asked).job_id) for user in users}
    begun = scope.ports.table.get_many(list(parts.values())) if parts else {}
    return [user for user, part in parts.items() if part not in begun]


# --- how far it is ------------------------------------------------------------------------------


def is_open_run(job: Job) -> bool:
    return job.kind == KIND and job.user_id is None and not job.ended


def as_it_stands(scope: TenantScope, job: Job) -> Job:
    """Return the run with what came of its users so far, done when that is all of them; failed when it is not for so
    long that the messages of the others are lost. Their rows stay due."""
    parts = sum_of_parts(scope, job.id)
    result: dict[str, Any] = {"users": job.result.get("users", 0), "ended": parts["users"], "failed": parts["failed"]}
    seen = replace(job, result=result | {name: parts[name] for name in COUNTS})
    now = scope.ports.clock.now()
    if job.state.get("planned") and parts["users"] >= result["users"]:
        ended = replace(seen, status="done", finished_at=iso(now))
    elif parse(job.created_at) + GIVEN_UP_AFTER < now:
        ended = _failed(seen, LOST, iso(now))
    else:
        return seen
    try:
        scope.ports.table.write([rows.put_job(scope.keys, ended)])
    except Conflict:
        return get_tenant_job(scope, job.id)
    return ended


def give_up_run(scope: TenantScope, asked: ReflectionRequest, reason: str) -> None:
    """Note that the run has failed, because the message that tells its users is not delivered any more. A run that has
    ended, or whose users were all told, stays as it is."""

    def attempt() -> None:
        job = _run(scope, asked)
        if not job.ended and not job.state.get("planned"):
            scope.ports.table.write([rows.put_job(scope.keys, _failed(job, reason, iso(scope.ports.clock.now())))])

    transact(scope.ports, attempt)


def _failed(job: Job, reason: str, at: str) -> Job:
    return replace(job, status="failed", finished_at=at, result={**job.result, "reason": reason})
