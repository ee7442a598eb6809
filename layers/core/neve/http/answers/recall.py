"""E7, E8, E11 and E12 over HTTP: an answer with what it measured. The time that a call may take begins when the process
is ready."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from neve import observability
from neve.domain.errors import FieldError, NeveError
from neve.http.calls import Answer, Call
from neve.http.model_mistakes import mistake
from neve.http.operations import Nothing, View
from neve.http.schemas.compile.context import CompileBody, ContextOut
from neve.http.schemas.recall.recall import ExplainedRecallView, RecallQuery, RecallView
from neve.http.schemas.recall.tools import FoundView, SearchConversationBody, SearchKnowledgeBody, SearchKnowledgeView
from neve.ports.engines import Ports
from neve.scope import SessionScope
from neve.usecases.ask.compile.command import CompileCommand
from neve.usecases.ask.compile.compile_context import compile_context
from neve.usecases.ask.recall.answer import RecallAnswer
from neve.usecases.ask.recall.recall import Recording, already_shown, recall_and_record
from neve.usecases.ask.recall.record_recall import get_recall
from neve.usecases.ask.recall.stages.legs import note_legs
from neve.usecases.ask.recall.why_not import explain_recall


def recall_answer(
    ports: Ports, recording: Recording, cold_start_ms: float | None, shown: Callable[[RecallAnswer], View] | None = None
) -> Answer:
    """Answer with what was recalled. ``shown``: what of it the answer's body is; None: all of it. The body is made
    while the ledger row is being written, and once more where there is none."""

    def body(found: RecallAnswer) -> View:
        return shown(found) if shown else RecallView.of(found, cold_start_ms)

    made = body(recording.answer)
    found = recording.recorded()
    note_legs(ports, found.reports)
    observability.emit_metrics("recall", found.metrics() | _started(cold_start_ms))
    return Answer(body=made if found is recording.answer else body(found), degraded=found.degraded)


def tool_answer(call: Call[Any, Any], cold_start_ms: float | None) -> Answer:
    """Answer a tool's call with what was recalled, and with the text of it that the model reads."""
    command = call.body.command()
    recording = recall_and_record(call.user, command)
    already = already_shown(call.user, command, recording.answer)

    def shown(found: RecallAnswer) -> View:
        if isinstance(call.body, SearchKnowledgeBody):
            return SearchKnowledgeView.of(found, already)
        return FoundView.found(found, already, cold_start_ms)

    return recall_answer(call.ports, recording, cold_start_ms, shown)


def conversation_answer(call: Call[Nothing, SearchConversationBody], cold_start_ms: float | None) -> Answer:
    """Answer a search of a conversation. That there is no such session is told to the model where the model has named
    it."""
    try:
        recording = recall_and_record(call.user, call.body.command())
    except NeveError as error:
        if error.code != "session_not_found" or call.body.arguments.conversation_id is None:
            raise
        return Answer(body=mistake([FieldError("arguments.conversation_id", "names no conversation of this user")]))
    return recall_answer(call.ports, recording, cold_start_ms, FoundView.found)


def recorded_recall(call: Call[RecallQuery, Nothing]) -> Answer:
    """Answer with one recall of the ledger, and with why a memory was not among its hits where that is asked."""
    recall_id, memory_id = call.ids["recall_id"], call.query.why_not
    if memory_id is None:
        return Answer(body=ExplainedRecallView.explaining(get_recall(call.user, recall_id), None))
    explained = explain_recall(call.user, recall_id, memory_id)
    return Answer(body=ExplainedRecallView.explaining(explained.record, explained.why_not))


def context_answer(call: Call[Nothing, CompileBody], cold_start_ms: float | None) -> Answer:
    return prompt_answer(call, call.user.of_session(call.body.session_id), call.body.command(), cold_start_ms)


def prompt_answer(
    call: Call[Any, Any], session: SessionScope, command: CompileCommand, cold_start_ms: float | None
) -> Answer:
    made = compile_context(session, command)
    measured = made.metrics() | _started(cold_start_ms)
    if made.recalled is not None:
        note_legs(call.ports, made.recalled.legs)
        measured |= made.recalled.metrics()
    observability.emit_metrics("recall", measured)
    return Answer(body=ContextOut.of(made, cold_start_ms), degraded=made.degraded)


def _started(cold_start_ms: float | None) -> dict[str, float]:
    return {} if cold_start_ms is None else {"ColdStartSeconds": cold_start_ms / 1000}
