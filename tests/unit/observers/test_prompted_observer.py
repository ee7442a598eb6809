"""The observer that asks a model: one call, one retry over the budget, a hard trim, usage added up."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from neve.domain.observe.prompt import OUT_OF_FORM_REMARK
from neve.domain.observe.time_limits import COMMIT_S, READING_S, TOKENS_PER_S
from neve.domain.records.sessions import Event, EventType
from neve.domain.tokens import estimate
from neve.observers.prompted import PromptedObserver
from neve.observing import (
    CondenseInput,
    FilingInput,
    ObservedLine,
    PassInput,
    PriorMemory,
    ProposedFact,
    ReflectGroup,
    ReflectInput,
)
from neve.ports.errors import AnswerCutOff, AnswerOutOfForm, ContentRefused, ModelRefused, ModelUnavailable
from neve.ports.models import ModelAnswer, ModelRequest


class ScriptedModel:
    """Gives the answers (or raises the errors) in order and keeps the requests."""

    def __init__(self, *answers: Mapping[str, Any] | Exception) -> None:
        self._answers = list(answers)
        self.requests: list[ModelRequest] = []

    def call_tool(self, request: ModelRequest) -> ModelAnswer:
        self.requests.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return ModelAnswer(answer, "model-1", {"input": 100, "output": 10 * len(self.requests)})


def last_text(request: ModelRequest) -> str:
    return str(request.content[-1]["text"])


GOALS = "/profile/goals"
EVENTS = tuple(
    Event(seq, EventType.USER_MESSAGE, f"event {seq}", 3, f"2026-03-10T09:0{seq}:00.000Z") for seq in (3, 4, 5)
)


def given(output_cap: int = 8_000, prior: tuple[PriorMemory, ...] = ()) -> PassInput:
    return PassInput("s1", EVENTS, prior, "UTC", output_cap)


def entry(text: str, seq_from: int = 3, seq_to: int = 5) -> dict[str, Any]:
    return {"text": text, "seq_from": seq_from, "seq_to": seq_to}


def memory(*texts: str, **more: Any) -> dict[str, Any]:
    return {"has_memory": True, "observations": [entry(text) for text in texts], **more}


def test_one_call_becomes_an_observation() -> None:
    fact = {"text": "User sails", "category": "PREFERENCE", "importance": 3, "by": "user_stated"}
    model = ScriptedModel(
        {
            "has_memory": True,
            "observations": [
                entry("🔴 User sails", 3, 4),
                {"text": "🟡 out of form"},
                entry("✅ User sold the boat", 5, 50),
            ],
            "used_memory_ids": ["mem_1", "mem_1", "mem_2"],
            "current_task": "sell the boat",
            "suggested_continuation": "Ask how it went.",
            "thread_title": "The boat",
            "facts": [fact, {**fact, "category": "HOBBY"}],
        }
    )
    observer = PromptedObserver(model, "anthropic")
    answer = observer.observe(given(prior=(PriorMemory("mem_1", "🟡 User owns a boat", True),)))
    assert observer.name == "anthropic"
    assert answer.has_memory
    assert answer.lines == (ObservedLine("🔴 User sails", 3, 4), ObservedLine("✅ User sold the boat", 5, 5))
    assert answer.used_memory_ids == ("mem_1",)
    assert (answer.current_task, answer.thread_title) == ("sell the boat", "The boat")
    assert answer.suggested_continuation == "Ask how it went."
    assert answer.facts == (ProposedFact("User sails", "PREFERENCE", 3, "user_stated", "new", None),)
    assert (answer.lines_not_read, answer.facts_not_read) == (1, 1)
    assert (answer.model, answer.usage, answer.calls) == ("model-1", {"input": 100, "output": 10}, 1)
    request = model.requests[0]
    assert request.purpose == "observe"
    assert request.tool_name == "record_observations"
    assert request.max_tokens > 8_000


def test_nothing_worth_keeping() -> None:
    answer = PromptedObserver(ScriptedModel({"has_memory": False}), "m").observe(given())
    assert not answer.has_memory
    assert answer.lines == ()
    blank = PromptedObserver(ScriptedModel(memory("  ")), "m").observe(given())
    assert not blank.has_memory


def test_over_budget_is_asked_again_with_both_sizes_then_trimmed() -> None:
    """docs/rules/values.md#retry-and-trim: target 10, 100 characters -> a retry that names 32 and 10 -> text from the
    retry, at most 10."""
    model = ScriptedModel(memory("a" * 100), memory("b" * 100))
    answer = PromptedObserver(model, "m").observe(given(output_cap=10))
    assert len(model.requests) == 2
    assert "32" in last_text(model.requests[1])
    assert "10" in last_text(model.requests[1])
    assert "32" not in last_text(model.requests[0]).replace("2026", "")
    (line,) = answer.lines
    assert line.text == "b" * 31 + "…"
    assert estimate(line.text) <= 10
    assert (answer.calls, answer.usage) == (2, {"input": 200, "output": 30})


@pytest.mark.parametrize("failure", [ModelUnavailable("busy"), ModelRefused("no such key"), ContentRefused("declined")])
def test_where_the_second_answer_fails_the_first_is_trimmed(failure: Exception) -> None:
    """It was of the form, and is paid for."""
    model = ScriptedModel(memory("a" * 100), failure)
    answer = PromptedObserver(model, "m").observe(given(output_cap=10))
    assert [line.text for line in answer.lines] == ["a" * 31 + "…"]
    assert (answer.calls, answer.usage) == (1, {"input": 100, "output": 10})
    reflected = PromptedObserver(ScriptedModel(rows(640), failure), "m").reflect(GIVEN_NOTES)
    assert reflected.rows and reflected.calls == 1


@pytest.mark.parametrize(
    "second", [ModelUnavailable("busy"), ModelRefused("no such key"), ContentRefused("declined"), {}, {"actions": 1}]
)
def test_where_the_second_answer_of_a_librarian_is_none_the_first_stands(second: Any) -> None:
    """Its changes were of the form, and are paid for; content that the model refuses now would be filed without it."""
    first = {"title": "Runs", "actions": [{"action": "create", "path": GOALS, "text": "Run.", "seqs": [3]}, "other"]}
    filed = PromptedObserver(ScriptedModel(first, second), "m").file_away(FilingInput("s1", EVENTS, ()))
    assert [action.path for action in filed.actions] == [GOALS]
    assert filed.account is not None and filed.account.title == "Runs"
    assert filed.rejected == {"malformed": 1}


@pytest.mark.parametrize("failure", [ModelUnavailable("busy"), ContentRefused("declined")])
def test_an_answer_of_a_librarian_that_is_out_of_form_stands_for_nothing(failure: Exception) -> None:
    with pytest.raises(type(failure)):
        PromptedObserver(ScriptedModel({"actions": 1}, failure), "m").file_away(FilingInput("s1", EVENTS, ()))


def test_a_librarian_whose_answer_is_cut_off_is_asked_for_less() -> None:
    given = FilingInput("s1", EVENTS, (), remark="While you read, a person changed /profile/goals.")
    model = ScriptedModel(AnswerCutOff("cut off"), {"title": "A boat"})
    filed = PromptedObserver(model, "m").file_away(given)
    assert filed.account is not None and filed.account.title == "A boat"
    remark = last_text(model.requests[1])
    assert "a person changed /profile/goals" in remark and "at most 20000 tokens" in remark
    assert "20000" not in last_text(model.requests[0])


CUT_OFF, MALFORMED = AnswerCutOff("cut off"), {"actions": 1}
NO_CALL = AnswerOutOfForm("no call of file_conversation")


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        (CUT_OFF, CUT_OFF, "cut_off"),
        (CUT_OFF, MALFORMED, "cut_off"),
        (MALFORMED, CUT_OFF, "out_of_form"),
        (MALFORMED, MALFORMED, "out_of_form"),
        (NO_CALL, NO_CALL, "out_of_form"),
    ],
)
def test_a_librarian_of_whose_two_answers_nothing_can_be_used_files_nothing(first: Any, second: Any, why: str) -> None:
    """The same question would have the same answers, of 20,000 tokens each."""
    model = ScriptedModel(first, second)
    filed = PromptedObserver(model, "m").file_away(FilingInput("s1", EVENTS, ()))
    assert (filed.actions, filed.account, filed.rejected) == ((), None, {why: 1})
    assert len(model.requests) == 2


def test_a_librarian_without_time_to_be_asked_for_less_gives_no_answer() -> None:
    """Another worker has the time."""
    model = ScriptedModel(CUT_OFF)
    with pytest.raises(AnswerCutOff):
        PromptedObserver(model, "m", 50.0).file_away(FilingInput("s1", EVENTS, (), seconds_left=lambda: 100.0))


@pytest.mark.parametrize("failure", [ModelUnavailable("busy"), ContentRefused("declined"), ModelRefused("no such key")])
def test_an_outage_behind_an_answer_that_was_cut_off_is_an_outage(failure: Exception) -> None:
    with pytest.raises(type(failure)):
        PromptedObserver(ScriptedModel(CUT_OFF, failure), "m").file_away(FilingInput("s1", EVENTS, ()))


def test_an_answer_over_budget_is_trimmed_at_once_when_there_is_no_time_for_another() -> None:
    model = ScriptedModel(memory("a" * 100), memory("b" * 100))
    observer = PromptedObserver(model, "m", longest_s=50.0)
    answer = observer.observe(replace(given(output_cap=10), seconds_left=lambda: 49.0))
    assert (len(model.requests), answer.calls) == (1, 1)
    assert answer.lines[0].text == "a" * 31 + "…"
    [asked] = model.requests
    assert asked.within_s == 49.0 - COMMIT_S, "what comes back later could not be committed"
    reflecting = ScriptedModel(rows(640))
    PromptedObserver(reflecting, "m", longest_s=50.0).reflect(replace(GIVEN_NOTES, seconds_left=lambda: 49.0))
    assert [asked.within_s for asked in reflecting.requests] == [49.0 - COMMIT_S]


def test_a_shorter_second_answer_is_kept_whole() -> None:
    model = ScriptedModel(memory("a" * 100), memory("🟡 short"))
    answer = PromptedObserver(model, "m").observe(given(output_cap=10))
    assert [line.text for line in answer.lines] == ["🟡 short"]


def test_an_empty_second_answer_leaves_the_first_trimmed() -> None:
    model = ScriptedModel(memory("a" * 100), {"has_memory": False})
    answer = PromptedObserver(model, "m").observe(given(output_cap=10))
    assert [line.text for line in answer.lines] == ["a" * 31 + "…"]
    assert answer.has_memory


def test_exactly_the_budget_is_not_over_it() -> None:
    model = ScriptedModel(memory("a" * 32))
    assert PromptedObserver(model, "m").observe(given(output_cap=10)).calls == 1


@pytest.mark.parametrize("cap", [1, 2, 5, 10, 11, 12, 13, 20, 40])
def test_trimmed_lines_together_stay_within_the_budget(cap: int) -> None:
    long = memory("🔴 first line", "🟡 second line", "✅ third line " + "x" * 200)
    answer = PromptedObserver(ScriptedModel(long, long), "m").observe(given(output_cap=cap))
    assert estimate("\n".join(line.text for line in answer.lines)) <= cap
    if cap >= 12:
        assert [line.text for line in answer.lines][:2] == ["🔴 first line", "🟡 second line"]


OUT_OF_FORM: list[dict[str, Any]] = [
    {},
    {"has_memory": "perhaps"},
    {"has_memory": True, "observations": [{"text": "x"}]},
]


@pytest.mark.parametrize("bad", OUT_OF_FORM)
def test_an_answer_out_of_form_is_asked_for_once_more_and_quotes_nothing(bad: dict[str, Any]) -> None:
    model = ScriptedModel(bad, bad)
    with pytest.raises(AnswerOutOfForm, match="out of form") as raised:
        PromptedObserver(model, "m").observe(given())
    assert raised.value.__cause__ is None
    first, second = map(last_text, model.requests)
    assert second.removeprefix(first).strip() == OUT_OF_FORM_REMARK


@pytest.mark.parametrize("first", [*OUT_OF_FORM, AnswerOutOfForm("no call of record_observations")])
def test_the_second_answer_counts_where_the_first_was_out_of_form(first: Any) -> None:
    model = ScriptedModel(first, memory("🟡 short"))
    answer = PromptedObserver(model, "m").observe(given())
    assert [line.text for line in answer.lines] == ["🟡 short"]
    assert answer.usage["output"] == (20 if isinstance(first, Exception) else 30), "what the first cost counts, too"


def test_an_answer_out_of_form_is_not_asked_for_again_without_time_for_another() -> None:
    model = ScriptedModel({}, memory("🟡 short"))
    with pytest.raises(AnswerOutOfForm):
        PromptedObserver(model, "m", longest_s=50.0).observe(replace(given(), seconds_left=lambda: 49.0))
    assert len(model.requests) == 1


@pytest.mark.parametrize("failure", [ModelUnavailable("busy"), ModelRefused("no such key"), AnswerCutOff("cut off")])
def test_what_the_second_answer_fails_of_is_what_is_told(failure: Exception) -> None:
    """An outage behind an answer out of form is an outage."""
    with pytest.raises(type(failure), match=str(failure)):
        PromptedObserver(ScriptedModel({}, failure), "m").observe(given())


def test_what_fails_says_what_all_its_calls_cost() -> None:
    cut_off = AnswerCutOff("cut off", {"input": 70, "output": 9})
    with pytest.raises(AnswerCutOff) as raised:
        PromptedObserver(ScriptedModel({}, cut_off), "m").observe(given())
    assert (raised.value.calls, raised.value.usage) == (2, {"input": 170, "output": 19})
    with pytest.raises(ModelUnavailable) as outage:
        PromptedObserver(ScriptedModel({}, ModelUnavailable("busy")), "m").observe(given())
    assert (outage.value.calls, outage.value.usage) == (1, {"input": 100, "output": 10})


def test_a_second_answer_that_was_cut_off_is_a_part_of_what_the_first_cost() -> None:
    long = memory(*("🟡 " + letter * 300 for letter in "abc"))
    cut_off = AnswerCutOff("cut off", {"input": 70, "output": 9})
    answer = PromptedObserver(ScriptedModel(long, cut_off), "m").observe(given(output_cap=100))
    assert (answer.calls, answer.usage) == (2, {"input": 170, "output": 19})


@pytest.mark.parametrize("error", [ModelUnavailable("busy"), ModelRefused("key")])
def test_the_models_own_errors_pass_through(error: Exception) -> None:
    with pytest.raises(type(error), match=str(error)):
        PromptedObserver(ScriptedModel(error), "m").observe(given())
    with pytest.raises(type(error), match=str(error)):
        PromptedObserver(ScriptedModel(error), "m").reflect(GIVEN_NOTES)


# --- reflection ---------------------------------------------------------------------------------

GIVEN_NOTES = ReflectInput(
    "s1",
    [ReflectGroup(f"mem_{n}", f"🟡 note {n}", n, n, "2026-03-10T09:00:00.000Z") for n in (1, 2, 3)],
    target_tokens=100,
)


def rows(*lengths: int) -> dict[str, Any]:
    return {"rows": [{"text": chr(97 + n) * length, "group_ids": [f"mem_{n + 1}"]} for n, length in enumerate(lengths)]}


def test_reflections_name_their_groups() -> None:
    model = ScriptedModel(
        {"rows": [{"text": "🔴 a", "group_ids": ["mem_1", "mem_3"]}, {"text": "🟡 b", "group_ids": ["x"]}]}
    )
    answer = PromptedObserver(model, "m").reflect(GIVEN_NOTES)
    assert [(row.text, row.group_ids) for row in answer.rows] == [("🔴 a", ("mem_1", "mem_3")), ("🟡 b", ())]
    assert (answer.calls, answer.left_out) == (1, 0)
    assert model.requests[0].purpose == "reflect"
    assert "[group id: mem_2]" in last_text(model.requests[0])


def test_over_target_is_asked_again_then_trailing_rows_are_dropped() -> None:
    model = ScriptedModel(rows(320, 320), rows(160, 128, 96))
    answer = PromptedObserver(model, "m").reflect(GIVEN_NOTES)
    assert "200 tokens" in last_text(model.requests[1])
    assert "100 tokens" in last_text(model.requests[1])
    assert [len(row.text) for row in answer.rows] == [160, 128]
    assert (answer.calls, answer.left_out) == (2, 1)


def test_a_single_row_over_the_target_is_trimmed() -> None:
    model = ScriptedModel(rows(640), rows(640))
    answer = PromptedObserver(model, "m").reflect(GIVEN_NOTES)
    (row,) = answer.rows
    assert estimate(row.text) <= 100
    assert row.text.endswith("…")
    assert answer.left_out == 1, "what is cut of it is told, too"


def test_no_reflections() -> None:
    assert PromptedObserver(ScriptedModel({"rows": []}), "m").reflect(GIVEN_NOTES).rows == ()
    with pytest.raises(ModelUnavailable, match="out of form"):
        PromptedObserver(ScriptedModel({}), "m").reflect(GIVEN_NOTES)


ASKED_IN_TIME: dict[str, Callable[[PromptedObserver, float], object]] = {
    "observe": lambda observer, left: observer.observe(replace(given(output_cap=64_000), seconds_left=lambda: left)),
    "reflect": lambda observer, left: observer.reflect(replace(GIVEN_NOTES, seconds_left=lambda: left)),
    "condense": lambda observer, left: observer.condense(CondenseInput((), 60_000, seconds_left=lambda: left)),
    "file": lambda observer, left: observer.file_away(FilingInput("s1", EVENTS, (), seconds_left=lambda: left)),
}


@pytest.mark.parametrize("left_s", [50.0, 150.0, 900.0])
@pytest.mark.parametrize("ask", ASKED_IN_TIME.values(), ids=ASKED_IN_TIME.keys())
def test_an_answer_is_cut_off_by_its_tokens_before_its_time_is_over(
    ask: Callable[[PromptedObserver, float], object], left_s: float
) -> None:
    """A call that runs out of time is repeated unchanged, and paid for each time; one that is cut off is asked for in
    parts."""
    model = ScriptedModel(CUT_OFF, CUT_OFF)
    with suppress(AnswerCutOff):
        ask(PromptedObserver(model, "m", 1_000.0), left_s)
    request = model.requests[0]
    assert request.within_s <= left_s - COMMIT_S
    assert READING_S + request.max_tokens / TOKENS_PER_S <= request.within_s


def test_no_more_is_asked_for_than_can_be_written_in_the_time_of_an_answer() -> None:
    """By default half of 65,000 tokens: eight minutes of writing, of which a worker has two."""
    model = ScriptedModel(rows(320))
    answer = PromptedObserver(model, "m").reflect(replace(GIVEN_NOTES, target_tokens=32_500))
    [request] = model.requests
    allowed = re.search(r"At most (\d+) tokens are allowed", last_text(request))
    assert allowed and int(allowed[1]) / TOKENS_PER_S < request.within_s
    assert (len(answer.rows), answer.left_out) == (1, 0)


def test_an_answer_that_was_written_in_time_is_kept_up_to_the_target() -> None:
    model = ScriptedModel(rows(*[10_000] * 5))
    answer = PromptedObserver(model, "m").reflect(replace(GIVEN_NOTES, target_tokens=32_500))
    assert (len(model.requests), len(answer.rows), answer.left_out) == (1, 5, 0)


def test_a_second_reflection_is_asked_for_in_the_same_size() -> None:
    model = ScriptedModel(rows(*[10_000] * 12), rows(320))
    PromptedObserver(model, "m").reflect(replace(GIVEN_NOTES, target_tokens=32_500))
    assert "at most 4500 tokens are allowed" in last_text(model.requests[1])
