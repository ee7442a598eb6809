"""An observer that a test can script, hold and break, and that keeps every request as a language model would get it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar

from local.controls.call_log import CallLog
from local.controls.faults import Failure, Faults
from local.controls.holds import Holds
from local.controls.virtual_time import spend
from local.functions import current_function
from neve.domain.librarian.filing import Filed
from neve.observers.prompted import PromptedObserver
from neve.observing import (
    Condensed,
    CondenseInput,
    FilingInput,
    Observed,
    Observer,
    PassInput,
    Question,
    Reflected,
    ReflectInput,
    Summarised,
    SummaryInput,
)
from neve.ports.errors import ContentRefused, ModelRefused, ModelUnavailable
from neve.ports.models import ModelAnswer, ModelRequest

T = TypeVar("T")

ERRORS = {"unavailable": ModelUnavailable, "refused": ModelRefused, "content": ContentRefused}
PURPOSES = ("observe", "reflect", "summarise", "condense", "file")
IN_THE_BACKGROUND = "file"
"""Comes whenever a compaction or a session's end is done: only answers that name it are for it."""
STATUSES = {
    **dict.fromkeys((400, 413), ContentRefused),
    **dict.fromkeys((401, 403, 404), ModelRefused),
}
"""What the model's API answers, as the port's error; any other status is an outage."""
SCRIPTED = "scripted"


class BadAnswer(ValueError):
    """A scripted answer that is not in the agreed form."""


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """``purpose`` None: for whatever call comes next, that holds ``when``. Exactly one of ``tool_input`` and ``error``
    is set."""

    tool_input: Mapping[str, Any] | None
    error: Exception | None
    purpose: str | None
    when: str
    slow_ms: int
    usage: Mapping[str, int] = field(default_factory=dict)

    def fits(self, purpose: str, text: str) -> bool:
        meant = (purpose,) if purpose == IN_THE_BACKGROUND else (None, purpose)
        return self.purpose in meant and self.when in text


