"""The compact queue: what callers wait for. Observe a session now, or observe it to its end and move its horizon. And
E3, which asks for a pass: a dry run is one within the call, and needs a function that knows the model's key."""

from __future__ import annotations

from typing import Any

from neve import wiring
from neve.http.answers.job import job_once, observation_answer
from neve.http.operations import Nothing
from neve.http.router import Answer, Call, Router
from neve.http.schemas.jobs import jobs as j
from neve.ports.queue import QueueName
from neve.usecases.work.background.asked_for import asked_for
from neve.usecases.work.observe.dry_run import dry_run
from neve.worker import process_fifo

router = Router("compact", wiring.prepare())


@router.on(j.OBSERVE)
def observe(call: Call[Nothing, j.ObserveBody]) -> Answer:
    if call.body.dry_run:  # nothing is kept of it, the answer neither
        return Answer(body=j.DryRunOut.of(dry_run(call.session)))
    return job_once(call, lambda: observation_answer(call.session, call.body.wait))


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    if "httpMethod" in event:
        return router.handle(event, context)
    return process_fifo(wiring.ports(), event, context, QueueName.COMPACT, asked_for)
