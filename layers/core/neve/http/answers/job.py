"""A job over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from neve.domain.errors import not_found
from neve.domain.languages import not_observed
from neve.domain.records.jobs import Job
from neve.http.calls import once
from neve.http.operations import Nothing
from neve.http.router import Answer, Call
from neve.http.schemas.jobs.jobs import JobOut
from neve.scope import SessionScope, UserScope
from neve.store.idempotency import StoredReply
from neve.usecases.core.jobs.downloads import with_downloads
from neve.usecases.core.jobs.named_documents import with_paths
from neve.usecases.core.jobs.queued_jobs import ERASURE, EXPORT
from neve.usecases.core.jobs.read_jobs import find_job, get_job
from neve.usecases.core.jobs.stages import stages_of
from neve.usecases.core.lag.model_down import other_language_of, queued_of
from neve.usecases.tell.requests.request_observation import request_observation
from neve.usecases.work.retract.left_index import with_index


def job_answer(job: Job, degraded: Sequence[str] = (), other_language: int = 0) -> Answer:
    """Answer with a job: 200 for one that has ended, 202 for one that has not."""
    status = 200 if job.ended else 202
    return Answer(status, JobOut.of(job, degraded=degraded, other_language=other_language), degraded=degraded)


def job_once(call: Call[Any, Any], work: Callable[[], Answer]) -> Answer:
    """Do ``work``, or give its first answer to the caller's Idempotency-Key. A result may say what the user said: it is
    kept in the job's row alone, where a deletion finds it, and read there again."""

    def again(stored: StoredReply) -> Answer:
        body = stored.body
        job = find_job(call.tenant, body["id"]) if "result" in body else None
        return Answer(stored.status, body if job is None else body | {"result": with_paths(call.user, job).result})

    return once(call, work, keep=_with_blank_result, again=again)


def _with_blank_result(body: dict[str, Any]) -> dict[str, Any]:
    return body | {"result": {}} if "result" in body else body


def ended_answer(scope: UserScope, job: Job) -> Answer:
    """Answer E5 with a job: 202, also for one that has ended."""
    return Answer(202, JobOut.of(with_paths(scope, job)))


def observation_answer(scope: SessionScope, wait: bool) -> Answer:
    """Answer E3, and say why it has not ended, where the language model is the reason, and how much of the session is
    in languages that the observer does not know."""
    job, other_language = request_observation(scope, wait), other_language_of(scope)
    queued = () if job.ended else queued_of(scope)
    return job_answer(job, (*queued, *not_observed(other_language)), other_language)


def staged_job(call: Call[Nothing, Nothing]) -> Answer:
    """Answer with a job and how far its work has come, in the index too; to who may export the user, with where the
    export is. Raises job_not_found, also for what the scope ``self`` alone has no say in, and StoreUnavailable."""
    scope, scopes = call.user, call.caller.scopes
    job = get_job(scope, call.ids["job_id"])
    if job.kind not in (ERASURE, EXPORT) and "chat" not in scopes:
        raise not_found("job", job.id)
    if "self" in scopes:
        job = with_downloads(scope, job)
    job = with_paths(scope, with_index(scope, job))
    return Answer(body=JobOut.of(job, stages_of(scope, job)))
