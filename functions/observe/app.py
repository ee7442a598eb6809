"""E2, E3, E4: what was said, and asking for memory to be made of it."""

from __future__ import annotations

from neve import wiring
from neve.http.job_answers import job_answer
from neve.http.operations import Nothing
from neve.http.router import Answer, Call, Router, fitting, once
from neve.http.schemas.jobs import jobs as j
from neve.http.schemas.sessions import events as e
from neve.usecases.compact.request_compaction import request_compaction
from neve.usecases.jobs.read_jobs import get_job
from neve.usecases.observe.request_observation import request_observation
from neve.usecases.sessions.append_events import append_events
from neve.usecases.sessions.create_upload import create_upload
from neve.usecases.sessions.list_events import list_events

router = Router("observe", wiring.prepare())
handler = router.handle


@router.on(e.APPEND_EVENTS)
def append(call: Call[Nothing, e.AppendBody]) -> Answer:
    appended = append_events(call.session, call.body.commands(), call.idempotency)
    return Answer(201, e.AppendedOut.of(appended))


@router.on(e.LIST_EVENTS)
def read_log(call: Call[e.EventsQuery, Nothing]) -> Answer:
    first = call.query.from_seq
    return Answer(body=fitting(call.query, lambda n, _: e.EventsPage.of(list_events(call.session, first, n))))


@router.on(e.CREATE_UPLOAD)
def upload(call: Call[Nothing, e.UploadBody]) -> Answer:
    body = call.body
    return once(call, lambda: Answer(201, e.UploadOut.of(create_upload(call.user, body.media_type, body.size))))


@router.on(j.OBSERVE)
def observe(call: Call[Nothing, j.ObserveBody]) -> Answer:
    return once(call, lambda: job_answer(request_observation(call.session, call.body.wait)))


@router.on(j.COMPACT)
def compact(call: Call[Nothing, j.CompactBody]) -> Answer:
    return once(call, lambda: job_answer(request_compaction(call.session, call.body.reason, call.body.wait)))


@router.on(j.READ_JOB)
def read_job(call: Call[Nothing, Nothing]) -> Answer:
    return Answer(body=j.JobOut.of(get_job(call.user, call.ids["job_id"])))
