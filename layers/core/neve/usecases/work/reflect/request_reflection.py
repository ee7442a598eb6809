"""E14: condense one user or all users now, or say what would be condensed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from neve.domain.records.jobs import Job
from neve.domain.reflect.nightly import eligible, old_enough, runs_of, worth_a_run
from neve.scope import TenantScope, UserScope
from neve.store import rows
from neve.store.keys import NOBODY
from neve.store.tenants.directory import users_of
from neve.store.transact import transact
from neve.usecases.core.memories.candidates import candidate_rows
from neve.usecases.work.reflect.run import new_night

MAX_IDS = 10_000
"""The most ids of one answer: some 400 KB."""
LOOK_S = 15.0
"""The seconds that a look at all users may take: the function has 28 s."""


def request_reflection(scope: TenantScope, user: str | None, min_age_days: float | None) -> Job:
    """Queue a reflection and return its job, whether or not a night would find it worth a run. Raises erasing,
    user_closed, StoreUnavailable."""
    now, keys = scope.ports.clock.now(), scope.keys.of_user(NOBODY if user is None else user)
    job_id, until = f"job_{scope.ports.ids.ulid(now)}", _until(scope, min_age_days)

    def attempt() -> Job:
        head = rows.read_head(scope.ports.table.get(keys.head))
        rows.writable(head)
        job = new_night(keys, job_id, now, until, regardless=True)
        scope.ports.table.write([rows.check_head(keys, head), rows.put_queued_job(keys, job, head.incarnation)])
        return job

    return transact(scope.ports, attempt)


@dataclass(frozen=True, slots=True)
class PlannedBatch:
    user_id: str
    ids: list[str]
    tokens: int


@dataclass(slots=True)
class Plan:
    """The rows that a reflection would condense. ``not_worth``: users whom a night would leave for another one.
    ``complete`` False: there are more users than could be looked at."""

    eligible: list[str] = field(default_factory=list)
    batches: list[PlannedBatch] = field(default_factory=list)
    not_worth: list[str] = field(default_factory=list)
    users: int = 0
    complete: bool = True


def plan_reflection(scope: TenantScope, user: str | None, min_age_days: float | None) -> Plan:
    """Return the rows that ``request_reflection`` would condense, oldest first. Writes nothing. Raises
    StoreUnavailable."""
    plan, until = Plan(), _until(scope, min_age_days)
    ends_ms = scope.ports.clock.monotonic_ms() + LOOK_S * 1000
    for one in _users(scope, user):
        if len(plan.eligible) >= MAX_IDS or scope.ports.clock.monotonic_ms() > ends_ms:
            plan.complete = False
            break
        _plan_user(one, until, plan)
    return plan


def _plan_user(scope: UserScope, until: str, plan: Plan) -> None:
    head = rows.read_head(scope.ports.table.get(scope.keys.head))
    plan.users += 1
    if head.state != "active":
        return
    policy = scope.policy
    old = eligible(candidate_rows(scope, head.gen), until)
    plan.eligible += [memory.id for memory in old]
    for batch in runs_of(old, policy.reflection_trigger):
        plan.batches.append(PlannedBatch(scope.user, [m.id for m in batch], sum(m.tokens for m in batch)))
    if old and not worth_a_run(old, policy.reflection_min_rows, policy.reflection_min_tokens):
        plan.not_worth.append(scope.user)


def _users(scope: TenantScope, user: str | None) -> Iterator[UserScope]:
    if user is not None:
        return iter([scope.of_user(user)])
    return (scope.of_user(one) for one in users_of(scope.ports.table, scope.keys))


def _until(scope: TenantScope, min_age_days: float | None) -> str:
    days = scope.policy.reflection_min_age_days if min_age_days is None else min_age_days
    return old_enough(scope.ports.clock.now(), days)
