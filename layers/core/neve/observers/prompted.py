"""An observer that asks a language model: one tool call a pass, one retry out of form, one over the budget, then a hard
trim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict, TypeVar

from neve.domain.compact import prompt as summary_prompt
from neve.domain.compact.fit import fitted, items_without_room
from neve.domain.compact.headings import SummaryText
from neve.domain.compact.render import HEADINGS_TOKENS, render_summary
from neve.domain.librarian import prompt as filing_prompt
from neve.domain.librarian.answer import filing_schema, read_filing_answer
from neve.domain.librarian.filing import Filed
from neve.domain.librarian.time_limits import ANSWER_S as FILING_ANSWER_S
from neve.domain.librarian.time_limits import ANSWER_TOKENS, FILING_S
from neve.domain.observe import prompt as observation_prompt
from neve.domain.observe.answer import ReadAnswer, observation_schema, read_answer
from neve.domain.observe.lines import earlier, within_tokens
from neve.domain.observe.time_limits import ANSWER_S, COMMIT_S, FOLD_TOKENS, writable_tokens
from neve.domain.reflect import condense_prompt
from neve.domain.reflect import prompt as reflection_prompt
from neve.domain.reflect.night_limits import MAX_ANSWER_S
from neve.domain.reflect.prompt import ReflectionRow, read_rows, reflection_schema
from neve.domain.tokens import estimate, trim_to
from neve.domain.zones import day_end
from neve.observing import (
    Condensed,
    CondensedRow,
    CondenseInput,
    FilingInput,
    Observed,
    ObservedLine,
    PassInput,
    ProposedFact,
    Question,
    Reflected,
    ReflectedRow,
    ReflectInput,
    Summarised,
    SummaryInput,
    for_ever,
    usage_sum,
)
from neve.ports.errors import AnswerCutOff, AnswerOutOfForm, ModelRefused, ModelUnavailable, NoAnswer, UnusableAnswer
from neve.ports.models import ANY_LANGUAGE, LanguageModel, MessageBatches, ModelAnswer, ModelRequest

Answer = TypeVar("Answer")
Heard = TypeVar("Heard", bound=ModelAnswer | None)

ROOM_BESIDE_TEXT = 4_096
"""Output tokens for ids, facts and JSON around an answer's text."""
OUT_OF_FORM = "out_of_form"
CUT_OFF = "cut_off"
MAX_OUTPUT = 64_000
"""The longest answer that the models of today may give, in tokens."""


@dataclass
class _Asking:
    """One question to the observer. ``answers``: those of the form of a tool call; ``calls`` and ``usage``: also of
    those of which nothing came."""

    model: LanguageModel
    answers: list[ModelAnswer] = field(default_factory=list)
    calls: int = 0
    usage: Mapping[str, int] = field(default_factory=dict)

    def call(self, request: ModelRequest) -> ModelAnswer:
        return self._heard(lambda: self.model.call_tool(request))

    def taken(self, batches: MessageBatches | None, batch: str | None, request: ModelRequest) -> ModelAnswer:
        """Take the answer to a request that was handed in; where there is none, ask for it now."""
        answer = None
        if batch is not None and batches is not None:
            answer = self._heard(lambda: batches.answer_of(batch, request))
        return answer or self.call(request)

    def _heard(self, ask: Callable[[], Heard]) -> Heard:
        try:
            answer = ask()
        except NoAnswer as failure:
            self._count(failure.calls, failure.usage)
            raise
        if answer is not None:
            self._count(1, answer.usage)
            self.answers.append(answer)
        return answer

    def _count(self, calls: int, usage: Mapping[str, int]) -> None:
        self.calls, self.usage = self.calls + calls, usage_sum(self.usage, usage)


@contextmanager
def _asking(model: LanguageModel) -> Iterator[_Asking]:
    """Yield the count of calls to a model; a ``NoAnswer`` that is raised inside says what all calls cost."""
    asking = _Asking(model)
    try:
        yield asking
    except NoAnswer as failure:
        failure.calls, failure.usage = asking.calls, asking.usage
        raise


