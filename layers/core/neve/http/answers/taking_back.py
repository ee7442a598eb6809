"""E2 retract, and a session that is deleted as a whole."""

from __future__ import annotations

from neve.http.operations import Nothing
from neve.http.router import Answer, Call, Router
from neve.http.schemas.retract import retractions as r
from neve.usecases.tell.requests.retract_events import WHOLE, retract_events


def bind_taking_back(router: Router) -> None:
    router.on(r.RETRACT_EVENTS)(_retracted)
    router.on(r.DELETE_SESSION)(_deleted)


def _retracted(call: Call[Nothing, r.RetractBody]) -> Answer:
    return Answer(body=r.RetractedOut.of(retract_events(call.session, call.body.command(), call.idempotency)))


def _deleted(call: Call[Nothing, Nothing]) -> Answer:
    deleted = retract_events(call.session, WHOLE, call.idempotency)
    return Answer(body=r.SessionDeletedOut(id=call.session.session, job_id=deleted.job_id or None))
