"""E5: the conversation is over. It is closed, observed to its end and compacted; a later append opens it again."""

from __future__ import annotations

from dataclasses import replace

from neve.domain.errors import not_found
from neve.domain.ids import ulid_named
from neve.domain.records.jobs import Job
from neve.domain.records.sessions import Outcome, SessionHead
from neve.ports.errors import Conflict
from neve.scope import SessionScope
from neve.store import rows
from neve.store.transact import transact
from neve.usecases.core.jobs.messages.compaction import compaction_job
from neve.usecases.core.jobs.note_lost import note_lost
from neve.usecases.core.jobs.read_jobs import find_job

UNHURRIED = "unhurried"
"""Says in the state of a job that no caller waits for the session's documents."""


def end_session(scope: SessionScope, outcome: Outcome | None = None) -> Job:
    """End a session, and give its job, one for each state of the log and of what was said of its outcome: a caller that
    ends a session again that nothing was added to, and of which nothing was taken back since, gets the same one, queued
    again where it had failed. Another outcome is told to the job that waits, and is a job of its own behind one that a
    worker has taken up. Session and job are one transaction. Raises session_not_found, erasing, user_closed, conflict,
    StoreUnavailable."""
    return transact(scope.ports, lambda: _end(scope, outcome))


def end_session_as_read(scope: SessionScope, seen: SessionHead) -> Job:
    """End a session for the sweep, because nothing was said for long. Raises Conflict when another writer has changed
    the session since it was ``seen``, or does so now: it may go on."""
    return _end(scope, None, seen)


def _end(scope: SessionScope, outcome: Outcome | None, seen: SessionHead | None = None) -> Job:
    """Try once. Raises Conflict."""
    ports, keys = scope.ports, scope.keys
    found = ports.table.get_many([keys.head, keys.session_head])
    user = rows.read_head(found.get(keys.head))
    rows.writable(user)
    if not rows.is_there(found, keys.session_head):
        raise not_found("session", scope.session)
    head = rows.read_session(found[keys.session_head])
    if seen is not None and head.version != seen.version:
        raise Conflict
    job = find_job(scope, _job_id(scope, user.incarnation, head))
    if job is not None and outcome in (None, head.outcome) and head.status != "open":
        return note_lost(scope, job)
    closed = replace(head, status="closed", outcome=outcome or head.outcome)
    if job is not None and closed.outcome != head.outcome and job.status != "queued":
        closed, job = replace(closed, corrected=(head.corrected or 0) + 1), None
    if job is not None:
        ports.table.write([rows.check_head(keys, user), rows.put_session(keys, closed)])
        return note_lost(scope, job)
    job = compaction_job(scope, "end", None, _job_id(scope, user.incarnation, closed))
    if seen is not None and scope.policy.nightly_model == "batch":
        job = replace(job, state=job.state | {UNHURRIED: True})
    queued = rows.put_queued_job(keys, job, user.incarnation)
    ports.table.write([rows.check_head(keys, user), rows.put_session(keys, closed), queued])
    return job


def has_failed_to_end(scope: SessionScope, incarnation: int, head: SessionHead) -> bool:
    """Say whether the job of a session's end has failed. Raises StoreUnavailable."""
    job = find_job(scope, _job_id(scope, incarnation, head))
    return job is not None and job.status == "failed"


def _job_id(scope: SessionScope, incarnation: int, head: SessionHead) -> str:
    keys, log = scope.keys, f"{head.last_seq}"
    if head.retracted:
        log += f"-{head.retracted}"
    if head.corrected:
        log += f"/{head.corrected}"
    return f"job_{ulid_named(f'end/{keys.tenant}/{keys.user}/{keys.session}/{incarnation}/{log}')}"
