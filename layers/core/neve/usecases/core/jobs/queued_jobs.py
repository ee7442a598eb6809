"""Rows of the work that the jobs queue carries, each of which is its message (docs/rules/jobs.md#work)."""

from __future__ import annotations

from datetime import datetime, timedelta

from neve.correlation import carried
from neve.domain.records.jobs import Job
from neve.domain.times import iso
from neve.ports.engines import Ports
from neve.ports.queue import Message, QueueName
from neve.ports.table import Item, Key, Put, key_of
from neve.store import rows
from neve.store.keys import SessionKeys, UserKeys

ERASURE = "erase"
"""Names the jobs that say of an erasure what it removed: their rows outlive the user's."""
RECEIPT_DAYS = 400
"""How long they can be read: longer than any backup lives (*chosen*)."""
EXPORT = "export"
NIGHT = "reflect"
"""Condensing the rows of a user, or telling all users of a tenant."""
KINDS = (ERASURE, EXPORT, NIGHT)
"""Kinds that callers poll."""
NOBODY = ""
"""The user of work on a whole tenant: there is no row of theirs, and no caller can name them."""
RETENTION = "retain"
"""Removal of the archived events of a session, by whose id it goes."""


class WorkerReplaced(Exception):
    """The worker took longer than it was given, and another one has taken the job up."""


def job_message(keys: UserKeys, kind: str, job_id: str) -> Message:
    """Make the message of a piece of work. Its group is the tenant: the queue is fair between tenants."""
    body = {"work": kind, "tenant": keys.tenant, "user": keys.user, "job_id": job_id}
    return Message(carried(body), group=keys.tenant)


def work_key(keys: UserKeys, kind: str, work_id: str) -> Key:
    """Name the row of a piece of work: a job that callers poll, or one beside its session."""
    return keys.of_session(work_id).archived if kind == RETENTION else keys.job(work_id)


def new_retention(keys: SessionKeys, since: str, incarnation: int) -> Put:
    """Make the work of a session that holds archived events from now on, the oldest of them of a stored time."""
    state = {"due_at": since, "incarnation": incarnation, "cursor": {"since": since}}
    return rows.put_archived(keys, Job(keys.session, RETENTION, "queued", since, keys.user, keys.session, state=state))


def put_work(keys: UserKeys, work: Job) -> Put:
    """Make the put of a piece of work whose row was read."""
    if work.kind == RETENTION:
        return rows.put_archived(keys.of_session(work.id), work)
    return put_due_job(keys, work)


def put_due_job(keys: UserKeys, job: Job, *, new: bool = False) -> Put:
    """Make the put of a job of one of ``KINDS``. It is in the index ``due`` from its ``due_at`` on until it has ended.
    ``new``: the outbox sends it. Its ``state`` names ``due_at`` and the ``incarnation``."""
    put = rows.put_job(keys, job)
    days = RECEIPT_DAYS if job.kind == ERASURE else rows.JOB_DAYS
    expires = datetime.fromisoformat(job.created_at) + timedelta(days=days)
    item = dict(put.item) | {"tenant_id": keys.tenant, "expires_at": int(expires.timestamp())}
    if not job.ended:
        item |= rows.due_keys(rows.WORK, keys, job.id, datetime.fromisoformat(job.state["due_at"]))
    if new:
        item = carried(item | {"type": rows.QUEUED_JOB, "incarnation": job.state["incarnation"]})
    return Put(item, put.expect)


def send_work(ports: Ports, keys: UserKeys, kind: str, job_id: str) -> None:
    """Tell the workers of a piece of work. Raises StoreUnavailable."""
    ports.queue.send(queue_of(kind), [job_message(keys, kind, job_id)])


def queue_of(kind: str) -> QueueName:
    """Name the queue that carries a kind of work: the workers of nights have a language model."""
    return QueueName.REFLECT if kind == NIGHT else QueueName.JOBS


def send_again(ports: Ports, item: Item) -> None:
    """Send a job of the index ``due`` whose time has come: its worker died, or what it waits for is over. The index
    lags, and its buckets are coarse: the row itself says. Raises StoreUnavailable."""
    row = ports.table.get(key_of(item))
    job = rows.read_job(row) if row else None
    if job is not None and not job.ended and job.state["due_at"] <= iso(ports.clock.now()):
        send_work(ports, UserKeys(item["tenant_id"], job.user_id or NOBODY), job.kind, job.id)


def message_of_row(item: Item) -> Message:
    """Make the message of a job of one of ``KINDS`` whose row is to be sent."""
    job = rows.read_job(item)
    return job_message(UserKeys(item["tenant_id"], job.user_id or NOBODY), job.kind, job.id)
