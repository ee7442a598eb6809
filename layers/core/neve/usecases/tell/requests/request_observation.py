"""E3: ask for a pass now. The job is one per session and last seq, shared with the automatic pass."""

from __future__ import annotations

from dataclasses import replace

from neve.domain.errors import not_found
from neve.domain.records.jobs import Job
from neve.domain.times import iso
from neve.ports.errors import Conflict
from neve.ports.table import Put
from neve.scope import SessionScope, TenantScope
from neve.store import rows
from neve.usecases.core.jobs.finish_job import NOTHING_NEW
from neve.usecases.core.jobs.messages.observation import (
    OBSERVE,
    asked_observation,
    observation_job_id,
    queued_observation,
)
from neve.usecases.core.jobs.read_jobs import find_job, wait_for_job


def request_observation(scope: SessionScope, wait: bool) -> Job:
    """Queue a pass and return its job; the job is done at once when nothing arrived since the last pass. With ``wait``
    it is polled up to 20 s, and goes through the queue that has no delay.

    Raises session_not_found, erasing, user_closed, StoreUnavailable."""
    keys = scope.keys
    found = scope.ports.table.get_many([keys.head, keys.session_head, keys.marker])
    head = rows.read_head(found.get(keys.head))
    rows.writable(head)
    if not rows.is_there(found, keys.session_head):
        raise not_found("session", scope.session)
    last_seq = rows.read_session(found[keys.session_head]).last_seq
    marker = rows.read_marker(found[keys.marker])
    job_id = observation_job_id(keys, head.incarnation, last_seq)
    nothing_new = last_seq <= max(marker.observed_seq, marker.offered_seq)
    job = find_job(scope, job_id)
    if job is None and nothing_new:
        job = _nothing_to_do(scope, job_id, marker.observed_seq)
        job = _stored(scope, job, rows.put_job(keys, job))
    # a job that has not ended is sent whatever is new: another pass, which ends no job but its own, may have observed
    # everything since
    elif job is None or not job.ended or (job.status == "failed" and not nothing_new):
        asked = asked_observation(keys, head.incarnation, last_seq, scope.ports.clock.now(), wait=wait)
        job = _send(scope, head.incarnation, job, asked)
    return wait_for_job(scope, job) if wait else job


def _send(scope: SessionScope, incarnation: int, job: Job | None, asked: Job) -> Job:
    """Send the job's message, and then store the job. ``job``: as it is stored now. The message is first: a call that
    could not be sent leaves no job, while a worker makes the row of a message that has none. That of the outbox, and of
    the sweep while the job has not ended, is the same one."""
    queue, message = queued_observation(scope.keys, incarnation, asked)
    if job is not None and job.status == "failed":  # the queue has seen this dedup id: ask under another
        message = replace(message, dedup_id=f"{job.id}.{job.version}")
    scope.ports.queue.send(queue, [message])
    if job is None:
        job = _stored(scope, asked, rows.put_queued_job(scope.keys, asked, incarnation))
    return _due(scope, job, asked)


def _nothing_to_do(scope: SessionScope, job_id: str, observed_seq: int) -> Job:
    now = iso(scope.ports.clock.now())
    result = {"passes": 0, "written": [], "reinforced": [], "observed_seq": observed_seq, "reason": NOTHING_NEW}
    return Job(
        job_id, OBSERVE, "done", now, user_id=scope.user, session_id=scope.session, finished_at=now, result=result
    )


def _stored(scope: SessionScope, job: Job, put: Put) -> Job:
    """Store a new job, or return the one whose row another caller or a worker made meanwhile."""
    try:
        scope.ports.table.write([put])
    except Conflict:
        return find_job(scope, job.id) or job
    return replace(job, version=1)


def _due(scope: TenantScope, job: Job, asked: Job) -> Job:
    """Queue the job again where it has failed; make it due where only a worker made it, and no caller had asked for
    it."""
    if job.status == "done" or (job.status != "failed" and job.due_at is not None):
        return job
    noted = replace(job, state=asked.state, due_at=asked.due_at, incarnation=asked.incarnation)
    if job.status == "failed":
        noted = replace(noted, status="queued", finished_at=None, result={})
    try:
        scope.ports.table.write([rows.put_job(scope.keys, noted)])
    except Conflict:
        return find_job(scope, job.id) or job
    return replace(noted, version=job.version + 1)
