"""Write the outcome of a worker to the row that callers poll."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

from neve.domain.records.jobs import Job
from neve.domain.times import iso
from neve.scope import SessionScope
from neve.store import rows
from neve.store.transact import transact
from neve.usecases.core.jobs.read_jobs import find_job

NOTHING_NEW = "nothing new since the last pass"
"""Reason of an observation that found nothing to read."""

Result = dict[str, Any] | Callable[[dict[str, Any]], dict[str, Any]]
"""The result of a job, or a function from the stored result to the new one: words of what was deleted meanwhile have
been taken out of the stored result by then."""


def finish_job(scope: SessionScope, job_id: str, kind: str, status: Literal["done", "failed"], result: Result) -> None:
    """Write the end of a job, and make its row if it was not asked for before it ran. A job that is done stays as it
    was first done: a redelivered message must not overwrite what the pass wrote with "nothing new". But what a pass did
    takes the place of "nothing new", which a caller that asked between its last commit and this was told."""
    _write(scope, Job(job_id, kind, status, "", finished_at=iso(scope.ports.clock.now())), result)


def carry_on_job(scope: SessionScope, job_id: str, kind: str, result: Result, asked: Job | None = None) -> None:
    """Note that the job runs on in another worker. ``result``: what has been done so far. One that has ended is not
    opened again, nor does one that has failed lose its reason: the worker that ended it has acknowledged its message,
    and one that would end it once more may be dropped as a repeat. ``asked``: a job that nobody may have asked for, as
    a call would write it. From then on its row says when the sweep sends it again: its message may become a dead
    letter, and where everything is observed by then nothing else would end it."""
    _write(scope, Job(job_id, kind, "running", ""), result, asked)


def _write(scope: SessionScope, outcome: Job, result: Result, asked: Job | None = None) -> None:
    def attempt() -> None:
        job = find_job(scope, outcome.id)
        job = job or replace(
            outcome, created_at=iso(scope.ports.clock.now()), user_id=scope.user, session_id=scope.session
        )
        said = result(job.result) if callable(result) else result
        superseded = job.result.get("reason") == NOTHING_NEW != said.get("reason")
        if job.version == 0 or job.status != "done" or superseded:
            stays = job.ended and outcome.status == "running"
            ended, why = (job, _reason(job)) if stays else (outcome, {})
            moved = replace(job, status=ended.status, finished_at=ended.finished_at, result=said | why)
            if asked is not None and moved.due_at is None and not moved.ended:
                moved = replace(moved, state=asked.state, due_at=asked.due_at, incarnation=asked.incarnation)
            scope.ports.table.write([rows.put_job(scope.keys, moved)])

    transact(scope.ports, attempt)


def _reason(job: Job) -> dict[str, Any]:
    """Return the reason of a job that has failed."""
    return {"reason": job.result["reason"]} if job.status == "failed" and "reason" in job.result else {}
