"""The job of condensing one user: taken up under a lease, moved on with every batch, and ended together with the user's
place in the index of due users (docs/rules/reflect.md#worker).

Whoever takes the user up writes a token of its own on both rows. Nothing is committed without it: a worker that was
taken for dead and is not finds another one there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Literal

from neve.domain.records.jobs import Job
from neve.domain.records.memories import Memory
from neve.domain.records.users import ReflectDue
from neve.domain.reflect.night_limits import GIVEN_UP_AFTER, LEASE_S
from neve.domain.reflect.nightly import due_again, worth_a_run
from neve.domain.times import iso, parse
from neve.ports.table import Delete, Item, Key, Version, WriteOp
from neve.scope import UserScope
from neve.store import rows
from neve.store.transact import transact
from neve.usecases.core.jobs.messages.reflection import KIND, ReflectionRequest
from neve.usecases.core.tenants.usage import model_usage, usage_put
from neve.usecases.work.reflect.run_parts import COUNTS, part_put, part_row

GIVEN_UP = "given_up"
"""The field in the state of a job whose message had become a dead letter."""
LOST = "its message was given up; the next night goes on"


class UserBusy(Exception):
    """Another worker is at the user, or died less than LEASE_S ago."""


class WorkerReplaced(Exception):
    """The lease ended, and another worker has taken the user up: nothing may be written any more."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The cost of a model's answer."""

    calls: int
    usage: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NightJob:
    """The job of one user, held by this worker. ``token``: this worker's. ``cursors``: behind which row each part of
    the batches goes on."""

    scope: UserScope
    asked: ReflectionRequest
    token: str
    incarnation: int
    gen: int
    cursors: Mapping[str, tuple[str, str]]
    begun: bool

    # --- on the way -----------------------------------------------------------------------------

    def moved_on(self, part: str, at: tuple[str, str], answered: Answered, **counts: int) -> list[WriteOp]:
        """Return what is committed with a batch: how far the job is, what has been done, what it cost. Raises
        WorkerReplaced."""
        keys = self.scope.keys
        found = self.scope.ports.table.get_many([keys.job(self.asked.job_id), keys.usage])
        job = self._own(found)
        result = {name: job.result.get(name, 0) + counts.get(name, 0) for name in COUNTS}
        result["batches"] = job.result.get("batches", 0) + 1
        cursors = {**job.state.get("cursors", {}), part: list(at)}
        ops: list[WriteOp] = [rows.put_job(keys, replace(job, state=job.state | {"cursors": cursors}, result=result))]
        if answered.usage:
            counted = model_usage(answered.calls, answered.usage)
            ops.append(usage_put(keys, found.get(keys.usage), counted))
        return ops

    def note(self, part: str, at: tuple[str, str], answered: Answered, **counts: int) -> None:
        """Commit how far the job is after a batch that came to nothing. Only the worker that holds the job's token
        moves it: where it has come to ``at`` already, an answer to this write was lost."""
        table, key = self.scope.ports.table, self.scope.keys.job(self.asked.job_id)

        def attempt() -> None:
            cursors = self._own(table.get_many([key])).state.get("cursors", {})
            if cursors.get(part) != list(at):
                table.write(self.moved_on(part, at, answered, **counts))

        transact(self.scope.ports, attempt)

    # --- the end --------------------------------------------------------------------------------

    def end(self, left: Sequence[Memory], status: Literal["done", "failed"] = "done", **fields: Any) -> None:
        """End the job. ``left``: the user's candidates that were not replaced, which decide when the next run is worth
        it. ``fields``: of the job's result. Raises WorkerReplaced."""
        policy = self.scope.policy

        def worth(rows_: Sequence[Memory]) -> bool:
            return worth_a_run(rows_, policy.reflection_min_rows, policy.reflection_min_tokens)

        since = due_again(left, self.asked.until, worth)
        transact(self.scope.ports, lambda: self._end(since, status, fields))

    def _end(self, since: str | None, status: Literal["done", "failed"], fields: Mapping[str, Any]) -> None:
        keys, table = self.scope.keys, self.scope.ports.table
        part = part_row(keys, self.asked.run)
        found = table.get_many([keys.reflect_due, keys.job(self.asked.job_id), *part])
        job, due = self._own(found), rows.read_reflect_due(found.get(keys.reflect_due))
        result = {**dict.fromkeys(COUNTS, 0), **job.result, **fields}
        now = self.scope.ports.clock.now()
        ended = replace(job, status=status, finished_at=iso(now), result=result)
        ops: list[WriteOp] = [rows.put_job(keys, ended)]
        if due is not None and due.worker == self.token:
            ops.append(_left_or_moved(self.scope, due, since))
        if not job.state.get(GIVEN_UP):  # else its run has counted it
            ops += [part_put(key, found.get(key), result, now, failed=status == "failed") for key in part]
        table.write(ops)

    def hand_on(self) -> None:
        """Let another worker take the user up at once. Best effort: the lease ends by itself."""
        transact(self.scope.ports, self._hand_on)

    def _hand_on(self) -> None:
        keys = self.scope.keys
        due = rows.read_reflect_due(self.scope.ports.table.get(keys.reflect_due))
        if due is not None and due.worker == self.token:
            freed = replace(due, worker=None, lease_until=None, since=min(due.since, due.again or due.since))
            self.scope.ports.table.write([rows.put_reflect_due(keys, replace(freed, again=None))])

    def _own(self, found: Mapping[Key, Item]) -> Job:
        item = found.get(self.scope.keys.job(self.asked.job_id))
        job = rows.read_job(item) if item else None
        if job is None or job.state.get("worker") != self.token or job.status != "running":
            raise WorkerReplaced(self.scope.user)
        return job


