"""What the tenant's own jobs are answered with."""

from __future__ import annotations

from neve.http.answers.job import job_answer
from neve.http.operations import Nothing
from neve.http.router import Answer, Call, once
from neve.http.schemas.erase.users import EraseQuery
from neve.http.schemas.jobs.jobs import DrainBody
from neve.http.schemas.reflect.reflections import ReflectBody, ReflectPlanOut
from neve.usecases.erase.request_erasure import request_erasure
from neve.usecases.export.request_export import request_export
from neve.usecases.indexing.drain_embeddings import drain_embeddings
from neve.usecases.reflect.request_reflection import plan_reflection, request_reflection


def drain_answer(call: Call[Nothing, DrainBody]) -> Answer:
    body = call.body
    return once(call, lambda: job_answer(drain_embeddings(call.tenant, body.user_id, body.seconds())))


def erasure_answer(call: Call[EraseQuery, Nothing]) -> Answer:
    return once(call, lambda: job_answer(request_erasure(call.user, close=call.query.close)))


def export_answer(call: Call[Nothing, Nothing]) -> Answer:
    return once(call, lambda: job_answer(request_export(call.user)))


def reflection_answer(call: Call[Nothing, ReflectBody]) -> Answer:
    """A job, or what it would do."""
    asked = (call.tenant, call.body.user_id, call.body.min_age_days)
    if call.body.dry_run:
        return Answer(body=ReflectPlanOut.of(plan_reflection(*asked)))
    return once(call, lambda: job_answer(request_reflection(*asked)))
