"""The worker behind the extract queue: observe what is new, then reflect if the session has grown enough."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Any

from neve.domain.errors import NeveError
from neve.domain.records.jobs import Job
from neve.observing import SecondsLeft, for_ever
from neve.ports.errors import ContentRefused, ModelRefused, StoreUnavailable
from neve.scope import SessionScope
from neve.store.incarnation import UserErased
from neve.usecases.core.jobs.finish_job import carry_on_job, finish_job
from neve.usecases.core.jobs.messages.observation import OBSERVE, asked_observation
from neve.usecases.core.jobs.read_jobs import find_job
from neve.usecases.core.lag.memory_lag import leave_if_caught_up
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.reflect.reflect_session import NoTimeToReflect, reflect_session


def extract_session(
    scope: SessionScope,
    body: dict[str, Any],
    seconds_left: SecondsLeft = for_ever,
    report: ObservationReport | None = None,
) -> ObservationReport | None:
    """Observe what a message names, and report what its passes did; None for a user who was erased. Replaying it is a
    no-op. Where the report says ``left_off_at``, the message is to be sent again. ``report``: hears of it also where
    this raises.

    Raises LeaseHeld and ReplacementBusy, which postpone the message, and what a retry may cure (LeaseLost,
    ModelUnavailable, StoreUnavailable): it then returns to its queue. What a retry cannot cure fails the job."""
    report = report_so_far(scope, body["job_id"], report)
    reflections: list[str] = []
    try:
        observe_session(scope, body["incarnation"], report, seconds_left=seconds_left)
        if report.left_off_at is None:
            leave_if_caught_up(scope.data, scope.ports.clock.now())
            reflections = _reflected(scope, body, seconds_left, report)
    except NoTimeToReflect:
        report.left_off_at = f"{report.observed_seq}.reflect"
    except UserErased:
        return None
    except ModelRefused as refusal:
        report.failure = refusal
        finish_job(scope, body["job_id"], OBSERVE, "failed", report.result() | refused(refusal))
        return report
    except Exception:
        keep_committed(scope, body["job_id"], OBSERVE, report, _asked(scope, body))
        raise
    result = report.result() | report.reflection() | ({"reflections": reflections} if reflections else {})
    if report.left_off_at is None:
        finish_job(scope, body["job_id"], OBSERVE, "done", result)
    else:
        carry_on_job(scope, body["job_id"], OBSERVE, result, _asked(scope, body))
    return report


def _reflected(
    scope: SessionScope, body: dict[str, Any], seconds_left: SecondsLeft, report: ObservationReport
) -> list[str]:
    """Rows that the model will not read, or gives no usable answer about, stay as they are: the passes before have done
    what was asked, and the job says so before the model is asked: a copy of its message would else end it with
    "nothing new". Raises as ``reflect_session`` does."""
    begins = partial(keep_committed, scope, body["job_id"], OBSERVE, report, _asked(scope, body))
    try:
        return reflect_session(scope, body["incarnation"], seconds_left, report, begins)
    except ContentRefused as refusal:
        report.not_reflected = refused(refusal)["reason"]
        return []


def _asked(scope: SessionScope, body: dict[str, Any]) -> Job:
    """Turn a message, whoever sent it, into the request that a caller would make for its pass now."""
    return asked_observation(scope.keys, body["incarnation"], body["last_seq"], scope.ports.clock.now())


def report_so_far(scope: SessionScope, job_id: str, report: ObservationReport | None = None) -> ObservationReport:
    """Return the report of the job's earlier workers. ``report``: a new one, into which theirs is read."""
    job, report = find_job(scope, job_id), report or ObservationReport()
    report.go_on(job.result if job and job.status in ("running", "failed") else {})
    if job and job.status == "failed":
        report.reason = None
    return report


def keep_committed(
    scope: SessionScope, job_id: str, kind: str, report: ObservationReport, asked: Job | None = None
) -> None:
    """Keep in the job's result what a worker has committed, before it fails or goes on with a reflection; another
    worker goes on from there. Best effort, because the worker has another matter: what was committed by one that is
    killed, or that cannot reach the store any more, is not in the result. ``asked``: see ``carry_on_job``."""
    if report.committed:
        with contextlib.suppress(NeveError, StoreUnavailable):
            carry_on_job(scope, job_id, kind, report.result(), asked)


def refused(refusal: ModelRefused) -> dict[str, Any]:
    """Return the result of a job that failed because the model refused."""
    return {"reason": f"the language model refused the request: {refusal}"}
