"""What a model would have charged for observing, while rules do the observing: the very requests that the prompted
observer sends are made and counted.

The extractive observer keeps little of what two people chat about, and its packs would be cheaper than those of a
model. So where it keeps nothing, a telegram of what was said is kept: the words of its content, at most 30 tokens a
turn. It repeats no sentence, so no question finds its evidence in it word for word."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from neve.domain.librarian.filing import Filed
from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.transcript import event_text
from neve.domain.tokens import estimate, trim_to
from neve.observers.extractive.observer import ExtractiveObserver
from neve.observers.prompted import PromptedObserver
from neve.observing import (
    Condensed,
    CondenseInput,
    FilingInput,
    Observed,
    ObservedLine,
    PassInput,
    Question,
    Reflected,
    ReflectInput,
    Summarised,
    SummaryInput,
)
from neve.ports.models import LanguageModel, ModelAnswer, ModelRequest, constant_tokens

LINE_TOKENS = 30
SHORT, MIN_WORDS = 3, 6
"""Characters of a word that is left out, and words of a line that is worth keeping."""
MESSAGES = (EventType.USER_MESSAGE, EventType.ASSISTANT_RESPONSE)


class _Asked(Exception):
    """The request has been made; nobody is there to answer it."""


@dataclass
class _Listening:
    """``ports.models.LanguageModel`` that hears one request."""

    heard: list[ModelRequest] = field(default_factory=list)

    def call_tool(self, request: ModelRequest) -> ModelAnswer:
        self.heard.append(request)
        raise _Asked


@dataclass
class Spent:
    """``calls`` of a model, and their tokens. Nothing is taken to be cached. ``passes``: calls that observe;
    ``constant``: of their input what is the same in each, ``prior``: what is remembered already. ``purposes``: calls,
    input and output of each purpose of a request."""

    calls: int = 0
    input: int = 0
    output: int = 0
    passes: int = 0
    pass_input: int = 0
    pass_output: int = 0
    constant: int = 0
    prior: int = 0
    purposes: dict[str, list[int]] = field(default_factory=dict)


class MeteredObserver:
    """``neve.observing.Observer``."""

    name = "extractive"
    languages = ("en",)

    def __init__(self) -> None:
        self._rules = ExtractiveObserver()
        self.longest_s = self._rules.longest_s
        self.longest_filing_s = self._rules.longest_filing_s
        self.spent = Spent()
        self._constant = 0

    def observe(self, given: PassInput) -> Observed:
        answer = self._rules.observe(given)
        if not answer.lines and (line := telegram(given.events)):
            answer = replace(answer, has_memory=True, lines=(line,))
        answered = [{"text": line.text, "seq_from": line.seq_from, "seq_to": line.seq_to} for line in answer.lines]
        usage = self._charge(lambda model: PromptedObserver(model, "metered").observe(given), answered)
        self.spent.passes += 1
        self.spent.pass_input += usage["input"]
        self.spent.pass_output += usage["output"]
        self.spent.constant += self._constant
        self.spent.prior += sum(estimate(row.text) for row in given.prior)
        return replace(answer, usage=usage, calls=1)

    def reflect(self, given: ReflectInput) -> Reflected:
        answer = self._rules.reflect(given)
        answered = [asdict(row) for row in answer.rows]
        usage = self._charge(lambda model: PromptedObserver(model, "metered").reflect(given), answered)
        return replace(answer, usage=usage, calls=1)

    def summarise(self, given: SummaryInput) -> Summarised:
        answer = self._rules.summarise(given)
        usage = self._charge(
            lambda model: PromptedObserver(model, "metered").summarise(given), [asdict(answer.summary)]
        )
        return replace(answer, usage=usage, calls=1)

    def condense(self, given: CondenseInput) -> Condensed:
        answer = self._rules.condense(given)
        answered = [asdict(row) for row in answer.rows]
        usage = self._charge(lambda model: PromptedObserver(model, "metered").condense(given), answered)
        return replace(answer, usage=usage, calls=1)

    def hand_in(self, given: Sequence[Question]) -> str | None:
        return self._rules.hand_in(given)

    def withdraw(self, handed_in: str) -> None:
        self._rules.withdraw(handed_in)

    def file_away(self, given: FilingInput) -> Filed:
        answer = self._rules.file_away(given)
        answered = [asdict(action) for action in answer.actions] + [asdict(answer.account)] if answer.account else []
        usage = self._charge(lambda model: PromptedObserver(model, "metered").file_away(given), answered)
        return replace(answer, usage=usage, calls=1)

    def _charge(self, ask: Callable[[LanguageModel], object], answered: Sequence[Any]) -> dict[str, int]:
        model = _Listening()
        with suppress(_Asked):
            ask(model)
        [request] = model.heard
        self._constant = constant_tokens(request)
        usage = {"input": prompt_tokens(request), "output": estimate(json.dumps(answered, ensure_ascii=False))}
        self.spent.calls += 1
        self.spent.input += usage["input"]
        self.spent.output += usage["output"]
        before = self.spent.purposes.get(request.purpose, [0, 0, 0])
        spent = (1, usage["input"], usage["output"])
        self.spent.purposes[request.purpose] = [a + b for a, b in zip(before, spent, strict=True)]
        return usage


def telegram(events: Sequence[Event]) -> ObservedLine | None:
    """The words of the messages without those of small talk; None when next to nothing is left."""
    spoken = " ".join(event_text(event) for event in events if event.event_type in MESSAGES)
    words = [word for word in dict.fromkeys(re.findall(r"[\w'-]+", spoken)) if len(word) > SHORT]
    if len(words) < MIN_WORDS:
        return None
    text = trim_to(f"🟡 {' '.join(words)}", LINE_TOKENS, marker="")
    return ObservedLine(text, events[0].seq, events[-1].seq)


def prompt_tokens(request: ModelRequest) -> int:
    """Of the whole request: system prompt, tool with its schema, content."""
    content = "\n".join(str(block.get("text", "")) for block in request.content)
    return constant_tokens(request) + estimate(content)
