"""The job of observing a session up to one seq. Its id is a function of what it does, so that the automatic pass, a
call of E3 and a redelivered queue message all speak of the same job."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any

from neve.correlation import carried
from neve.domain.ids import ulid_named
from neve.domain.records.jobs import Job
from neve.domain.times import iso
from neve.ports.queue import Message, QueueName
from neve.ports.table import Item
from neve.store import rows
from neve.store.keys import SessionKeys, session_named_in

OBSERVE = "observe"
"""Kind of the job."""


def observation_job_id(keys: SessionKeys, incarnation: int, last_seq: int) -> str:
    return f"job_{ulid_named(f'observe/{keys.tenant}/{keys.user}/{keys.session}/{incarnation}/{last_seq}')}"


def observation_message(keys: SessionKeys, incarnation: int, last_seq: int) -> Message:
    """Make the message of an observation. One group a session keeps passes in order; the dedup id holds the last seq,
    so a burst of triggers for the same log is one message."""
    body: dict[str, Any] = {
        "work": OBSERVE,
        "tenant": keys.tenant,
        "user": keys.user,
        "session": keys.session,
        "incarnation": incarnation,
        "last_seq": last_seq,
        "job_id": observation_job_id(keys, incarnation, last_seq),
    }
    return Message(body=carried(body), group=fifo_group(keys), dedup_id=body["job_id"])


def asked_observation(keys: SessionKeys, incarnation: int, last_seq: int, now: datetime, *, wait: bool = False) -> Job:
    """Make the job as a caller that asks for it at ``now`` writes it: its row is its message. ``wait``: the caller
    waits for it."""
    return Job(
        id=observation_job_id(keys, incarnation, last_seq),
        kind=OBSERVE,
        status="queued",
        created_at=iso(now),
        user_id=keys.user,
        session_id=keys.session,
        state={"last_seq": last_seq, "wait": wait},
        due_at=iso(now + rows.SENT_WITHIN),
        incarnation=incarnation,
    )


def queued_observation(keys: SessionKeys, incarnation: int, job: Job) -> tuple[QueueName, Message]:
    """Return the queue and the message of a job that a caller asked for: a caller that waits goes through the queue
    that has no delay."""
    message = observation_message(keys, incarnation, job.state["last_seq"])
    return QueueName.COMPACT if job.state["wait"] else QueueName.EXTRACT, message


def queued_row(item: Item) -> tuple[QueueName, Message]:
    """Return the queue and the message of a job by its row."""
    keys = session_named_in(item)
    return queued_observation(keys, item["incarnation"], rows.read_job(item))


def fifo_group(keys: SessionKeys) -> str:
    """Return the FIFO group of a session. A group id has at most 128 characters, so the three ids are hashed."""
    return hashlib.sha256(f"{keys.tenant}/{keys.user}/{keys.session}".encode()).hexdigest()
