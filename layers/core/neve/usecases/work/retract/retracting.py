"""Keeps how far one worker has come with the job of a retraction (docs/rules/retract.md#job).

The job's row holds what no other row says: which steps are over, what is counted, and a few lists of names. What is to
be erased is found by the rows that are to be erased, the last of which goes last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from neve.domain.records.jobs import Job
from neve.domain.records.retractions import Retraction
from neve.domain.times import iso
from neve.observing import SecondsLeft, for_ever
from neve.ports.table import Put
from neve.scope import SessionScope
from neve.store import rows
from neve.store.incarnation import UserErased
from neve.store.transact import transact
from neve.usecases.work.observe.observe_session import OutOfTime

COPIES, REPLACED, REVERTED = "copies", "replaced", "unfiled"
SUMMARY, ERASED, PACK = "summary", "erased", "pack"
"""Steps of the job that are noted in its state when they are done."""
MEANWHILE = "pack meanwhile"
"""The step that builds the pack without what the model refuses to read. It is built again behind that."""
ROUND_S = 30.0
"""Seconds of a worker's time that a further part of the work needs to begin (*chosen*): with less the next worker goes
on. To look at all that the user has takes some ten seconds for 100,000 events."""


class JobEnded(Exception):
    """Another worker has ended the job, or is ahead: one that still works at it has nothing left to do."""


def is_done(job: Job, step: str) -> bool:
    return step in job.state.get("done", ())


@dataclass
class Retracting:
    """A retraction and its ``job``, as a worker has read it, or written it last. ``counts``: of what was changed and
    removed, by the workers before, too. ``passed``: steps that had nothing to do; both are written with the next note.
    ``touched``: ids of the memories that are to be erased and are still there, where this worker has looked; ``since``:
    the begin of the ids of what may have been made of the session. ``wanted``: the job as a
    write leaves it that may not have come to be."""

    scope: SessionScope
    incarnation: int
    job: Job
    retraction: Retraction
    seconds_left: SecondsLeft = for_ever
    counts: Counter[str] = field(default_factory=Counter)
    passed: list[str] = field(default_factory=list)
    touched: frozenset[str] | None = None
    since: str = ""
    wanted: Job | None = None

    @classmethod
    def read(cls, scope: SessionScope, body: Mapping[str, Any], seconds_left: SecondsLeft) -> Retracting:
        """Read the rows that a message names. Raises UserErased, JobEnded."""
        job_key, own = scope.keys.job(body["job_id"]), scope.keys.retraction(body["retraction"])
        found = scope.ports.table.get_many([job_key, own])
        if len(found) < 2:
            raise UserErased
        job = rows.read_job(found[job_key])
        if job.status == "done":
            raise JobEnded
        counts = Counter(job.state.get("counts", {}))
        return cls(scope, body["incarnation"], job, rows.read_retraction(found[own]), seconds_left, counts)

    def is_done(self, step: str) -> bool:
        return is_done(self.job, step) or step in self.passed

    def listed(self, name: str) -> list[Any]:
        """Give one of the lists of the job's state."""
        return list(self.job.state.get(name, ()))

    def need_time(self) -> None:
        """Check that there is time for more: behind each part of which something was left, and not before it, so that
        every worker gets on. Raises OutOfTime."""
        if self.seconds_left() < ROUND_S:
            raise OutOfTime

    def note(self, *done: str, result: Mapping[str, Any] | None = None, ended: bool = False, **state: Any) -> None:
        """Write what is known by now, unless the row says so. Takes what ``put`` takes, and raises the same."""

        def attempt() -> None:
            put = self.put(*done, result=result, ended=ended, **state)
            if self.wanted != self.job:
                self.scope.ports.table.write([put])
            self.written()

        transact(self.scope.ports, attempt)

    def put(self, *done: str, result: Mapping[str, Any] | None = None, ended: bool = False, **state: Any) -> Put:
        """Make the write of the job's row, for a transaction behind which ``written`` is called: with steps that are
        ``done``, and what its ``state`` and its ``result`` are to say beside what they say. A second one in the place
        of a write that failed reads the row again. Raises UserErased, JobEnded, StoreUnavailable."""
        if self.wanted is not None:
            self.read_again()
        over = list(dict.fromkeys([*self.listed("done"), *self.passed, *done]))
        state |= ({"done": over} if over else {}) | ({"counts": dict(self.counts)} if self.counts else {})
        changed = replace(self.job, state=self.job.state | state, result=self.job.result | dict(result or {}))
        if ended:
            changed = replace(changed, status="done", finished_at=iso(self.scope.ports.clock.now()))
        elif changed != self.job:
            changed = replace(changed, status="running")
        self.wanted = changed
        return rows.put_job(self.scope.keys, changed)

    def written(self) -> None:
        """Take the job as it was to be written."""
        if self.wanted is not None and self.wanted != self.job:
            self.job = replace(self.wanted, version=self.wanted.version + 1)
        self.wanted = None

    def read_again(self) -> None:
        """Read the job's row, which the sweep may have moved, and a write whose answer was lost. Raises UserErased, and
        JobEnded where another worker has noted something."""
        item = self.scope.ports.table.get(self.scope.keys.job(self.job.id))
        if item is None:
            raise UserErased
        found = rows.read_job(item)
        if found.status == "done" or _noted(found) not in map(_noted, filter(None, (self.job, self.wanted))):
            raise JobEnded
        self.job, self.wanted = found, None


def _noted(job: Job) -> bytes:
    return rows.json_bytes([job.state, job.result])
