"""E4: ask for a compaction."""

from __future__ import annotations

from neve.correlation import carried
from neve.domain.errors import not_found
from neve.domain.records import Job
from neve.domain.times import iso
from neve.ports import Message, QueueName
from neve.store import rows
from neve.usecases.jobs.read_jobs import wait_for_job
from neve.usecases.observe.job import fifo_group
from neve.wiring import Ports, Tenant


def request_compaction(ports: Ports, tenant: Tenant, user: str, session: str, reason: str, wait: bool) -> Job:
    """A queued job; with ``wait`` polled up to 20 s. Raises session_not_found, erasing, user_closed,
    StoreUnavailable."""
    keys = tenant.keys
    found = ports.table.get_many([keys.head(user), keys.session(user, session)])
    if keys.session(user, session) not in found:
        raise not_found("session", session)
    head = rows.read_head(found.get(keys.head(user)))
    rows.writable(head)
    now = ports.clock.now()
    job = Job(f"job_{ports.ids.ulid(now)}", "compact", "queued", iso(now), user_id=user, session_id=session)
    ports.table.write([rows.put_job(keys, job)])
    body = {
        "tenant": tenant.id,
        "user": user,
        "session": session,
        "incarnation": head.incarnation,
        "job_id": job.id,
        "reason": reason,
    }
    ports.queue.send(
        QueueName.COMPACT, [Message(carried(body), group=fifo_group(tenant.id, user, session), dedup_id=job.id)]
    )
    return wait_for_job(ports, tenant, job) if wait else job
