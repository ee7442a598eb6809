"""Carries out a worker's part of an erasure (docs/rules/erase.md#job)."""

from __future__ import annotations

from datetime import timedelta

from neve.domain.jobs.time_limits import SPARE_S
from neve.domain.times import iso
from neve.observing import SecondsLeft
from neve.ports.engines import Ports
from neve.ports.queue import QueueName
from neve.scope import UserData
from neve.usecases.core.jobs.queued_jobs import WorkerReplaced
from neve.usecases.work.erase.erase_user import SETTLE_S
from neve.usecases.work.erase.erasure_job import Erasing, erasure_message, take_up
from neve.usecases.work.erase.user_stores import JOBS, left_in_stores, remove_everything


def run_erasure(data: UserData[Ports], job_id: str, seconds_left: SecondsLeft) -> None:
    """Erase as far as the worker's time goes: remove; once everything was removed leave the rest to the sweep until
    ``SETTLE_S`` later; then remove again, list every store, and write the receipt. May be repeated at any point, also
    after a crash in the middle: what was removed by then may be missing from the receipt's counts. Raises
    WorkerReplaced, Conflict when the id was let go meanwhile, StoreUnavailable."""
    clock, work = data.ports.clock, take_up(data, job_id)
    if work is None:
        return
    for piece in remove_everything(data, fence=work.fence, jobs_behind=work.jobs_behind):
        work.note(piece)
        if work.is_over():
            raise WorkerReplaced(job_id)
        if seconds_left() < SPARE_S:
            _hand_on(work)
            return
    if not work.settled:
        work.begin_again()
        work.leave(clock.now() + timedelta(seconds=SETTLE_S), settled=True)
        return
    verified: dict[str, str] = {}
    for store, left in _count_left(work).items():
        if left:  # it came while the others were looked at
            work.begin_again()
            _hand_on(work)
            return
        verified[store] = iso(clock.now())
    work.finish(verified)


def _count_left(work: Erasing) -> dict[str, int]:
    """Count how much each store holds. Jobs are not listed once more: by now nothing makes one of the user's, and a
    worker that has just read all of the tenant's and found none has seen that."""
    return left_in_stores(work.data) | {JOBS: work.jobs_found}


def _hand_on(work: Erasing) -> None:
    work.leave(work.data.ports.clock.now())
    work.data.ports.queue.send(QueueName.JOBS, [erasure_message(work.data.keys, work.job.id)])
