"""E4: ask for a compaction."""

from __future__ import annotations

from neve.correlation import carried
from neve.domain.errors import not_found
from neve.domain.records import Job
from neve.domain.times import iso
from neve.ports import Conflict, Message, QueueName
from neve.scope import SessionScope
from neve.store import rows
from neve.store.keys import SessionKeys
from neve.usecases.jobs.read_jobs import find_job, wait_for_job
from neve.usecases.observe.job import fifo_group


def request_compaction(scope: SessionScope, reason: str, wait: bool) -> Job:
    """A queued job; with ``wait`` polled up to 20 s. Raises session_not_found, erasing, user_closed, StoreUnavailable;
    a call that could not be sent leaves no job."""
    keys = scope.keys
    found = scope.ports.table.get_many([keys.head, keys.session_head])
    if keys.session_head not in found:
        raise not_found("session", scope.session)
    head = rows.read_head(found.get(keys.head))
    rows.writable(head)
    now = scope.ports.clock.now()
    job_id = f"job_{scope.ports.ids.ulid(now)}"
    job = Job(
        id=job_id,
        kind="compact",
        status="queued",
        created_at=iso(now),
        user_id=scope.user,
        session_id=scope.session,
        state={"reason": reason},
    )
    # the message first: a row without one would stay queued for as long as it is kept, while a worker makes the row of
    # a message that has none
    scope.ports.queue.send(QueueName.COMPACT, [compaction_message(keys, head.incarnation, job)])
    try:
        scope.ports.table.write([rows.put_job(keys, job)])
    except Conflict:  # that worker was faster
        job = find_job(scope, job.id) or job
    return wait_for_job(scope, job) if wait else job


def compaction_message(keys: SessionKeys, incarnation: int, job: Job) -> Message:
    """What the compact queue carries of a job."""
    body = {
        "work": "compact",
        "tenant": keys.tenant,
        "user": keys.user,
        "session": keys.session,
        "incarnation": incarnation,
        "job_id": job.id,
        "reason": job.state.get("reason", "manual"),
    }
    return Message(carried(body), group=fifo_group(keys), dedup_id=job.id)
