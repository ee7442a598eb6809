"""Rows of the work that the jobs queue carries, each of which is its message (docs/rules/jobs.md#work)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from neve.correlation import carried
from neve.domain.records.jobs import Job
from neve.domain.times import iso
from neve.ports.engines import Ports
from neve.ports.queue import Message, QueueName
from neve.ports.table import Item, Key, Put
from neve.store import rows
from neve.store.keys import NOBODY, SessionKeys, UserKeys

ERASURE = "erase"
"""Names the jobs that say of an erasure what it removed: their rows outlive the user's."""
EXPORT = "export"
FORGET = "forget"
"""Deleting what a caller was shown, and has confirmed."""
NIGHT = "reflect"
"""Condensing the rows of a user, or telling all users of a tenant."""
HANDED_IN = "handed_in"
"""Deleting at the model's provider what a job has handed in, once no job waits for it."""
REINDEX = "reindex"
"""Making the vectors of a tenant anew, because the languages of its policy have changed."""
KINDS = (ERASURE, EXPORT, FORGET, HANDED_IN, NIGHT, REINDEX)
"""Kinds whose row is their message; callers poll all of them but what was handed in."""
RETENTION = "retain"
"""Removal of the archived events of a session, by whose id it goes."""


class WorkerReplaced(Exception):
    """The worker took longer than it was given, and another one has taken the job up."""


def handed_in_by(job: Job | None) -> str | None:
    """Give the name of what a job has handed in, and waits for."""
    name: str | None = job.state.get("cursor", {}).get(HANDED_IN) if job else None
    return name


def job_message(keys: UserKeys, kind: str, job_id: str) -> Message:
    """Make the message of a piece of work. Its group is the tenant: the queue is fair between tenants."""
    body = {"work": kind, "tenant": keys.tenant, "user": keys.user, "job_id": job_id}
    return Message(carried(body), group=keys.tenant)


def work_key(keys: UserKeys, kind: str, work_id: str) -> Key:
    """Name the row of a piece of work: a job that callers poll, or one beside its session."""
    return keys.of_session(work_id).archived if kind == RETENTION else keys.job(work_id)


def new_retention(keys: SessionKeys, since: str, incarnation: int) -> Put:
    """Make the work of a session that holds archived events from now on, the oldest of them of a stored time."""
    work = Job(keys.session, RETENTION, "queued", since, keys.user, keys.session, state={"cursor": {"since": since}})
    return rows.put_archived(keys, replace(work, due_at=since, incarnation=incarnation))


def new_reindex(job_id: str, now: datetime) -> Job:
    """Make the job of a tenant whose policy names other languages."""
    return Job(job_id, REINDEX, "queued", iso(now), due_at=iso(now))


def put_work(keys: UserKeys, work: Job) -> Put:
    """Make the put of a piece of work whose row was read."""
    if work.kind == RETENTION:
        return rows.put_archived(keys.of_session(work.id), work)
    return rows.put_job(keys, work)


def send_work(ports: Ports, keys: UserKeys, kind: str, job_id: str) -> None:
    """Tell the workers of a piece of work. Raises StoreUnavailable."""
    ports.queue.send(queue_of(kind), [job_message(keys, kind, job_id)])


def queue_of(kind: str) -> QueueName:
    """Name the queue that carries a kind of work: the workers of nights have a language model."""
    return QueueName.REFLECT if kind in (HANDED_IN, NIGHT) else QueueName.JOBS


def message_of_row(item: Item) -> Message:
    """Make the message of a job of one of ``KINDS`` whose row is to be sent."""
    job = rows.read_job(item)
    return job_message(UserKeys(item["tenant_id"], job.user_id or NOBODY), job.kind, job.id)
