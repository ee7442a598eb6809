"""The job of a compaction, and how it gets to its worker (docs/rules/compact.md#triggers)."""

from __future__ import annotations

from typing import Any, Literal

from neve.correlation import carried
from neve.domain.records import Job, Verbosity
from neve.domain.times import iso
from neve.ports import Item, Message, Ports
from neve.scope import SessionScope
from neve.store import rows
from neve.store.keys import SessionKeys
from neve.usecases.jobs.messages.observation import fifo_group

KIND = "compact"
Reason = Literal["tokens", "task", "topic", "end", "manual"]
"""Why: the log has grown, the caller named a boundary, the session ended, somebody asked."""


def compaction_job(scope: SessionScope, reason: Reason, verbosity: Verbosity | None, job_id: str | None = None) -> Job:
    """Not stored yet. ``verbosity`` None: the policy's. ``job_id`` None: a new one."""
    now = scope.ports.clock.now()
    state: dict[str, Any] = {"reason": reason} | ({"verbosity": verbosity} if verbosity else {})
    return Job(
        id=job_id or new_job_id(scope.ports),
        kind=KIND,
        status="queued",
        created_at=iso(now),
        user_id=scope.user,
        session_id=scope.session,
        state=state,
    )


def new_job_id(ports: Ports) -> str:
    return f"job_{ports.ids.ulid(ports.clock.now())}"


def compaction_message(keys: SessionKeys, incarnation: int, job: Job) -> Message:
    """What the compact queue carries of a job."""
    body = {
        "work": KIND,
        "tenant": keys.tenant,
        "user": keys.user,
        "session": keys.session,
        "incarnation": incarnation,
        "job_id": job.id,
        "reason": job.state.get("reason", "manual"),
    }
    if "verbosity" in job.state:
        body["verbosity"] = job.state["verbosity"]
    return Message(carried(body), group=fifo_group(keys), dedup_id=job.id)


def message_of_row(item: Item) -> Message:
    """Of a job that ``rows.put_queued_job`` has stored."""
    job = rows.read_job(item)
    keys = SessionKeys(item["tenant_id"], item["user_id"], item["session_id"])
    return compaction_message(keys, item["incarnation"], job)
