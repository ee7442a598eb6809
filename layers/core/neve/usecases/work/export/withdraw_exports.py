"""An export holds the words of the messages that it was made from. When some of them are deleted, it goes as a whole
(docs/rules/export.md#withdrawn)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from neve.domain.records.jobs import Job
from neve.domain.records.users import UserHead
from neve.scope import UserScope
from neve.store import rows
from neve.store.incarnation import still_there
from neve.store.keys import job_of_export
from neve.store.partitions import object_pages
from neve.store.transact import transact
from neve.usecases.core.jobs.queued_jobs import put_work

REASON = "Messages of the user were deleted after it began: ask for another export."


def withdraw_exports(scope: UserScope, incarnation: int, *, moved: bool = False) -> Iterator[str]:
    """The jobs of those there were, each when it is withdrawn, once the rows of what is deleted are gone: whoever
    begins from then on reads none of it.

    The user's row moves first, so that none under way ends, or writes another part that stays: its worker, or the one
    behind it, removes what it has written. Jobs say so before their parts go. May be stopped behind any, and repeated:
    with ``moved`` where that is known of whoever was stopped, so that exports which began since then stay. Raises
    UserErased, StoreUnavailable, and 409 ``conflict``."""
    if not moved:
        transact(scope.ports, partial(_move_user, scope, incarnation))
    for job_id in overtaken_exports(scope):
        transact(scope.ports, partial(_withdraw, scope, job_id))
        remove_parts(scope, job_id)
        yield job_id


def overtaken_exports(scope: UserScope) -> Iterator[str]:
    """The jobs of the exports with parts that a deletion has overtaken. Of one whose job is gone nobody knows when it
    began. Raises StoreUnavailable."""
    table, keys, last = scope.ports.table, scope.keys, ""
    for names in object_pages(scope.ports.objects, keys.exports_prefix):
        jobs = [job_id for job_id in dict.fromkeys(map(job_of_export, names)) if job_id != last]
        last = job_of_export(names[-1])
        found = table.get_many([keys.head, *map(keys.job, jobs)])
        head = rows.read_head(found.pop(keys.head, None))
        stays = {job.id for job in map(rows.read_job, found.values()) if not is_overtaken(job, head)}
        yield from (job_id for job_id in jobs if job_id not in stays)


def is_overtaken(job: Job, head: UserHead) -> bool:
    """Say whether messages were deleted since a worker took the job up first."""
    return int(job.state.get("cursor", {}).get("deletions", 0)) < head.deletions


def remove_parts(scope: UserScope, job_id: str) -> None:
    """Remove the parts of one export. Raises StoreUnavailable."""
    for names in object_pages(scope.ports.objects, scope.keys.export_objects(job_id)):
        for name in names:
            scope.ports.objects.delete(name)


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
        failed = replace(job, status="failed", result={"reason": REASON})
        scope.ports.table.write([put_work(scope.keys, failed)])
