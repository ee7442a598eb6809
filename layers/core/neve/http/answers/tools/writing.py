"""E11's writers over HTTP: remember and correct, and a model's mistake as an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from neve import observability
from neve.domain.errors import FieldError, NeveError
from neve.domain.tenants.write_tools import need_write_tools
from neve.http.calls import Answer, Call, once_within
from neve.http.model_mistakes import ARGUMENTS, mistake
from neve.http.operations import Nothing
from neve.http.router import Router
from neve.http.schemas.recall.write_tools import CORRECT, REMEMBER, CorrectBody, CorrectView, RememberBody, RememberView
from neve.usecases.tell.tools.correct import correct
from neve.usecases.tell.tools.remember import remember

_MODELS = {"memory_not_found": "id", "validation_failed": "", "pii_blocked": ""}
"""Refusals of what a model wrote, with the argument that they are about where they name none."""


def bind_writing(router: Router) -> None:
    router.on(REMEMBER)(remember_answer)
    router.on(CORRECT)(correct_answer)


def remember_answer(call: Call[Nothing, RememberBody]) -> Answer:
    wanted, session = call.body.wanted(), call.body.session_id
    return written(
        call,
        lambda: once_within(
            call,
            lambda beside: remember(call.user, wanted, session, beside),
            lambda stored: Answer(body=RememberView.of(stored)),
        ),
    )


def correct_answer(call: Call[Nothing, CorrectBody]) -> Answer:
    memory_id, session = call.body.arguments.id, call.body.session_id
    return written(
        call,
        lambda: once_within(
            call,
            lambda beside: correct(call.user, memory_id, call.body.evolution(), session, beside),
            lambda made: Answer(body=CorrectView.after(memory_id, made)),
        ),
    )


def written(call: Call[Any, Any], answer: Callable[[], Answer]) -> Answer:
    """Answer the call of a tool that writes; tell the model what it did wrong, where nothing else is wrong. Raises
    write_tools_off, of a repeat as well."""
    need_write_tools(call.tenant.policy)
    try:
        return answer()
    except NeveError as error:
        if error.code not in _MODELS:
            raise
        observability.emit_metrics("records", error.metrics)
        named = error.errors or [FieldError(_MODELS[error.code], "names no memory of this user")]
        return Answer(
            body=mistake([replace(one, field=ARGUMENTS + one.field.removeprefix(ARGUMENTS)) for one in named])
        )
