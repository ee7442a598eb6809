"""Makes the messages of the librarian queue, each about a session whose log has grown behind what is filed. The group
is the user: the queue is fair between users, so that one whose thousand sessions are ended together holds no other user
up (docs/adr/0027-a-librarian-has-a-queue-of-its-own.md)."""

from __future__ import annotations

from typing import Any

from neve.correlation import carried
from neve.domain.ids import ulid_named
from neve.domain.records.jobs import Job
from neve.domain.times import iso
from neve.ports.queue import Message
from neve.ports.table import Item
from neve.scope import SessionScope
from neve.store import rows
from neve.store.keys import SessionKeys, session_named_in

KIND = "librarian"


def filing_job(scope: SessionScope, incarnation: int, seq_to: int) -> Job:
    """Make the job of filing what a compaction has covered up to ``seq_to``: the same for every worker that finds it
    covered. Not stored yet."""
    keys = scope.keys
    return _job(scope, f"file/{keys.tenant}/{keys.user}/{keys.session}/{incarnation}/{seq_to}")


def refiling_job(scope: SessionScope, retraction_id: str) -> Job:
    """Make the job of filing again after a retraction: the same for every worker of it. Not stored yet."""
    keys = scope.keys
    return _job(scope, f"refile/{keys.tenant}/{keys.user}/{keys.session}/{retraction_id}")


def _job(scope: SessionScope, name: str) -> Job:
    return Job(
        id=f"job_{ulid_named(name)}",
        kind=KIND,
        status="queued",
        created_at=iso(scope.ports.clock.now()),
        user_id=scope.user,
        session_id=scope.session,
    )


def filing_message(keys: SessionKeys, incarnation: int, job_id: str, kind: str) -> Message:
    """Make the message of a filing. ``job_id`` and ``kind``: of the job that ends with it."""
    body: dict[str, Any] = {
        "work": "file",
        "tenant": keys.tenant,
        "user": keys.user,
        "session": keys.session,
        "incarnation": incarnation,
        "job_id": job_id,
        "kind": kind,
    }
    return Message(carried(body), group=f"{keys.tenant}#{keys.user}")


def message_of_row(item: Item) -> Message:
    """Make the message of a job that ``rows.put_queued_job`` has stored."""
    job = rows.read_job(item)
    keys = session_named_in(item)
    return filing_message(keys, item["incarnation"], job.id, job.kind)