class PromptedObserver:
    """An observer that asks a language model. Raises what the model raises, and AnswerOutOfForm for an answer that is
    not of the form. ``longest_s``: see ``Observer``; with less time left an answer over the budget is trimmed at once,
    and one out of form not asked for again. ``batches``: of the same model, where its provider has them."""

    def __init__(
        self, model: LanguageModel, name: str, longest_s: float = 0.0, batches: MessageBatches | None = None
    ) -> None:
        self._model = model
        self._name = name
        self._longest_s = longest_s
        self._batches = batches

    @property
    def name(self) -> str:
        return self._name

    @property
    def languages(self) -> tuple[str, ...]:
        return (ANY_LANGUAGE,)

    @property
    def longest_s(self) -> float:
        return self._longest_s

    @property
    def longest_filing_s(self) -> float:
        return FILING_S if self._longest_s else 0.0

    def observe(self, given: PassInput) -> Observed:
        with _asking(self._model) as asking:
            return self._observe(given, asking)

    def _observe(self, given: PassInput, asking: _Asking) -> Observed:
        first, last = given.events[0].seq, given.events[-1].seq
        shown = {row.id for row in given.prior}

        def ask(remark: str | None = None) -> ReadAnswer:
            return _read(
                asking.call(_observation_request(given, remark)),
                lambda tool_input: read_answer(
                    tool_input, first=first, last=last, shown=shown, max_lines=given.max_lines
                ),
            )

        try:
            answer = ask()
        except AnswerOutOfForm:
            if given.seconds_left() < self._longest_s:
                raise
            answer = ask(observation_prompt.OUT_OF_FORM_REMARK)
        size = answer.said_tokens
        if size > given.output_cap and given.seconds_left() >= self._longest_s:
            with suppress(ModelUnavailable, ModelRefused):  # what was paid for is cut to its size then
                shorter = ask(observation_prompt.over_budget_remark(size, given.output_cap))
                answer = shorter if shorter.observations else answer
        return _observed(answer, given, asking)

    def reflect(self, given: ReflectInput) -> Reflected:
        with _asking(self._model) as asking:
            return self._reflect(given, asking)

    def _reflect(self, given: ReflectInput, asking: _Asking) -> Reflected:
        known = {group.id for group in given.groups}

        def ask(remark: str | None = None) -> list[ReflectionRow]:
            answer = asking.call(_reflection_request(given, remark))
            return _read(answer, lambda tool_input: read_rows(tool_input, known))

        rows = ask()
        size = sum(estimate(row.text) for row in rows)
        if size > given.target_tokens and given.seconds_left() >= self._longest_s:
            with suppress(ModelUnavailable, ModelRefused):
                rows = ask(reflection_prompt.over_target_remark(size, _fold_room(given))) or rows
        fitting = _rows_within(rows, given.target_tokens)
        whole = sum(row.text == answered.text for row, answered in zip(fitting, rows, strict=False))
        return Reflected(
            rows=fitting,
            model=asking.answers[-1].model,
            usage=asking.usage,
            calls=asking.calls,
            left_out=len(rows) - whole,
        )

    def condense(self, given: CondenseInput) -> Condensed:
        """Condense rows with one call, whatever the size of the answer: the caller drops what is over the target."""
        known = {group.id for group in given.groups}
        with _asking(self._model) as asking:
            answer = asking.taken(self._batches, given.handed_in, _condense_request(given))
            rows = _read(answer, lambda tool_input: condense_prompt.read_condensed(tool_input, known))
        return Condensed(
            tuple(CondensedRow(row.content, tuple(row.group_ids), row.priority, row.observed_date) for row in rows),
            answer.model,
            answer.usage,
        )

    def hand_in(self, given: Sequence[Question]) -> str | None:
        """Hand in the requests that ``condense`` and ``file_away`` would make, with the time of a whole worker for
        each."""
        if self._batches is None:
            return None
        return self._batches.submit([_request_of(one) for one in given])

    def withdraw(self, handed_in: str) -> None:
        if self._batches is not None:
            self._batches.delete(handed_in)

    def summarise(self, given: SummaryInput) -> Summarised:
        with _asking(self._model) as asking:
            return self._summarise(given, asking)

    def _summarise(self, given: SummaryInput, asking: _Asking) -> Summarised:
        def ask(remark: str | None = None) -> SummaryText:
            return _read(asking.call(_summary_request(given, remark)), summary_prompt.read_summary_answer)

        summary = ask()
        size = estimate(render_summary(summary))
        if size > given.target_tokens and given.seconds_left() >= self._longest_s:
            remark = summary_prompt.summary_too_long(size - HEADINGS_TOKENS, given.target_tokens - HEADINGS_TOKENS)
            with suppress(ModelUnavailable, ModelRefused):
                summary = _something(ask(remark)) or summary
        within = fitted(summary, given.target_tokens)
        return Summarised(
            summary=within,
            left_out=items_without_room(summary, within),
            model=asking.answers[-1].model,
            prompt_version=summary_prompt.PROMPT_VERSION,
            usage=asking.usage,
            calls=asking.calls,
        )

    def file_away(self, given: FilingInput) -> Filed:
        """Ask for the changes of documents; the model is asked once more, if there is time, when the answer was cut
        off, or anything of it could not be used; what could not in the end is counted. What of the first answer can be
        used stands where the second one fails or changes nothing. An answer that is out of form or cut off files
        nothing. Raises AnswerCutOff where there is no time to ask for less."""
        with _asking(self._model) as asking:
            filed = self._file_away(given, asking)
            return replace(filed, usage=asking.usage, calls=asking.calls)

    def _file_away(self, given: FilingInput, asking: _Asking) -> Filed:
        filed = self._filed(given, asking)
        has_time = given.seconds_left() >= self.longest_filing_s
        if CUT_OFF in filed.rejected and not has_time:
            raise AnswerCutOff("an answer was cut off, and there is no time for a shorter one")
        if filed.rejected and has_time:
            asked = _with_remark(given, _remark_on(filed))
            kept = (ModelUnavailable, ModelRefused) if filed.account is not None else ()
            with suppress(*kept):
                again = self._filed(asked, asking)
                filed = again if again.account is not None and (again.actions or not filed.actions) else filed
        return filed

    def _filed(self, given: FilingInput, asking: _Asking) -> Filed:
        try:
            answer = asking.taken(self._batches, given.handed_in, _filing_request(given))
        except UnusableAnswer as failure:
            why = CUT_OFF if isinstance(failure, AnswerCutOff) else OUT_OF_FORM
            return Filed((), None, self._name, filing_prompt.PROMPT_VERSION, rejected={why: 1})
        whole = {document.path for document in given.documents if filing_prompt.is_whole(document)}
        seqs = {event.seq for event in given.events}
        try:
            read = read_filing_answer(answer.tool_input, seqs=seqs, shown=given.documents, whole=whole)
        except ValueError:
            return Filed((), None, answer.model, filing_prompt.PROMPT_VERSION, rejected={OUT_OF_FORM: 1})
        return Filed(
            actions=read.actions,
            account=read.account,
            model=answer.model,
            prompt_version=filing_prompt.PROMPT_VERSION,
            illegal=read.illegal,
            rejected=read.rejected,
        )


