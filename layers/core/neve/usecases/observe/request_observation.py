"""E3: ask for a pass now. The job is one per session and last seq, shared with the automatic pass."""

from __future__ import annotations

from dataclasses import replace

from neve.domain.errors import not_found
from neve.domain.records import Job
from neve.domain.times import iso
from neve.ports import Conflict, QueueName
from neve.scope import SessionScope, TenantScope
from neve.store import rows
from neve.usecases.jobs.read_jobs import find_job, wait_for_job
from neve.usecases.observe.job import observation_job_id, observation_message
from neve.usecases.observe.report import NOTHING_NEW


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
    job = _ensure_job(scope, job_id, marker.observed_seq if nothing_new else None)
    # a job that has not ended is sent whatever is new: the call that made it may have failed to, and another pass,
    # which ends no job but its own, may have observed everything since
    if job.status in ("queued", "running") or (job.status == "failed" and not nothing_new):
        message = observation_message(keys, head.incarnation, last_seq)
        if job.status == "failed":  # the queue has seen this dedup id: ask under another
            job = _requeue(scope, job)
            message = replace(message, dedup_id=f"{job_id}.{job.version}")
        scope.ports.queue.send(QueueName.COMPACT if wait else QueueName.EXTRACT, [message])
    return wait_for_job(scope, job) if wait else job


def _ensure_job(scope: SessionScope, job_id: str, observed_seq: int | None) -> Job:
    """The job's row, made now if it is not there: queued, or done when ``observed_seq`` says that all is observed."""
    job = find_job(scope, job_id)
    if job:
        return job
    now = iso(scope.ports.clock.now())
    job = Job(job_id, "observe", "queued", now, user_id=scope.user, session_id=scope.session)
    if observed_seq is not None:
        result = {"passes": 0, "written": [], "reinforced": [], "observed_seq": observed_seq, "reason": NOTHING_NEW}
        job = replace(job, status="done", finished_at=now, result=result)
    try:
        scope.ports.table.write([rows.put_job(scope.keys, job)])
    except Conflict:
        return find_job(scope, job_id) or job
    return replace(job, version=1)


def _requeue(scope: TenantScope, job: Job) -> Job:
    queued = replace(job, status="queued", finished_at=None, result={})
    try:
        scope.ports.table.write([rows.put_job(scope.keys, queued)])
    except Conflict:
        return find_job(scope, job.id) or job
    return replace(queued, version=job.version + 1)
