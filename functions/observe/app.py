"""E2, E4, E5, E18: what was said, asking for memory to be made of it, and what the prompts have cost."""

from __future__ import annotations

from neve import wiring
from neve.http.answers.events import appended_answer, messages_answer
from neve.http.answers.job import ended_answer, job_answer, job_once, staged_job
from neve.http.answers.taking_back import bind_taking_back
from neve.http.answers.uploads import upload_target
from neve.http.answers.usage import usage_answer
from neve.http.operations import Nothing
from neve.http.router import Answer, Call, Router, fitting
from neve.http.schemas.jobs import jobs as j
from neve.http.schemas.sessions import events as e
from neve.http.schemas.sessions import messages as m
from neve.http.schemas.tenants import usage as u
from neve.usecases.ask.sessions.list_events import list_events
from neve.usecases.tell.requests.end_session import end_session
from neve.usecases.tell.requests.request_compaction import request_compaction
from neve.usecases.tell.sessions.append_events import append_events

router = Router("observe", wiring.prepare())
handler = router.handle

router.on(e.APPEND_EVENTS)(
    lambda call: appended_answer(append_events(call.session, call.body.commands(), call.idempotency))
)
router.on(m.APPEND_MESSAGES)(lambda call: messages_answer(call, call.body))


@router.on(e.LIST_EVENTS)
def read_log(call: Call[e.EventsQuery, Nothing]) -> Answer:
    first, session, how = call.query.from_seq, call.session, call.query.how()
    return Answer(body=fitting(call.query, lambda n, _: e.EventsPage.of(list_events(session, first, n, **how))))


bind_taking_back(router)
router.on(e.CREATE_UPLOAD)(upload_target)
router.on(j.COMPACT)(
    lambda call: job_once(
        call,
        lambda: job_answer(request_compaction(call.session, call.body.reason, call.body.wait, call.body.verbosity)),
    )
)
router.on(j.END)(
    lambda call: job_once(call, lambda: ended_answer(call.user, end_session(call.session, call.body.outcome)))
)
router.on(j.READ_JOB)(staged_job)
router.on(u.REPORT_USAGE)(usage_answer)
