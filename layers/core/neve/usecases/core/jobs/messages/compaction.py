"""Makes the job of a compaction (docs/rules/compact.md#triggers), and the messages of the compact queue: compactions
and retractions. A caller that took something back does not wait for a burst of appends to end."""

from __future__ import annotations

from typing import Any, Literal

from neve.correlation import carried
from neve.domain.records.epochs import Verbosity
from neve.domain.records.jobs import Job
from neve.domain.times import iso
from neve.ports.engines import Ports
from neve.ports.queue import Message
from neve.ports.table import Item
from neve.scope import SessionScope
from neve.store import rows
from neve.store.keys import SessionKeys, session_named_in
from neve.usecases.core.jobs.messages.observation import fifo_group

COMPACT = "compact"
RETRACT = "retract"
Reason = Literal["tokens", "task", "topic", "end", "manual"]
"""The reasons of a compaction: the log has grown, the caller named a boundary, the session ended, a caller asked."""


def compaction_job(scope: SessionScope, reason: Reason, verbosity: Verbosity | None, job_id: str | None = None) -> Job:
    """Make the job of a compaction, not stored yet. ``verbosity`` None: the policy's. ``job_id`` None: a new one."""
    now = scope.ports.clock.now()
    state: dict[str, Any] = {"reason": reason} | ({"verbosity": verbosity} if verbosity else {})
    return Job(
        id=job_id or new_job_id(scope.ports),
        kind=COMPACT,
        status="queued",
        created_at=iso(now),
        user_id=scope.user,
        session_id=scope.session,
        state=state,
    )


def new_job_id(ports: Ports) -> str:
    return f"job_{ports.ids.ulid(ports.clock.now())}"


def compact_message(keys: SessionKeys, incarnation: int, job: Job) -> Message:
    """Make the message of a job of either kind, as the compact queue carries it."""
    body = {
        "work": job.kind,
        "tenant": keys.tenant,
        "user": keys.user,
        "session": keys.session,
        "incarnation": incarnation,
        "job_id": job.id,
    }
    return Message(carried(body | _details(job)), group=fifo_group(keys), dedup_id=job.id)


def _details(job: Job) -> dict[str, Any]:
    if job.kind == RETRACT:
        return {"retraction": job.state["retraction"]}
    verbosity = {"verbosity": job.state["verbosity"]} if "verbosity" in job.state else {}
    return {"reason": job.state.get("reason", "manual")} | verbosity


def message_of_row(item: Item) -> Message:
    """Make the message of a job that ``rows.put_queued_job`` has stored."""
    job = rows.read_job(item)
    keys = session_named_in(item)
    return compact_message(keys, item["incarnation"], job)
