"""The worker behind the extract queue: observe what is new, then reflect if the session has grown enough."""

from __future__ import annotations

from typing import Any

from neve.ports import ModelRefused
from neve.usecases.jobs.finish_job import finish_job
from neve.usecases.observe.observe_session import UserGone, observe_session
from neve.usecases.reflect.reflect_session import reflect_session
from neve.wiring import Ports, Tenant


def extract_session(ports: Ports, tenant: Tenant, body: dict[str, Any]) -> None:
    """One message. Replaying it is a no-op. Raises LeaseHeld, which postpones the message, and what a retry may cure
    (LeaseLost, ModelUnavailable, ReplacementBusy, StoreUnavailable): it then returns to its queue. What a retry cannot
    cure fails the job."""
    user, session, job_id = body["user"], body["session"], body["job_id"]
    try:
        report = observe_session(ports, tenant, user, session, body["incarnation"])
        reflections = reflect_session(ports, tenant, user, session, body["incarnation"])
    except UserGone:
        return
    except ModelRefused as refusal:
        failed = {"reason": f"the language model refused the request: {refusal}"}
        finish_job(ports, tenant, job_id, "observe", user, session, "failed", failed)
        return
    result = report.result() | ({"reflections": reflections} if reflections else {})
    finish_job(ports, tenant, job_id, "observe", user, session, "done", result)
