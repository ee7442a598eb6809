"""E18 over HTTP."""

from __future__ import annotations

from neve.http.calls import Answer, Call
from neve.http.operations import Nothing
from neve.http.schemas.tenants.usage import UNKNOWN_MODEL, ReportedUsageOut, ReportUsageBody
from neve.usecases.tell.tenants.report_usage import report_prompt, report_usage


def usage_answer(call: Call[Nothing, ReportUsageBody]) -> Answer:
    """Report the usage of a prompt that was compiled, or of one that the caller has made."""
    body = call.body
    if body.prompt_id is not None:
        model = body.model or call.user.policy.chat_model or UNKNOWN_MODEL
        reported = report_prompt(call.user, body.prompt_id, model, body.tokens(), call.idempotency)
    else:
        session = call.user.of_session(body.session_id or "")
        reported = report_usage(session, body.report(), call.idempotency)
    return Answer(body=ReportedUsageOut.of(reported))
