"""Hands in the filing of a session that ended by itself, and waits for its answer (docs/rules/librarian.md#handed-in).

Its job is the one that waits: nothing else of the filing is kept. While it does, its row is a message of the librarian
queue, which the sweep sends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from neve.domain.records.jobs import Job
from neve.domain.reflect.night_limits import ANSWERED_WITHIN, LOOKS_EVERY
from neve.domain.times import iso, parse
from neve.observing import FilingInput
from neve.ports.table import WriteOp
from neve.scope import SessionScope
from neve.store import rows
from neve.store.incarnation import still_there
from neve.store.transact import transact
from neve.usecases.core.jobs.hand_in import hand_in, owner_of_deletions, put_deletion
from neve.usecases.core.jobs.queued_jobs import HANDED_IN, handed_in_by
from neve.usecases.core.jobs.read_jobs import find_job
from neve.usecases.tell.requests.end_session import UNHURRIED

READ_TO = "read_to"
"""Up to where the log was read for the question: what is said since is filed by another job."""


class AnotherWaits(Exception):
    """Another worker has handed the filing in, or has ended its job."""


def wants_batch(scope: SessionScope, job: Job | None) -> bool:
    """Say whether the filing is to be handed in: the policy says so, no caller ended the session, and it has not."""
    asked = job is not None and job.state.get(UNHURRIED, False) and handed_in_by(job) is None
    return asked and scope.policy.nightly_model == "batch"


def awaited(scope: SessionScope, job: Job | None) -> str | None:
    """Give where the answer may be; None: it is to be asked for at once."""
    name = handed_in_by(job)
    if job is None or name is None or parse(job.created_at) + ANSWERED_WITHIN < scope.ports.clock.now():
        return None
    return name


def read_to(job: Job | None) -> int | None:
    """Give up to where the log is read; None: to its end."""
    to: int | None = job.state["cursor"][READ_TO] if job and handed_in_by(job) is not None else None
    return to


def hand_in_filing(scope: SessionScope, incarnation: int, job: Job, given: FilingInput, last_seq: int) -> bool:
    """Hand the filing in, and note in its job where the answer will be and when to look, with the work that deletes it
    there. False where it is to be asked for at once. Raises AnotherWaits, ModelUnavailable, UserErased,
    StoreUnavailable."""

    def commit(name: str | None) -> None:
        if name is None:
            return
        keys, now = scope.keys, scope.ports.clock.now()
        found = scope.ports.table.get_many([keys.head, owner_of_deletions(keys), keys.job(job.id)])
        head, item = rows.read_head(found.get(keys.head)), found.get(keys.job(job.id))
        still_there(head, incarnation)
        found_job = rows.read_job(item) if item else None
        if handed_in_by(found_job) == name:  # our own commit, whose response was lost
            return
        if found_job is None or found_job.version != job.version:
            raise AnotherWaits
        cursor: dict[str, Any] = {HANDED_IN: name, READ_TO: last_seq}
        waits = replace(job, state=job.state | {"cursor": cursor}, due_at=iso(now + LOOKS_EVERY))
        ops: list[WriteOp] = [rows.check_head(keys, head), rows.put_job(keys, waits)]
        scope.ports.table.write(ops + put_deletion(scope, found, name, job.id))

    return hand_in(scope, [given], commit) is not None


def look_later(scope: SessionScope, job_id: str) -> None:
    """Have the sweep send the job again. Raises StoreUnavailable."""

    def attempt() -> None:
        job = find_job(scope, job_id)
        if job is not None and not job.ended:
            due_at = iso(scope.ports.clock.now() + LOOKS_EVERY)
            scope.ports.table.write([rows.put_job(scope.keys, replace(job, due_at=due_at))])

    transact(scope.ports, attempt)
