"""E3: ask for a pass now. The job is one per session and last seq, shared with the automatic pass."""

from __future__ import annotations

from dataclasses import replace

from neve.domain.errors import not_found
from neve.domain.records.jobs import Job
from neve.domain.times import iso
from neve.ports.errors import Conflict
from neve.ports.queue import Message, QueueName
from neve.scope import SessionScope, TenantScope
from neve.store import rows
from neve.usecases.jobs.finish_job import NOTHING_NEW
from neve.usecases.jobs.messages.observation import observation_job_id, observation_message
from neve.usecases.jobs.read_jobs import find_job, wait_for_job


def request_observation(scope: SessionScope, wait: bool) -> Job:
    """The job; done at once when nothing arrived since the last pass. With ``wait`` it is polled up to 20 s, and goes
    through the queue that has no delay.

    Raises session_not_found, erasing, user_closed, StoreUnavailable."""
    keys = scope.keys
    found = scope.ports.table.get_many([keys.head, keys.session_head, keys.marker])
    if keys.session_head not in found:
        raise not_found("session", scope.session)
    head = rows.read_head(found.get(keys.head))
    rows.writable(head)
    last_seq = rows.read_session(found[keys.session_head]).last_seq
    marker = rows.read_marker(found[keys.marker])
    job_id = observation_job_id(keys, head.incarnation, last_seq)
    nothing_new = last_seq <= max(marker.observed_seq, marker.offered_seq)
    job = find_job(scope, job_id)
    if job is None and nothing_new:
        job = _stored(scope, _nothing_to_do(scope, job_id, marker.observed_seq))
    # a job that has not ended is sent whatever is new: another pass, which ends no job but its own, may have observed
    # everything since
    elif job is None or not job.ended or (job.status == "failed" and not nothing_new):
        job = _send(scope, job_id, job, observation_message(keys, head.incarnation, last_seq), wait)
    return wait_for_job(scope, job) if wait else job


def _send(scope: SessionScope, job_id: str, job: Job | None, message: Message, wait: bool) -> Job:
    """The message first: a row without one would stay queued when the caller does not ask again, while a worker makes
    the row of a message that has none."""
    failed = job is not None and job.status == "failed"
    if job is not None and failed:  # the queue has seen this dedup id: ask under another
        message = replace(message, dedup_id=f"{job_id}.{job.version}")
    scope.ports.queue.send(QueueName.COMPACT if wait else QueueName.EXTRACT, [message])
    if job is None:
        return _stored(scope, _queued(scope, job_id))
    return _requeue(scope, job) if failed else job


def _queued(scope: SessionScope, job_id: str) -> Job:
    now = iso(scope.ports.clock.now())
    return Job(job_id, "observe", "queued", now, user_id=scope.user, session_id=scope.session)


def _nothing_to_do(scope: SessionScope, job_id: str, observed_seq: int) -> Job:
    result = {"passes": 0, "written": [], "reinforced": [], "observed_seq": observed_seq, "reason": NOTHING_NEW}
    job = _queued(scope, job_id)
    return replace(job, status="done", finished_at=job.created_at, result=result)


def _stored(scope: SessionScope, job: Job) -> Job:
    """A new job's row, or the one that somebody else made meanwhile."""
    try:
        scope.ports.table.write([rows.put_job(scope.keys, job)])
    except Conflict:
        return find_job(scope, job.id) or job
    return replace(job, version=1)


def _requeue(scope: TenantScope, job: Job) -> Job:
    queued = replace(job, status="queued", finished_at=None, result={})
    try:
        scope.ports.table.write([rows.put_job(scope.keys, queued)])
    except Conflict:
        return find_job(scope, job.id) or job
    return replace(queued, version=job.version + 1)