def _with_remark(given: FilingInput, remark: str) -> FilingInput:
    return replace(given, remark="\n\n".join(filter(None, [given.remark, remark])), handed_in=None)


def _remark_on(filed: Filed) -> str:
    if CUT_OFF in filed.rejected:
        return filing_prompt.cut_off_remark(ANSWER_TOKENS)
    return filing_prompt.rejected_remark(filed.rejected)


def _something(summary: SummaryText) -> SummaryText | None:
    return None if summary == SummaryText() else summary


# --- requests -----------------------------------------------------------------------------------


def _observation_request(given: PassInput, remark: str | None) -> ModelRequest:
    return ModelRequest(
        system=observation_prompt.SYSTEM,
        content=observation_prompt.pass_content(
            given.events, given.prior, given.timezone, remark, max_lines=given.max_lines
        ),
        tool_name=observation_prompt.TOOL_NAME,
        tool_description=observation_prompt.TOOL_DESCRIPTION,
        tool_schema=observation_schema(),
        **_bounds(given.output_cap, min(ANSWER_S, given.seconds_left() - COMMIT_S)),
        purpose="observe",
    )


def _reflection_request(given: ReflectInput, remark: str | None) -> ModelRequest:
    return ModelRequest(
        system=reflection_prompt.SYSTEM,
        content=reflection_prompt.reflection_content(given.groups, _fold_room(given), remark),
        tool_name=reflection_prompt.TOOL_NAME,
        tool_description=reflection_prompt.TOOL_DESCRIPTION,
        tool_schema=reflection_schema(),
        **_bounds(_fold_room(given), min(ANSWER_S, given.seconds_left() - COMMIT_S)),
        purpose="reflect",
    )


def _fold_room(given: ReflectInput) -> int:
    """Bound the answer of a fold: one of the whole target would come too late, each time that it is asked for."""
    return min(given.target_tokens, FOLD_TOKENS)


