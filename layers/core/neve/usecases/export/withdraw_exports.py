"""An export holds the words of the messages that it was made from. When some of them are deleted, it goes as a whole
(docs/rules/export.md#withdrawn)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial

from neve.domain.records.jobs import Job
from neve.domain.records.users import UserHead
from neve.domain.times import iso
from neve.scope import UserScope
from neve.store import rows
from neve.store.incarnation import still_there
from neve.store.keys import job_of_export
from neve.store.transact import transact
from neve.usecases.jobs.queued_jobs import put_due_job

REASON = "Messages of the user were deleted after it began: ask for another export."


def withdraw_exports(scope: UserScope, incarnation: int) -> int:
    """How many there were, once the rows of what is deleted are gone: whoever begins from then on reads none of it.

    The user's row moves first, so that none under way ends, or writes another part that stays: its worker, or the one
    behind it, removes what it has written. Jobs say so before their parts go. May be repeated. Raises UserErased,
    StoreUnavailable, and 409 ``conflict``."""
    transact(scope.ports, partial(_move_user, scope, incarnation))
    held = _held(scope)
    for job_id, names in held.items():
        transact(scope.ports, partial(_withdraw, scope, job_id))
        for name in names:
            scope.ports.objects.delete(name)
    return len(held)


def parts_to_withdraw(scope: UserScope) -> int:
    """How many parts there are of exports that a deletion has overtaken. Raises StoreUnavailable."""
    return sum(map(len, _held(scope).values()))


def is_overtaken(job: Job, head: UserHead) -> bool:
    """Whether messages were deleted since a worker took the job up first."""
    return int(job.state.get("deletions", 0)) < head.deletions


def withdrawn(job: Job, now: datetime) -> Job:
    return replace(job, status="failed", finished_at=job.finished_at or iso(now), result={"reason": REASON})


def remove_parts(scope: UserScope, job_id: str) -> None:
    """Of one export. Raises StoreUnavailable."""
    for name in _parts(scope, job_id):
        scope.ports.objects.delete(name)


def _parts(scope: UserScope, job_id: str) -> Iterator[str]:
    names = scope.ports.objects.list(scope.keys.exports_prefix)
    return (name for name in names if job_of_export(name) == job_id)


def _held(scope: UserScope) -> dict[str, list[str]]:
    """Names of parts, by the job of the export. Of one whose job is gone nobody knows when it began."""
    held: dict[str, list[str]] = {}
    for name in scope.ports.objects.list(scope.keys.exports_prefix):
        held.setdefault(job_of_export(name), []).append(name)
    if not held:
        return held
    table, keys = scope.ports.table, scope.keys
    found = table.get_many([keys.head, *map(keys.job, held)])
    head = rows.read_head(found.pop(keys.head, None))
    jobs = map(rows.read_job, found.values())
    stays = {job.id for job in jobs if not is_overtaken(job, head)}
    return {job_id: names for job_id, names in held.items() if job_id not in stays}


def _move_user(scope: UserScope, incarnation: int) -> None:
    """Raises UserErased, Conflict."""
    head = rows.read_head(scope.ports.table.get(scope.keys.head))
    still_there(head, incarnation)
    scope.ports.table.write([rows.put_head(scope.keys, replace(head, deletions=head.deletions + 1))])


def _withdraw(scope: UserScope, job_id: str) -> None:
    """One under way is left to its worker, who may be about to write a part: it fails with the next note. Raises
    Conflict."""
    item = scope.ports.table.get(scope.keys.job(job_id))
    job = rows.read_job(item) if item else None
    if job is not None and job.status == "done":
        scope.ports.table.write([put_due_job(scope.keys, withdrawn(job, scope.ports.clock.now()))])
