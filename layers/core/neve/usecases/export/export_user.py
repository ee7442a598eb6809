"""The worker's part of an export (docs/rules/export.md#job)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from neve.domain.jobs.time_limits import LEASE_S, SPARE_S
from neve.domain.records.jobs import Job
from neve.domain.records.users import UserHead
from neve.domain.times import iso
from neve.observing import SecondsLeft, for_ever
from neve.ports.queue import QueueName
from neve.ports.table import WriteOp
from neve.scope import UserScope
from neve.store import rows
from neve.store.transact import transact
from neve.usecases.export.export_lines import Line, Place, export_lines
from neve.usecases.export.withdraw_exports import is_overtaken, remove_parts, withdrawn
from neve.usecases.jobs.queued_jobs import EXPORT, WorkerReplaced, job_message, put_due_job

CONTENT_TYPE = "application/jsonl"
PART_BYTES = 32 * 1024 * 1024
"""A part ends behind the line that reaches this: a worker holds no more of an export than one."""


def export_user(scope: UserScope, job_id: str, seconds_left: SecondsLeft = for_ever) -> None:
    """Write the parts as far as the worker's time goes, then say in the job what is in them, or send it on. A user who
    is erased meanwhile has no job any more, and what was written goes with the second look of the erasure. One that a
    deletion overtakes fails, without its parts. May be repeated, and goes on behind the last part that was noted.
    Raises WorkerReplaced, StoreUnavailable."""
    token = scope.ports.ids.token()
    job = transact(scope.ports, lambda: _take_up(scope, job_id, token))
    if job is None:
        return
    export = _Export(scope, job_id, token, job.state)
    try:
        _write_parts(scope, export, seconds_left)
    except _Overtaken:
        remove_parts(scope, job_id)
        export.fail()


class _Overtaken(Exception):
    """A deletion has overtaken the export: what was written may hold what is deleted."""


def _write_parts(scope: UserScope, export: _Export, seconds_left: SecondsLeft) -> None:
    """Write the parts for which there is time, then finish the job or send it on. Raises WorkerReplaced, _Overtaken,
    StoreUnavailable."""
    export.check()
    for line, place in export_lines(scope, export.behind, export.state.get("gen")):
        export.add(line)
        out_of_time = seconds_left() < SPARE_S
        if place is None or not (out_of_time or export.size >= PART_BYTES):
            continue
        export.put_part(place)
        if out_of_time:
            export.leave(timedelta())
            scope.ports.queue.send(QueueName.JOBS, [job_message(scope.keys, EXPORT, export.job_id)])
            return
        export.leave(timedelta(seconds=LEASE_S), worker=export.token)
    export.finish()


def _take_up(scope: UserScope, job_id: str, token: str) -> Job | None:
    """Take the job up. None when it is done, or another worker may be at it."""
    found, now = scope.ports.table.get_many([scope.keys.head, scope.keys.job(job_id)]), scope.ports.clock.now()
    item, head = found.get(scope.keys.job(job_id)), rows.read_head(found.get(scope.keys.head))
    job = rows.read_job(item) if item else None
    if job is None or job.kind != EXPORT or job.ended:
        return None
    if job.state.get("worker") == token:  # what seemed lost was written
        return job
    if job.state["due_at"] > iso(now):
        return None
    moved = {"due_at": iso(now + timedelta(seconds=LEASE_S)), "worker": token}
    begun = {} if job.state.get("parts") else {"deletions": head.deletions, "gen": head.gen}
    taken = replace(job, status="running", state=begun | job.state | moved)
    scope.ports.table.write([put_due_job(scope.keys, taken)])
    return taken


@dataclass
class _Export:
    """A worker that has taken the job up. ``token``: its own, without which nothing is noted. ``state``: the job's, as
    it was taken up: what is written, and behind which line that ends."""

    scope: UserScope
    job_id: str
    token: str
    state: dict[str, Any]
    size: int = 0
    lines: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.parts: list[dict[str, int]] = list(self.state.get("parts", ()))
        self.counts: Counter[str] = Counter(self.state.get("lines", {}))
        self.behind = Place(*self.state["behind"]) if self.state.get("behind") else None

    def add(self, line: Line) -> None:
        self.lines.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        self.counts[line["type"]] += 1
        self.size += len(self.lines[-1])

    def put_part(self, behind: Place | None) -> None:
        """Store the lines that were added since the last part. ``behind``: where the part ends; None: it is the
        last."""
        number, body = len(self.parts), b"".join(self.lines)
        name = self.scope.keys.export_object(self.job_id, number)
        self.scope.ports.objects.put(name, body, content_type=CONTENT_TYPE)
        self.parts.append({"part": number, "bytes": len(body), "lines": len(self.lines)})
        self.lines, self.size, self.behind = [], 0, behind

    def leave(self, due_in: timedelta, worker: str | None = None) -> None:
        """Note what is written, and the time before which no other worker has to go on. Raises WorkerReplaced."""
        due_at = iso(self.scope.ports.clock.now() + due_in)
        moved = {"due_at": due_at, "worker": worker, "behind": self.behind, **self._written()}
        self._note(lambda job: replace(job, state=job.state | moved))

    def finish(self) -> None:
        """Note in the job that the export is done. Raises WorkerReplaced."""
        if self.lines:
            self.put_part(None)
        now, state = iso(self.scope.ports.clock.now()), self._of_the_end()
        result = self._written()
        self._note(lambda job: replace(job, status="done", finished_at=now, result=result, state=state))

    def check(self) -> None:
        """Make sure that the export may go on, before anything is written of a log that a deletion has changed since
        the export began. Raises WorkerReplaced, _Overtaken."""
        self._read()

    def fail(self) -> None:
        """Note in the job that the export is withdrawn. Raises WorkerReplaced."""
        now, state = self.scope.ports.clock.now(), self._of_the_end()
        self._note(lambda job: withdrawn(replace(job, state=state), now), overtaken=True)

    def _of_the_end(self) -> dict[str, Any]:
        return {name: self.state[name] for name in ("incarnation", "deletions") if name in self.state}

    def _written(self) -> dict[str, Any]:
        return {"lines": dict(self.counts), "parts": self.parts}

    def _note(self, changed: Callable[[Job], Job], *, overtaken: bool = False) -> None:
        transact(self.scope.ports, lambda: self._write(changed, overtaken))

    def _write(self, changed: Callable[[Job], Job], overtaken: bool) -> None:
        """Write the changed job. ``overtaken``: whatever was deleted meanwhile."""
        head, job = self._read(overtaken=overtaken)
        ops: list[WriteOp] = [rows.check_head(self.scope.keys, head), put_due_job(self.scope.keys, changed(job))]
        self.scope.ports.table.write(ops)

    def _read(self, *, overtaken: bool = False) -> tuple[UserHead, Job]:
        """Read the user's row and the job. Raises WorkerReplaced for a user who was erased meanwhile, and once another
        worker has taken the job up; _Overtaken unless ``overtaken``."""
        keys, table = self.scope.keys, self.scope.ports.table
        found = table.get_many([keys.head, keys.job(self.job_id)])
        head, item = rows.read_head(found.get(keys.head)), found.get(keys.job(self.job_id))
        job = rows.read_job(item) if item else None
        if job is None or job.state.get("worker") != self.token:
            raise WorkerReplaced(self.job_id)
        if head.incarnation != job.state["incarnation"] or head.state != "active":
            raise WorkerReplaced(self.job_id)
        if is_overtaken(job, head) and not overtaken:
            raise _Overtaken
        return head, job
