"""Carry on work that outlives its worker: one lease, one fence and one loop for every kind (docs/rules/jobs.md#work).

A kind of work is a step: a function of the work as its row says it to what came of it. A step may be repeated at any
point. So a worker that dies, that loses to another writer, or whose answer is lost is followed by the same step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from neve.domain.jobs.time_limits import LEASE_S, SPARE_S
from neve.domain.records.jobs import Job
from neve.domain.records.users import UserHead
from neve.domain.times import iso
from neve.observing import SecondsLeft, for_ever
from neve.ports.errors import Conflict
from neve.ports.table import Delete, Key, Version, WriteOp
from neve.scope import UserScope
from neve.store import rows
from neve.store.incarnation import UserErased
from neve.store.transact import Rounds, transact
from neve.usecases.core.jobs.queued_jobs import WorkerReplaced, put_work, send_work, work_key

Cursor = Mapping[str, Any]
"""How far the work is, as JSON that only its kind reads."""


@dataclass(frozen=True, slots=True)
class Run:
    """Hold what a step works on. ``head``: of the user; what the step returns is written only where both rows still are
    as they are here."""

    scope: UserScope
    work: Job
    head: UserHead
    seconds_left: SecondsLeft

    @property
    def cursor(self) -> dict[str, Any]:
        return dict(self.work.state.get("cursor", {}))

    def out_of_time(self) -> bool:
        """Tell whether the step is to end here, because the worker may begin no other."""
        return self.seconds_left() < SPARE_S

    def moved(self, outcome: Outcome) -> WriteOp:
        """Make the write of the work's row as the step leaves it, while it is as the step has read it."""
        keys, work, now = self.scope.keys, self.work, self.scope.ports.clock.now()
        if isinstance(outcome, Done):
            if outcome.result is None:
                return Delete(work_key(keys, work.kind, work.id), Version(work.version))
            ended = replace(work, status=outcome.status, finished_at=iso(now), result=outcome.result, due_at=None)
            return put_work(keys, replace(ended, state={"cursor": dict(outcome.cursor)}))
        state = work.state | {"cursor": dict(outcome.cursor)}
        if isinstance(outcome, Wait):
            left = replace(work, due_at=iso(outcome.until or now), state=state | {"worker": None})
        else:
            left = _leased(replace(work, state=state), now, work.state["worker"])
        result = work.result if outcome.result is None else outcome.result
        return put_work(keys, replace(left, result=dict(result)))


@dataclass(frozen=True, slots=True)
class More:
    """Say that the work goes on behind ``cursor``, at once. ``ops``: the step's effect, of the same transaction.
    ``result``: of the job so far; None: as it was."""

    cursor: Cursor
    ops: Sequence[WriteOp] = ()
    result: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """Say that nothing has failed, and nothing is to be done before ``until``, when the sweep sends the work again;
    None: another worker is to go on at once, who has more time."""

    cursor: Cursor
    until: datetime | None = None
    ops: Sequence[WriteOp] = ()
    result: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """Say that the work has ended. ``result``: of the job; None: no caller polls it, and its row goes. ``cursor``: what
    is kept of it for later readers of the job."""

    result: dict[str, Any] | None = None
    ops: Sequence[WriteOp] = ()
    status: Literal["done", "failed"] = "done"
    cursor: Cursor = field(default_factory=dict)


Outcome = More | Wait | Done
Step = Callable[[Run], Outcome | None]
"""A step of a kind. None: it has committed ``Run.moved`` itself, because it writes the user's row, or may not be done
twice for what others write there. Where it raises Conflict, WorkerReplaced or UserErased the rows are read again."""


def carry_on(scope: UserScope, kind: str, work_id: str, step: Step, seconds_left: SecondsLeft = for_ever) -> None:
    """Take the work up, unless it has ended, is not due yet or another worker may be at it, and do its steps as far as
    the worker's time goes; then send it on. Raises WorkerReplaced, what ``step`` raises, 409 ``conflict`` where others
    are faster each time, and StoreUnavailable; then the sweep sends it again when the lease is over."""
    worker = _Worker(scope, work_key(scope.keys, kind, work_id), scope.ports.ids.token())
    if not transact(scope.ports, worker.take_up):
        return
    rounds, hands_on = Rounds(scope.ports), False
    while True:
        rounds.begin()
        run = worker.next_run(seconds_left)
        if run is None:
            return
        try:
            outcome = Wait(run.cursor) if hands_on else step(run)
            if outcome is not None:
                scope.ports.table.write(_fenced(run, outcome))
        except (Conflict, WorkerReplaced, UserErased):
            continue  # another writer was faster, or the answer was lost: the rows say what holds
        if isinstance(outcome, Wait) and outcome.until is None:
            send_work(scope.ports, scope.keys, kind, work_id)
        if isinstance(outcome, Wait | Done):
            return
        rounds, hands_on = Rounds(scope.ports), run.out_of_time()


@dataclass(frozen=True, slots=True)
class _Worker:
    """Hold the lease of the work, under a ``token`` of its own."""

    scope: UserScope
    key: Key
    token: str

    def take_up(self) -> bool:
        """Write the lease; False where there is nothing to do now. Raises Conflict."""
        work, head = self._read()
        if work is None or work.ended or work.incarnation != head.incarnation:
            return False
        if work.state.get("worker") == self.token:  # the answer of this very write was lost
            return True
        now = self.scope.ports.clock.now()
        if (work.due_at or "") > iso(now):
            return False
        taken = _leased(replace(work, status="running"), now, self.token)
        self.scope.ports.table.write([rows.check_head(self.scope.keys, head), put_work(self.scope.keys, taken)])
        return True

    def next_run(self, seconds_left: SecondsLeft) -> Run | None:
        """Read what the next step works on, None once the work has ended. Raises WorkerReplaced."""
        work, head = self._read()
        if work is None or work.ended:
            return None
        if work.state.get("worker") != self.token or work.incarnation != head.incarnation:
            raise WorkerReplaced(work.id)
        return Run(self.scope, work, head, seconds_left)

    def _read(self) -> tuple[Job | None, UserHead]:
        found = self.scope.ports.table.get_many([self.scope.keys.head, self.key])
        item = found.get(self.key)
        return rows.read_job(item) if item else None, rows.read_head(found.get(self.scope.keys.head))


def _leased(work: Job, now: datetime, token: str) -> Job:
    return replace(work, due_at=iso(now + timedelta(seconds=LEASE_S)), state=work.state | {"worker": token})


def _fenced(run: Run, outcome: Outcome) -> list[WriteOp]:
    """Add to what the step writes that the work's row and the user's are as the step has read them: the lease is held,
    and nothing has begun that no step may overlook."""
    return [rows.check_head(run.scope.keys, run.head), run.moved(outcome), *outcome.ops]
