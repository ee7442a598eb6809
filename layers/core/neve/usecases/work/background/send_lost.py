"""Sends for the sweep what the outbox has not sent, because it gave the batch up that told of it: jobs and deletions
(docs/rules/jobs.md#lost)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from neve.domain.records.jobs import Job
from neve.domain.times import iso, parse
from neve.ports.engines import Ports
from neve.ports.errors import Conflict
from neve.ports.table import Check, Delete, Item, Version, key_of
from neve.store import rows
from neve.store.keys import NOBODY, UserKeys
from neve.store.stream_records import Change
from neve.usecases.core.jobs.queued_jobs import KINDS, handed_in_by
from neve.usecases.work.background.dispatch_changes import dispatch_changes

Lost = Callable[[Job], object]
"""Hears of each job that is sent."""


def ignore_job(_: Job) -> None:
    """Ignore a job, for a caller that asks for the counts alone."""


def send_lost(ports: Ports, item: Item, lost: Lost = ignore_job) -> bool:
    """Send a job of the index ``due``: its row goes through the outbox once more, as the change that made it. False
    where it has ended, or has time left: the index lags, and its buckets are coarse; and of lasting work, or of what
    waits for an answer, of which nothing was lost. Until its end the job is sent after ten minutes, twenty, forty and
    so on: one whose worker fails each time is in the way of no other. Raises StoreUnavailable; then it stays due."""
    now, row = ports.clock.now(), ports.table.get(key_of(item))
    job = rows.read_job(row) if row is not None and row["type"] == rows.QUEUED_JOB else None
    if row is None or job is None or job.due_at is None or job.due_at > iso(now):
        return False
    dispatch_changes(ports, [Change("", None, row)])
    if job.kind in KINDS or handed_in_by(job) is not None:  # its worker says when it is due again
        return False
    keys = UserKeys(row["tenant_id"], job.user_id or NOBODY)
    with contextlib.suppress(Conflict):  # a worker is at it
        ports.table.write([rows.put_job(keys, replace(job, due_at=iso(_next_time(job, now))))])
    lost(job)
    return True


def _next_time(job: Job, now: datetime) -> datetime:
    return now + max(rows.SENT_WITHIN, now - parse(job.created_at))


def resend_deletion(ports: Ports, item: Item) -> bool:
    """Send a deletion or a retraction of the index ``due`` through the outbox once more. False where the search index
    knows of it, and where a memory of that id has been imported since, which tells of itself. Raises Conflict,
    StoreUnavailable; then it stays due."""
    row = ports.table.get(key_of(item))
    if row is None:
        return False
    if row["type"] == rows.RETRACTION:
        return _resend_retraction(ports, row)
    keys = UserKeys(row["tenant_id"], row["user_id"])
    live = ports.table.get(keys.memory(row["id"])) if row["kind"] == "memory" else None
    if live is not None:
        ports.table.write([Delete(key_of(row)), Check(key_of(live), Version(live["version"]))])
        return False
    gone = {name: row[name] for name in ("id", "rev", "tenant_id", "user_id")} | {"type": row["kind"]}
    dispatch_changes(ports, [Change("", gone, None)])
    return True


def _resend_retraction(ports: Ports, row: Item) -> bool:
    """Send a retraction as the change that made the row. The index ``due`` may be behind it."""
    if rows.read_retraction(row).forgotten:
        return False
    dispatch_changes(ports, [Change("", None, row)])
    return True