def _condense_request(given: CondenseInput) -> ModelRequest:
    return ModelRequest(
        system=condense_prompt.SYSTEM,
        content=condense_prompt.condense_content(given.groups, given.target_tokens),
        tool_name=condense_prompt.TOOL_NAME,
        tool_description=condense_prompt.TOOL_DESCRIPTION,
        tool_schema=condense_prompt.condensed_schema(),
        **_bounds(given.target_tokens, min(MAX_ANSWER_S, given.seconds_left() - COMMIT_S)),
        purpose="condense",
    )


def _summary_request(given: SummaryInput, remark: str | None) -> ModelRequest:
    allowed = given.target_tokens - HEADINGS_TOKENS
    return ModelRequest(
        system=summary_prompt.SYSTEM,
        content=summary_prompt.summary_content(given.events, given.before, allowed, given.timezone, remark),
        tool_name=summary_prompt.TOOL_NAME,
        tool_description=summary_prompt.TOOL_DESCRIPTION,
        tool_schema=summary_prompt.summary_schema(),
        **_bounds(given.target_tokens, min(ANSWER_S, given.seconds_left() - COMMIT_S)),
        purpose="summarise",
    )


def _filing_request(given: FilingInput) -> ModelRequest:
    return ModelRequest(
        system=filing_prompt.SYSTEM,
        content=filing_prompt.filing_content(given),
        tool_name=filing_prompt.TOOL_NAME,
        tool_description=filing_prompt.TOOL_DESCRIPTION,
        tool_schema=filing_schema(),
        **_bounds(ANSWER_TOKENS, min(FILING_ANSWER_S, given.seconds_left() - COMMIT_S), ANSWER_TOKENS),
        purpose=filing_prompt.PURPOSE,
    )


def _request_of(given: Question) -> ModelRequest:
    if isinstance(given, FilingInput):
        return _filing_request(replace(given, seconds_left=for_ever))
    return _condense_request(replace(given, seconds_left=for_ever))


class _Bounds(TypedDict):
    max_tokens: int
    within_s: float


def _bounds(tokens: int, within_s: float, most: int = MAX_OUTPUT) -> _Bounds:
    """Return the bounds of an answer with ``tokens`` of text: room for twice of it, because one over the budget should
    arrive whole, to be measured and asked for again; and for no more than is written in time."""
    room = min(2 * tokens + ROOM_BESIDE_TEXT, most)
    return _Bounds(max_tokens=min(room, writable_tokens(within_s)), within_s=within_s)


# --- answers ------------------------------------------------------------------------------------


def _read(answer: ModelAnswer, read: Callable[[Mapping[str, Any]], Answer]) -> Answer:
    try:
        return read(answer.tool_input)
    except ValueError as error:  # pydantic's ValidationError is one; its text would repeat what the user said
        raise AnswerOutOfForm(f"{answer.model} answered out of form ({type(error).__name__})") from None


def _observed(answer: ReadAnswer, given: PassInput, asking: _Asking) -> Observed:
    lines_given = [ObservedLine(line.text, line.seq_from, line.seq_to) for line in answer.observations]
    room = within_tokens(lines_given, given.output_cap, given.events)
    facts = (
        ProposedFact(
            fact.text,
            fact.category,
            fact.importance,
            fact.by,
            fact.relation,
            fact.target_id,
            fact.seq_from,
            fact.seq_to,
            valid_until=day_end(fact.valid_until, given.timezone) if fact.valid_until else None,
        )
        for fact in answer.facts
    )
    return Observed(
        has_memory=answer.has_memory and bool(room.lines),
        lines=room.lines,
        model=asking.answers[-1].model,
        used_memory_ids=tuple(answer.used_memory_ids),
        current_task=answer.current_task,
        suggested_continuation=answer.suggested_continuation,
        thread_title=answer.thread_title,
        facts=tuple(facts),
        usage=asking.usage,
        calls=asking.calls,
        covered_to=earlier(answer.covered_to, room.covered_to),
        prompt_version=observation_prompt.PROMPT_VERSION,
        lines_not_read=answer.lines_not_read,
        facts_not_read=answer.facts_not_read,
        lines_left_out=room.left_out,
    )


def _rows_within(rows: Sequence[ReflectionRow], target: int) -> tuple[ReflectedRow, ...]:
    """Return the leading rows that stay within ``target`` tokens together; a first row above it is trimmed to it."""
    fitting: list[ReflectedRow] = []
    left = target
    for row in rows:
        text = row.text if fitting else trim_to(row.text, target)
        if estimate(text) > left:
            break
        fitting.append(ReflectedRow(text, tuple(row.group_ids)))
        left -= estimate(text)
    return tuple(fitting)
