"""E2: what was appended, and the measure of what the gate took out of it."""

from __future__ import annotations

from neve import observability
from neve.domain.privacy.classes import metrics
from neve.http.calls import Answer
from neve.http.schemas.sessions.events import AppendedOut
from neve.usecases.sessions.append_events import Appended


def appended_answer(appended: Appended) -> Answer:
    observability.emit_metrics("observe", metrics("Redacted", appended.redacted))
    return Answer(201, AppendedOut.of(appended))
