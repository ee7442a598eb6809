"""E4: ask for a compaction."""

from __future__ import annotations

from neve.domain.errors import not_found
from neve.domain.records.epochs import Verbosity
from neve.domain.records.jobs import Job
from neve.scope import SessionScope
from neve.store import rows
from neve.store.transact import transact
from neve.usecases.core.jobs.messages.compaction import Reason, compaction_job
from neve.usecases.core.jobs.read_jobs import wait_for_job


def request_compaction(scope: SessionScope, reason: Reason, wait: bool, verbosity: Verbosity | None = None) -> Job:
    """Queue a job, whose row is its message; with ``wait`` polled up to 20 s. Raises session_not_found, erasing,
    user_closed, conflict, StoreUnavailable."""
    keys, table = scope.keys, scope.ports.table
    job = compaction_job(scope, reason, verbosity)

    def attempt() -> None:
        found = table.get_many([keys.head, keys.session_head, keys.job(job.id)])
        head = rows.read_head(found.get(keys.head))
        rows.writable(head)
        if not rows.is_there(found, keys.session_head):
            raise not_found("session", scope.session)
        if keys.job(job.id) not in found:  # else our own commit, whose response was lost
            table.write([rows.check_head(keys, head), rows.put_queued_job(keys, job, head.incarnation)])

    transact(scope.ports, attempt)
    return wait_for_job(scope, job) if wait else job
