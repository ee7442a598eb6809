"""Keeps the job of an erasure: which worker is at it, how far it is, and its receipt (docs/rules/erase.md#job).

Its row is in the index ``due`` until it is done. ``due_at`` in its state says before when no worker has to touch it: a
worker that took it up is at it until then at the latest, or uploads and workers under way have to run out first. A
worker that finds that time over takes it up: told by the row when it was written, by a worker that hands it on, or by
the sweep. ``jobs`` says how far the tenant's jobs are looked through: behind which row the next worker goes on, and how
many of the user's were found on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from neve.domain.jobs.time_limits import LEASE_S
from neve.domain.records.jobs import Job
from neve.domain.records.users import UserHead
from neve.domain.times import iso
from neve.ports.engines import Ports
from neve.ports.queue import Message
from neve.ports.table import Check, Item
from neve.scope import UserData
from neve.store import rows
from neve.store.keys import UserKeys
from neve.store.transact import transact
from neve.usecases.core.jobs.queued_jobs import ERASURE, WorkerReplaced, job_message
from neve.usecases.tell.requests.request_erasure import put_erasure
from neve.usecases.work.erase.user_stores import Piece

BACKUP_DAYS = 35
"""Point-in-time recovery of a deployed table (infra/data.yaml). One machine keeps no backup of its own."""


@dataclass
class Erasing:
    """A worker that has taken the job up. ``token``: its own, without which nothing is noted. ``fence``: that the user
    is still being erased, without which no row is removed. ``jobs_behind``, ``jobs_found``: of the look through the
    tenant's jobs that is under way, maybe since an earlier worker."""

    data: UserData[Ports]
    job: Job
    token: str
    fence: Check
    jobs_behind: str = ""
    jobs_found: int = 0
    removed: Counter[str] = field(default_factory=Counter)

    @property
    def settled(self) -> bool:
        """Say whether everything was removed once, and what was under way then has run out."""
        return bool(self.job.state["settled"])

    def is_over(self) -> bool:
        """Say whether another worker may be at it by now."""
        return bool(self.job.state["due_at"] <= iso(self.data.ports.clock.now()))

    def note(self, piece: Piece) -> None:
        """Count what has been removed, kept with the job when the worker leaves it."""
        self.removed[piece.store] += piece.removed
        if piece.jobs_behind is not None:
            self.jobs_behind = piece.jobs_behind
            self.jobs_found += piece.removed

    def begin_again(self) -> None:
        """Let the next look go through all of the tenant's jobs."""
        self.jobs_behind, self.jobs_found = "", 0

    def leave(self, due_at: datetime, *, settled: bool | None = None) -> None:
        """Note what was removed, how far that is, and before when no worker has to go on. Raises WorkerReplaced."""
        moved = {
            "due_at": iso(due_at),
            "worker": None,
            "settled": self.settled if settled is None else settled,
            "jobs": {"behind": self.jobs_behind, "found": self.jobs_found},
        }
        transact(self.data.ports, lambda: self._leave(moved))
        self.removed = Counter()

    def _leave(self, moved: dict[str, Any]) -> None:
        job = self._own(self.data.ports.table.get(self.data.keys.job(self.job.id)))
        deleted = dict(Counter(job.state["deleted"]) + self.removed)
        left = replace(job, state=job.state | moved | {"deleted": deleted}, result={"deleted": deleted})
        self.data.ports.table.write([put_erasure(self.data.keys, left)])

    def finish(self, verified: Mapping[str, str]) -> None:
        """Let the id go, and write the receipt, in one transaction. Raises WorkerReplaced."""
        transact(self.data.ports, lambda: self._finish(verified))

    def _finish(self, verified: Mapping[str, str]) -> None:
        found = self.data.ports.table.get_many([self.data.keys.head, self.data.keys.job(self.job.id)])
        head, job = (
            rows.read_head(found.get(self.data.keys.head)),
            self._own(found.get(self.data.keys.job(self.job.id))),
        )
        now, close = self.data.ports.clock.now(), bool(job.state["close"])
        deleted = Counter(job.state["deleted"]) + self.removed
        receipt = {name: {"deleted": deleted[name], "verified_empty_at": at} for name, at in verified.items()}
        backups = iso(now + timedelta(days=BACKUP_DAYS))
        result = {"receipt": receipt, "backups_expire_at": backups, "closed": close}
        done = replace(job, status="done", finished_at=iso(now), result=result, state={"incarnation": head.incarnation})
        at = iso(now)
        free = UserHead(head.gen, head.incarnation, created_at=at, erased=True, version=head.version)
        left = replace(free, state="closed" if close else "active")
        self.data.ports.table.write([rows.put_head(self.data.keys, left), put_erasure(self.data.keys, done)])

    def _own(self, item: Item | None) -> Job:
        job = rows.read_job(item) if item else None
        if job is None or job.state.get("worker") != self.token:
            raise WorkerReplaced(self.job.id)
        return job


def take_up(data: UserData[Ports], job_id: str) -> Erasing | None:
    """Take the job up; None when there is nothing to do now: it is done, or not due yet."""
    token = data.ports.ids.token()
    return transact(data.ports, lambda: _take_up(data, job_id, token))


def _take_up(data: UserData[Ports], job_id: str, token: str) -> Erasing | None:
    ports, keys = data.ports, data.keys
    found, now = ports.table.get_many([keys.head, keys.job(job_id)]), ports.clock.now()
    head, item = rows.read_head(found.get(keys.head)), found.get(keys.job(job_id))
    job = rows.read_job(item) if item else None
    if job is None or job.kind != ERASURE or job.ended:
        return None
    if job.state["due_at"] > iso(now) or head.erasure_job != job_id:
        return None
    lease = iso(now + timedelta(seconds=LEASE_S))
    taken = replace(job, status="running", state=job.state | {"worker": token, "due_at": lease})
    ports.table.write([put_erasure(keys, taken)])
    jobs = job.state.get("jobs", {"behind": "", "found": 0})
    fence = rows.check_head(keys, head)
    return Erasing(data, replace(taken, version=job.version + 1), token, fence, jobs["behind"], jobs["found"])


def erasure_message(keys: UserKeys, job_id: str) -> Message:
    return job_message(keys, ERASURE, job_id)
