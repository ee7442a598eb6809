"""One call a turn: the append first, then what it was sent for (docs/rules/messages.md#turn)."""

from __future__ import annotations

from collections.abc import Callable

from neve import observability
from neve.http.answers.events import appended_answer, messages_answer
from neve.http.answers.recall import prompt_answer, recall_answer
from neve.http.calls import Answer, Call
from neve.http.operations import Nothing
from neve.http.problems import PROBLEMS, Problem, as_refusal, problem_body
from neve.http.schemas.sessions.events import commands_of
from neve.http.schemas.turn.turn import TURN, TurnBody, TurnOut
from neve.usecases.ask.compile.compile_context import check_command
from neve.usecases.ask.recall.recall import recall_and_record
from neve.usecases.tell.sessions.append_events import append_events

Ready = Callable[[], float | None]
"""Waits for the encoder; the milliseconds that it took in a new process."""


def turn_answer(call: Call[Nothing, TurnBody], ready: Ready) -> Answer:
    """Append, then answer with the prompt or the recall that was asked for. What cannot be compiled is refused before
    anything is appended, as far as the call itself says so. After the append nothing is refused any more: what was said
    is durable, and the caller goes on without."""
    if call.body.compile is not None:
        check_command(call.session, call.body.compile.command())
    appended = _appended(call)
    try:
        made = _made(call, ready)
    except Exception as error:
        if appended is None:
            raise
        return _without(call, appended, error)
    found = made.body if made else None
    prompt, recall = (found, None) if call.body.compile is not None else (None, found)
    degraded = [*(appended.degraded if appended else ()), *(made.degraded if made else ())]
    body = TurnOut.model_construct(
        appended=appended.body if appended else None, prompt=prompt, recall=recall, degraded=degraded, problem=None
    )
    return Answer(200, body, degraded=degraded)


def _appended(call: Call[Nothing, TurnBody]) -> Answer | None:
    body = call.body
    if (of_messages := body.of_messages) is not None:
        return messages_answer(call, of_messages)
    if body.events is not None:
        return appended_answer(append_events(call.session, commands_of(body.events), call.idempotency))
    return None


def _made(call: Call[Nothing, TurnBody], ready: Ready) -> Answer | None:
    body = call.body
    if body.compile is not None:
        cold_start_ms = ready() if body.compile.command().recalls else None
        return prompt_answer(call, call.session, body.compile.command(), cold_start_ms)
    if body.recall is not None:
        cold_start_ms = ready()
        recording = recall_and_record(call.user, body.recall.command_in(call.ids["session_id"]))
        return recall_answer(call.ports, recording, cold_start_ms)
    return None


def _without(call: Call[Nothing, TurnBody], appended: Answer, error: Exception) -> Answer:
    refusal = as_refusal(error)
    if PROBLEMS[refusal.code].status >= 500:
        observability.failed(TURN.id, call.request_id, error)
    observability.emit_metrics("recall", refusal.metrics)
    problem = Problem.model_validate(problem_body(refusal.code, refusal.detail, call.request_id, refusal.errors))
    degraded = [f"{'compile' if call.body.compile is not None else 'recall'}:{refusal.code}"]
    body = TurnOut.model_construct(appended=appended.body, prompt=None, recall=None, degraded=degraded, problem=problem)
    return Answer(200, body, degraded=degraded)