def take_up(scope: UserScope, asked: ReflectionRequest) -> NightJob | None:
    """Take the job of a user up. None when there is nothing to do: the job is done, or the user is gone. Raises
    UserBusy."""
    token = scope.ports.ids.token()
    return transact(scope.ports, lambda: _take_up(scope, asked, token))


def _take_up(scope: UserScope, asked: ReflectionRequest, token: str) -> NightJob | None:
    keys, ports = scope.keys, scope.ports
    part = part_row(keys, asked.run)
    found = ports.table.get_many([keys.head, keys.reflect_due, keys.job(asked.job_id), *part])
    head, now = rows.read_head(found.get(keys.head)), ports.clock.now()
    due = rows.read_reflect_due(found.get(keys.reflect_due))
    item = found.get(keys.job(asked.job_id))
    job = rows.read_job(item) if item else Job(asked.job_id, KIND, "queued", iso(now), user_id=scope.user)
    if job.ended and not job.state.get(GIVEN_UP):
        return None
    if head.version == 0 or head.state != "active":
        # without the user's id, which nobody would remove any more
        gone = replace(
            job, status="done", user_id=None, finished_at=iso(now), result={"reason": "there is no such user"}
        )
        ops: list[WriteOp] = [rows.put_job(keys, gone)]
        ports.table.write(ops + [part_put(key, found.get(key), gone.result, now, failed=False) for key in part])
        return None
    if due is not None and due.lease_until is not None and due.lease_until > iso(now) and due.worker != token:
        raise UserBusy(scope.user)
    taken = replace(
        due or ReflectDue(since=asked.until), worker=token, lease_until=iso(now + timedelta(seconds=LEASE_S))
    )
    so_far = {name: value for name, value in job.result.items() if name != "reason"}
    running = replace(job, status="running", state={**job.state, **asked.body(), "worker": token}, result=so_far)
    running = replace(running, finished_at=None)
    ports.table.write(
        [rows.check_head(keys, head), rows.put_reflect_due(keys, taken, token), rows.put_job(keys, running)]
    )
    cursors = {part: (at[0], at[1]) for part, at in job.state.get("cursors", {}).items()}
    return NightJob(scope, asked, token, head.incarnation, head.gen, cursors, bool(so_far))


def give_up(scope: UserScope, asked: ReflectionRequest, reason: str) -> None:
    """Note that the job has failed, because its message is not delivered any more. The user stays due, and the next
    night goes on. A message that an operator gives back takes the job up all the same. Nothing is noted where the job
    has ended, or the user is gone."""
    transact(scope.ports, lambda: _give_up(scope, asked, reason))


def _give_up(scope: UserScope, asked: ReflectionRequest, reason: str) -> None:
    keys, now = scope.keys, scope.ports.clock.now()
    part = part_row(keys, asked.run)
    found = scope.ports.table.get_many([keys.head, keys.job(asked.job_id), *part])
    head, item = rows.read_head(found.get(keys.head)), found.get(keys.job(asked.job_id))
    job = rows.read_job(item) if item else Job(asked.job_id, KIND, "queued", iso(now), user_id=scope.user)
    if job.ended or head.version == 0 or head.state != "active":
        return
    counted = bool(job.state.get(GIVEN_UP))
    state = {**job.state, **asked.body(), GIVEN_UP: True}
    failed = replace(job, status="failed", finished_at=iso(now), state=state, result={**job.result, "reason": reason})
    ops: list[WriteOp] = [rows.check_head(keys, head), rows.put_job(keys, failed)]
    if not counted:
        ops += [part_put(key, found.get(key), failed.result, now, failed=True) for key in part]
    scope.ports.table.write(ops)


def lost_its_message(scope: UserScope, job: Job) -> bool:
    """Say whether no worker is at the job of a user, and none will be."""
    now = scope.ports.clock.now()
    if job.ended or parse(job.created_at) + GIVEN_UP_AFTER > now:
        return False
    due = rows.read_reflect_due(scope.ports.table.get(scope.keys.reflect_due))
    return due is None or due.lease_until is None or due.lease_until < iso(now)


def _left_or_moved(scope: UserScope, due: ReflectDue, since: str | None) -> WriteOp:
    """Take the user out of the index, or keep them in it from the row on with which a run will be worth it. Rows that
    came while the worker was at the user keep them in it."""
    times = [at for at in (since, due.again) if at is not None]
    if not times:
        return Delete(scope.keys.reflect_due, Version(due.version))
    return rows.put_reflect_due(scope.keys, replace(ReflectDue(min(times)), version=due.version))
