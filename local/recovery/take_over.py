"""What an earlier process was doing when it died is done again at once, and what it had given up is tried again.

Only one process opens a data folder. So when it starts, every message in flight and every lease that was taken for one
belongs to nobody. On AWS nobody can know that, and both are waited for until they run out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from local.engine.sqlite_queue import SqliteQueue
from local.workers.failure_log import report_given_back
from neve.ports.table import Table
from neve.store import rows
from neve.store.keys import SessionKeys, UserKeys
from neve.usecases.core.jobs.queued_jobs import KINDS, RETENTION, put_work, work_key

DUE_KEYS = ("due_pk", "due_sk", "tenant_id")


def take_over(queue: SqliteQueue, table: Table) -> None:
    """Call it before anything else works on the folder. The messages come last: they are how another start would find
    the leases, should this one die as well. Raises StoreUnavailable."""
    bodies = [json.loads(body) for body in queue.in_flight()]
    for log in _sessions(bodies):
        _end_pass(table, log)
        _end_replacement(table, log)
    for keys, kind, work_id in _work(bodies):
        _end_lease(table, keys, kind, work_id)
        _end_replacement(table, keys)
    queue.return_in_flight()
    for name, count in queue.give_back().items():
        report_given_back(name, count)


def _sessions(bodies: Iterable[dict[str, Any]]) -> set[SessionKeys]:
    """Of every message that is about a session."""
    names = ("tenant", "user", "session")
    return {
        SessionKeys(body["tenant"], body["user"], body["session"])
        for body in bodies
        if all(name in body for name in names)
    }


def _work(bodies: Iterable[dict[str, Any]]) -> set[tuple[UserKeys, str, str]]:
    """Of every message about lasting work."""
    found = (body for body in bodies if body.get("work") in (*KINDS, RETENTION))
    return {(UserKeys(body["tenant"], body["user"]), body["work"], body["job_id"]) for body in found}


def _end_lease(table: Table, keys: UserKeys, kind: str, work_id: str) -> None:
    """Whoever is told of it next takes the work up. Not one that waits for its time: nobody works on that."""
    item = table.get(work_key(keys, kind, work_id))
    job = rows.read_job(item) if item else None
    if job is None or job.status != "running" or job.state.get("worker", work_id) is None:
        return
    free = replace(job, due_at=job.created_at)
    table.write([put_work(keys, free)])


def _end_pass(table: Table, keys: SessionKeys) -> None:
    item = table.get(keys.marker)
    marker = rows.read_marker(item) if item else None
    if marker is not None and marker.lease_until is not None:
        table.write([rows.put_marker(keys, replace(marker, lease_until=None))])


def _end_replacement(table: Table, keys: UserKeys) -> None:
    """Its lease is over since it began: the next one finishes or undoes it."""
    head = rows.read_head(table.get(keys.head))
    item = table.get(keys.job(head.replacement_job)) if head.replacement_job else None
    if item is None:
        return
    job = rows.read_job(item)
    put = rows.put_job(keys, replace(job, state=job.state | {"lease_until": job.created_at}))
    put.item.update({name: item[name] for name in DUE_KEYS if name in item})
    table.write([put])
