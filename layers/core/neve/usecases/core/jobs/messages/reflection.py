"""Makes the messages of the reflect queue, each about one user whose rows are to be condensed, or a tenant whose users
are to be told of one by one. The group is the tenant: the queue is fair between tenants, so that one with many users
does not hold up one with few (docs/adr/0019-the-night-is-a-fair-queue-of-users.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from neve.correlation import carried
from neve.domain.ids import ulid_named
from neve.domain.records.jobs import Job
from neve.ports.queue import Message
from neve.store.keys import Keys, UserKeys

KIND = "reflect"
"""The kind of the job of a user, and of the job of a tenant."""


@dataclass(frozen=True, slots=True)
class ReflectionRequest:
    """A request to condense. ``until``: rows that were created by then are old enough. ``regardless``: a caller asked
    for it, so that it is not asked whether it is worth a run. ``run``: the job of the tenant that the user's is a part
    of."""

    job_id: str
    until: str
    regardless: bool = False
    run: str | None = None

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> ReflectionRequest:
        return cls(body["job_id"], body["until"], body["regardless"], body.get("run"))

    def body(self) -> dict[str, Any]:
        named = {"run": self.run} if self.run is not None else {}
        return {"job_id": self.job_id, "until": self.until, "regardless": self.regardless, **named}


def part_of(keys: UserKeys, run: ReflectionRequest) -> ReflectionRequest:
    """Make the user's part of a run. Its id follows from both, so that a user who is told of twice is condensed
    once."""
    job_id = f"job_{ulid_named(f'reflect/{keys.tenant}/{keys.user}/{run.job_id}')}"
    return ReflectionRequest(job_id, run.until, run.regardless, run.job_id)


def user_message(keys: UserKeys, asked: ReflectionRequest) -> Message:
    body = {"work": "user", "tenant": keys.tenant, "user": keys.user, **asked.body()}
    return Message(carried(body), group=keys.tenant)


def tenant_message(keys: Keys, asked: ReflectionRequest) -> Message:
    return Message(carried({"work": "tenant", "tenant": keys.tenant, **asked.body()}), group=keys.tenant)


def reflection_request(job: Job) -> ReflectionRequest:
    """Read from a job's row what was asked."""
    return ReflectionRequest.of({"job_id": job.id, **job.state})
