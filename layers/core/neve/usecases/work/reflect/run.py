"""A run over all users of a tenant: work is made for one after the other, page by page, and it is done when all of
that is (docs/rules/reflect.md#planner)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from neve.domain.ids import ulid_named
from neve.domain.records.jobs import Job
from neve.domain.reflect.night_limits import ENDS_WITHIN
from neve.domain.times import iso, parse
from neve.ports.table import Index, WriteOp
from neve.scope import TenantScope
from neve.store import rows
from neve.store.keys import Keys, UserKeys, reflect_due_until
from neve.usecases.core.jobs.carry_on import Done, Outcome, Run, Wait
from neve.usecases.core.jobs.queued_jobs import NIGHT
from neve.usecases.work.reflect.reflect_user import LOST, NightReport, condense_next
from neve.usecases.work.reflect.run_parts import COUNTS, sum_of_parts

PAGE = 10
"""Users of one page: tenants take turns by it, whatever the queue makes of groups."""


def night_run_id(keys: Keys, night: datetime) -> str:
    """Return the id of the job of one night: the same for every planner."""
    return f"job_{ulid_named(f'night/{keys.tenant}/{iso(night)}')}"


def new_night(keys: UserKeys, job_id: str, now: datetime, until: str, *, regardless: bool, **run: str) -> Job:
    """Make the job of a user, or of ``NOBODY`` for all of a tenant. ``until``: rows that were created by then are old
    enough. ``regardless``: a caller asked for it, so that it is not asked whether it is worth a run. ``run``: of which
    the user's is a part."""
    asked = {"until": until, "regardless": regardless, **run}
    return Job(job_id, NIGHT, "queued", iso(now), user_id=keys.user or None, state=asked, due_at=iso(now))


def reflect_next(report: NightReport, run: Run) -> Outcome | None:
    """Do one step of a night, of a user or of a tenant. Raises as ``condense_next`` does."""
    return condense_next(report, run) if run.work.user_id is not None else _tell_next(report, run)


def _tell_next(report: NightReport, run: Run) -> Outcome:
    """Make work for the users of the next page, and leave the next one to another worker: it then stands behind the
    pages of other tenants. When all were told, wait for them. Raises StoreUnavailable."""
    now = run.scope.ports.clock.now()
    seen = as_it_stands(run.scope, run.work)
    if seen.ended:
        report.nights += not run.work.state["regardless"]
        return Done(seen.result)
    if run.cursor.get("told"):
        return Wait(run.cursor, now, result=seen.result)
    if parse(run.work.created_at) + ENDS_WITHIN < now:
        return Done(seen.result | {"reason": LOST}, status="failed")
    users, behind = _page(run.scope, run.work, run.cursor.get("behind"))
    told = _parts(run, users, now)
    result = {**run.work.result, "users": run.work.result.get("users", 0) + len(told) // 2}
    return Wait({"behind": behind}, None, told, result) if behind else Wait({"told": True}, now, told, result)


def _page(scope: TenantScope, asked: Job, cursor: str | None) -> tuple[list[str], str | None]:
    """Return the users of the next page, and the cursor behind it: those whose rows are due, or all users where the
    caller asked for all."""
    table, keys = scope.ports.table, scope.keys
    if asked.state["regardless"]:
        page = table.query(keys.users, index=Index.RECENT, limit=PAGE, cursor=cursor)
        return [item["recent_sk"] for item in page.items], page.cursor
    bounds = reflect_due_until(asked.state["until"])
    page = table.query(keys.reflect_dues, index=Index.DUE, between=bounds, limit=PAGE, cursor=cursor)
    return [item["user_id"] for item in page.items], page.cursor


def _parts(run: Run, users: Sequence[str], now: datetime) -> list[WriteOp]:
    """Make the jobs of users, each while the user is there."""
    scope, asked, ops = run.scope, run.work, list[WriteOp]()
    keys = [scope.keys.of_user(user) for user in users]
    found = scope.ports.table.get_many([own.head for own in keys]) if keys else {}
    until, regardless = asked.state["until"], asked.state["regardless"]
    for own in keys:
        head, job_id = rows.read_head(found.get(own.head)), f"job_{scope.ports.ids.ulid(now)}"
        if head.state == "active":
            part = new_night(own, job_id, now, until, regardless=regardless, run=asked.id)
            ops += [rows.check_head(own, head), rows.put_queued_job(own, part, head.incarnation)]
    return ops


def is_open_run(job: Job) -> bool:
    return job.kind == NIGHT and job.user_id is None and not job.ended


def as_it_stands(scope: TenantScope, job: Job) -> Job:
    """Return the run with what came of its users so far; done when that is all of them, which the next sweep notes."""
    parts = sum_of_parts(scope, job.id)
    result: dict[str, Any] = {"users": job.result.get("users", 0), "ended": parts["users"], "failed": parts["failed"]}
    seen = replace(job, result=result | {name: parts[name] for name in COUNTS})
    if job.state.get("cursor", {}).get("told") and parts["users"] >= result["users"]:
        return replace(seen, status="done", finished_at=iso(scope.ports.clock.now()))
    return seen