class Script:
    """Answers in the order in which they were queued."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: deque[ScriptedAnswer] = deque()

    def add(self, given: Sequence[Any]) -> int:
        """How many wait now. An empty list clears. Raises BadAnswer, in which case nothing was added."""
        answers = [_read_answer(one) for one in given]
        with self._lock:
            if not answers:
                self._answers.clear()
            self._answers.extend(answers)
            return len(self._answers)

    def has(self, purpose: str, text: str = "") -> bool:
        with self._lock:
            return any(answer.fits(purpose, text) for answer in self._answers)

    def take(self, purpose: str, text: str) -> ScriptedAnswer | None:
        with self._lock:
            for answer in self._answers:
                if answer.fits(purpose, text):
                    self._answers.remove(answer)
                    return answer
        return None


def _read_answer(given: Any) -> ScriptedAnswer:
    known = {"tool_input", "error", "status", "purpose", "when", "slow_ms", "usage"}
    if not isinstance(given, dict) or not set(given) <= known:
        raise BadAnswer(f"an answer is {{tool_input | error | status, purpose?, when?, slow_ms?, usage?}}, not {given}")
    tool_input, purpose = given.get("tool_input"), given.get("purpose")
    if sum(given.get(name) is not None for name in ("tool_input", "error", "status")) != 1:
        raise BadAnswer("an answer has one of tool_input, error, status")
    if purpose is not None and purpose not in PURPOSES:
        raise BadAnswer(f"purpose must be one of {', '.join(PURPOSES)}, is {purpose}")
    slow_ms, usage = given.get("slow_ms", 0), given.get("usage", {})
    return ScriptedAnswer(tool_input, _scripted_error(given), purpose, given.get("when", ""), slow_ms, usage)


def _scripted_error(given: Mapping[str, Any]) -> Exception | None:
    error, status = given.get("error"), given.get("status")
    if error is not None and error not in ERRORS:
        raise BadAnswer(f"error must be one of {', '.join(ERRORS)}, is {error}")
    if error is not None:
        return ERRORS[error]("scripted")
    return None if status is None else STATUSES.get(status, ModelUnavailable)(f"scripted: status {status}")


class ControlledObserver:
    """Scripted answers pass the prompted observer and all its checks; without one the inner observer answers."""

    def __init__(self, inner: Observer, script: Script, calls: CallLog, faults: Faults, holds: Holds) -> None:
        self._inner = inner
        self._script = script
        self._calls = calls
        self._faults = faults
        self._holds = holds

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def languages(self) -> tuple[str, ...]:
        return self._inner.languages

    @property
    def longest_s(self) -> float:
        return self._inner.longest_s

    @property
    def longest_filing_s(self) -> float:
        return self._inner.longest_filing_s

    def observe(self, given: PassInput) -> Observed:
        request = _rendered(lambda renderer: renderer.observe(given))
        if self._script.has("observe", _text(request)):
            return PromptedObserver(self, SCRIPTED).observe(given)
        with self._call(request, self._inner.name):
            return self._inner.observe(given)

    def reflect(self, given: ReflectInput) -> Reflected:
        request = _rendered(lambda renderer: renderer.reflect(given))
        if self._script.has("reflect", _text(request)):
            return PromptedObserver(self, SCRIPTED).reflect(given)
        with self._call(request, self._inner.name):
            return self._inner.reflect(given)

    def condense(self, given: CondenseInput) -> Condensed:
        request = _rendered(lambda renderer: renderer.condense(given))
        if self._script.has("condense", _text(request)):
            return PromptedObserver(self, SCRIPTED).condense(given)
        with self._call(request, self._inner.name):
            return self._inner.condense(given)

    def hand_in(self, given: Sequence[Question]) -> str | None:
        return self._inner.hand_in(given)

    def withdraw(self, handed_in: str) -> None:
        self._inner.withdraw(handed_in)

    def summarise(self, given: SummaryInput) -> Summarised:
        request = _rendered(lambda renderer: renderer.summarise(given))
        if self._script.has("summarise", _text(request)):
            return PromptedObserver(self, SCRIPTED).summarise(given)
        with self._call(request, self._inner.name):
            return self._inner.summarise(given)

    def file_away(self, given: FilingInput) -> Filed:
        request = _rendered(lambda renderer: renderer.file_away(given))
        if self._script.has("file", _text(request)):
            return PromptedObserver(self, SCRIPTED).file_away(given)
        with self._call(request, self._inner.name):
            return self._inner.file_away(given)

    def call_tool(self, request: ModelRequest) -> ModelAnswer:
        """The scripted language model (``ports.LanguageModel``). Without an answer left it is unavailable."""
        with self._call(request, SCRIPTED):
            answer = self._script.take(request.purpose, _text(request))
            if answer is None:
                raise ModelUnavailable("the script has no answer left")
            spend(answer.slow_ms)
            if answer.error is not None:
                raise answer.error
            return ModelAnswer(answer.tool_input or {}, SCRIPTED, answer.usage)

    @contextmanager
    def _call(self, request: ModelRequest, answered_by: str) -> Iterator[None]:
        """What is inside a model call: it is logged, it can be held, and it can fail."""
        with self._calls.recording("model", answered_by=answered_by, **_shown(request)):
            self._holds.pass_through(current_function.get())
            try:
                self._faults.strike("llm", _text(request))
            except Failure as failure:
                kind = STATUSES.get(failure.status or 0, ModelUnavailable)
                raise kind(f"injected fault: {failure}") from None
            yield


class _Rendered(Exception):
    """Carries a request out of an observer that was about to make it."""

    def __init__(self, request: ModelRequest) -> None:
        super().__init__(request.purpose)
        self.request = request


class _RequestCatcher:
    def call_tool(self, request: ModelRequest) -> NoReturn:
        raise _Rendered(request)


def _rendered(ask: Callable[[PromptedObserver], object]) -> ModelRequest:
    """The request that a prompted observer would make."""
    try:
        ask(PromptedObserver(_RequestCatcher(), SCRIPTED))
    except _Rendered as caught:
        return caught.request
    raise AssertionError("a prompted observer makes a request")


def _text(request: ModelRequest) -> str:
    """What a request says, and for each image its type."""
    return "\n".join(block["text"] if block["type"] == "text" else "[image block]" for block in request.content)


def _shown(request: ModelRequest) -> dict[str, Any]:
    return {
        "purpose": request.purpose,
        "system": request.system,
        "content": [dict(block) for block in request.content],
        "tool_name": request.tool_name,
        "tool_schema": dict(request.tool_schema),
        "max_tokens": request.max_tokens,
    }
