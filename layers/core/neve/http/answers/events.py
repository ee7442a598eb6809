"""E2: what was appended, and the measure of what the gate took out of it."""

from __future__ import annotations

from typing import Any

from neve import observability
from neve.domain.languages import not_observed
from neve.domain.privacy.screen import metrics
from neve.http.calls import Answer, Call
from neve.http.schemas.sessions.events import AppendedOut
from neve.http.schemas.sessions.messages import AppendedMessagesOut, MessagesBody
from neve.usecases.tell.sessions.append_events import Appended
from neve.usecases.tell.sessions.append_messages import append_messages


def appended_answer(appended: Appended) -> Answer:
    observability.emit_metrics("observe", metrics("Redacted", appended.redacted))
    return Answer(201, AppendedOut.of(appended), degraded=not_observed(appended.other_language))


def messages_answer(call: Call[Any, Any], body: MessagesBody) -> Answer:
    heard = body.heard
    appended = append_messages(call.session, heard, body.opening(), call.idempotency)
    observability.emit_metrics("observe", metrics("Redacted", appended.events.redacted))
    view = AppendedMessagesOut.of(call.ids["session_id"], heard, appended)
    return Answer(201 if appended.any_new else 200, view, degraded=not_observed(appended.events.other_language))
