"""Queue the job of a filing that no other job ends with (docs/rules/librarian.md#when)."""

from __future__ import annotations

from neve.domain.records.jobs import Job
from neve.scope import SessionScope
from neve.store import rows
from neve.store.incarnation import still_there
from neve.store.transact import transact


def ask_to_file(scope: SessionScope, incarnation: int, job: Job) -> None:
    """``job``: of that session, whose row is its message. May be repeated: one that is there stays as it is, also one
    that has ended. Raises UserErased, StoreUnavailable."""

    def attempt() -> None:
        keys, table = scope.keys, scope.ports.table
        found = table.get_many([keys.head, keys.job(job.id)])
        user = rows.read_head(found.get(keys.head))
        still_there(user, incarnation)
        if keys.job(job.id) not in found:
            table.write([rows.check_head(keys, user), rows.put_queued_job(keys, job, incarnation)])

    transact(scope.ports, attempt)
