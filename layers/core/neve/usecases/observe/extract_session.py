"""The worker behind the extract queue: observe what is new, then reflect if the session has grown enough."""

from __future__ import annotations

from typing import Any

from neve.observing import SecondsLeft, for_ever
from neve.ports.errors import ModelRefused
from neve.scope import SessionScope
from neve.store.incarnation import UserErased
from neve.usecases.jobs.finish_job import carry_on_job, finish_job
from neve.usecases.jobs.read_jobs import find_job
from neve.usecases.lag.memory_lag import leave_if_caught_up
from neve.usecases.observe.observe_session import observe_session
from neve.usecases.observe.report import ObservationReport
from neve.usecases.reflect.reflect_session import NoTimeToReflect, reflect_session


def extract_session(
    scope: SessionScope, body: dict[str, Any], seconds_left: SecondsLeft = for_ever
) -> ObservationReport | None:
    """One message: what its passes did, None for a user who was erased. Replaying it is a no-op. Where the report says
    ``left_off_at``, the message is to be sent again.

    Raises LeaseHeld and ReplacementBusy, which postpone the message, and what a retry may cure (LeaseLost,
    ModelUnavailable, StoreUnavailable): it then returns to its queue. What a retry cannot cure fails the job."""
    report = report_so_far(scope, body["job_id"])
    reflections: list[str] = []
    try:
        observe_session(scope, body["incarnation"], report, seconds_left=seconds_left)
        if report.left_off_at is None:
            leave_if_caught_up(scope.data, scope.ports.clock.now())
            reflections = reflect_session(scope, body["incarnation"], seconds_left, report)
    except NoTimeToReflect:
        report.left_off_at = f"{report.observed_seq}.reflect"
    except UserErased:
        return None
    except ModelRefused as refusal:
        report.failure = refusal
        finish_job(scope, body["job_id"], "observe", "failed", report.result() | refused(refusal))
        return report
    result = report.result() | report.reflection() | ({"reflections": reflections} if reflections else {})
    if report.left_off_at is None:
        finish_job(scope, body["job_id"], "observe", "done", result)
    else:
        carry_on_job(scope, body["job_id"], "observe", result)
    return report


def report_so_far(scope: SessionScope, job_id: str) -> ObservationReport:
    """Of the job's earlier workers."""
    job = find_job(scope, job_id)
    return ObservationReport.going_on(job.result if job and job.status == "running" else {})


def refused(refusal: ModelRefused) -> dict[str, Any]:
    """What a failed job says."""
    return {"reason": f"the language model refused the request: {refusal}"}
