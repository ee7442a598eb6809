"""The worker behind the extract queue: observe what is new, then reflect if the session has grown enough."""

from __future__ import annotations

from typing import Any

from neve.ports import ModelRefused
from neve.scope import SessionScope
from neve.usecases.erase.incarnation import UserErased
from neve.usecases.jobs.finish_job import finish_job
from neve.usecases.observe.observe_session import observe_session
from neve.usecases.reflect.reflect_session import reflect_session
from neve.usecases.sessions.memory_lag import leave_if_caught_up


def extract_session(scope: SessionScope, body: dict[str, Any]) -> None:
    """One message. Replaying it is a no-op. Raises LeaseHeld, which postpones the message, and what a retry may cure
    (LeaseLost, ModelUnavailable, ReplacementBusy, StoreUnavailable): it then returns to its queue. What a retry cannot
    cure fails the job."""
    try:
        report = observe_session(scope, body["incarnation"])
        leave_if_caught_up(scope.ports, scope.keys, scope.ports.clock.now())
        reflections = reflect_session(scope, body["incarnation"])
    except UserErased:
        return
    except ModelRefused as refusal:
        failed = {"reason": f"the language model refused the request: {refusal}"}
        finish_job(scope, body["job_id"], "observe", "failed", failed)
        return
    result = report.result() | ({"reflections": reflections} if reflections else {})
    finish_job(scope, body["job_id"], "observe", "done", result)
