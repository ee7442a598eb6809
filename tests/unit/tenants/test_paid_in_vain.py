"""Every answer that the language model is paid for is in the tenant's usage, also where nothing is written of it
(docs/rules/tenants.md#usage)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from neve.domain.records.sessions import EventType
from neve.observers.prompted import PromptedObserver
from neve.observing import Reflected, ReflectedRow, Summarised
from neve.ports.errors import (
    AnswerCutOff,
    AnswerOutOfForm,
    ContentRefused,
    ModelUnavailable,
    NoAnswer,
    StoreUnavailable,
)
from neve.ports.models import ModelAnswer, ModelRequest
from neve.store.incarnation import UserErased
from neve.usecases.ask.tenants.tenant_usage import Usage, tenant_usage
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.memories.replace_rows import Replacement, ReplacementBusy, _begin
from neve.usecases.tell.requests.request_compaction import request_compaction
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.tell.tenants.paid_in_vain import count_in_vain, counting_if_lost
from neve.usecases.work.compact.compact_session import compact_session
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.reflect.reflect_session import reflect_session
from neve.usecases.work.reflect.request_reflection import request_reflection
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.librarian.library_world import LibraryWorld, answer, change
from tests.unit.reflect.night_world import NightWorld
from tests.unit.world import World, observed_line

USAGE = {"input": 60_000, "cache_read": 1_000, "cache_write": 500, "output": 4_000}
USED = {"usage": USAGE}
OUT_OF_FORM: dict[str, Any] = {"has_memory": "maybe", "rows": 7, "actions": 7, "insights": 7}


class PaidModel:
    """Gives the last of the answers (or raises the error) from then on. ``answered``: how many calls are paid for."""

    def __init__(self, *answers: dict[str, Any] | NoAnswer) -> None:
        self._answers = list(answers)
        self.answered = 0

    def call_tool(self, request: ModelRequest) -> ModelAnswer:
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        self.answered += not isinstance(answer, NoAnswer) or bool(answer.usage)
        if isinstance(answer, NoAnswer):
            raise type(answer)(str(answer), answer.usage)
        return ModelAnswer(answer, "model-1", USAGE)


def spent(world: World) -> Usage:
    return tenant_usage(world.scope).usage


def paid(calls: int) -> Usage:
    return Usage(
        model_calls=calls,
        model_input_tokens=calls * 61_500,
        model_cache_read_tokens=calls * 1_000,
        model_cache_write_tokens=calls * 500,
        model_output_tokens=calls * 4_000,
    )


def observed(folder: Path) -> World:
    world = World.make(folder)
    world.with_policy(window=2_000)
    world.open()
    for n in range(7):
        world.say("u" * 320, "a" * 320)
        world.observer.answers = [observed_line(f"🟡 {n} " + "x" * 315, 2 * n + 1, 2 * n + 2)]
        observe_session(world.user().of_session("s1"), 1)
    return world


# --- what is asked for --------------------------------------------------------------------------


def observing(world: World) -> None:
    world.say("I live in Berlin.", "Ah.", "I have two cats.")
    observe_session(world.user().of_session("s1"), 1)


def reflecting(world: World) -> None:
    reflect_session(world.user().of_session("s1"), 1)


def compacting(world: World) -> None:
    world.observer.reflections = [ModelUnavailable("status 529")]
    scope = world.user().of_session("s1")
    compact_session(scope, world.queued(request_compaction(scope, "manual", wait=False)))


def reading_again(world: World) -> None:
    scope = world.user().of_session("s1")
    job_id = retract_events(scope, Retract(14, 14, "edited")).job_id
    run_retraction(scope, message_of_row(world.table.get(scope.keys.job(job_id)) or {}).body)


def condensing(world: World) -> None:
    assert isinstance(world, NightWorld)
    world.fill(8)
    request_reflection(world.scope, "ann", None)
    [message] = world.messages()
    world.deliver(message)


def filing(world: World) -> None:
    assert isinstance(world, LibraryWorld)
    world.say("I live in Berlin.", "Ah.")
    world.end()
    world.file()


ASKED: dict[str, tuple[Callable[[Path], World], Callable[[World], None], str]] = {
    "pass": (observed, observing, "observe"),
    "reflection": (observed, reflecting, "reflect"),
    "summary": (observed, compacting, "summarise"),
    "read again": (observed, reading_again, "observe"),
    "night": (NightWorld.opened, condensing, "condense"),
    "filing": (LibraryWorld.at, filing, "file_away"),
}
FAILURES: dict[str, tuple[dict[str, Any] | NoAnswer, ...]] = {
    "cut off": (AnswerCutOff("the tool call was cut off (max_tokens)", USAGE),),
    "no tool call": (AnswerOutOfForm("no call of record", USAGE),),
    "out of form": (OUT_OF_FORM,),
    "declined": (ContentRefused("declined by the provider's safeguards", USAGE),),
    "an outage behind an answer": (OUT_OF_FORM, ModelUnavailable("status 529")),
    "an outage": (ModelUnavailable("status 529"),),
}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("asked", ASKED)
def test_what_comes_to_nothing_is_counted(
    asked: str, failure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, ask, method = ASKED[asked]
    with closing((world := made(tmp_path)).table):
        if asked == "filing":
            world.open()
        model = PaidModel(*FAILURES[failure])
        monkeypatch.setattr(world.observer, method, getattr(PromptedObserver(model, "m"), method))
        with suppress(NoAnswer):
            ask(world)
        assert model.answered or failure == "an outage"
        assert spent(world) == paid(model.answered)


def test_a_shorter_answer_that_does_not_come_whole_is_counted_with_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [{"text": f"🟡 {n} " + "x" * 300, "seq_from": 15, "seq_to": 15} for n in range(5)]
    model = PaidModel({"has_memory": True, "observations": lines}, AnswerCutOff("cut off", USAGE))
    with closing((world := observed(tmp_path)).table):
        world.with_policy(window=2_000, observer_output_cap=100)
        monkeypatch.setattr(world.observer, "observe", PromptedObserver(model, "m").observe)
        observing(world)
        assert (model.answered > 1, spent(world)) == (True, paid(model.answered))


def test_a_picture_that_was_declined_is_counted_beside_the_words_that_were_read(tmp_path: Path) -> None:
    with closing((world := observed(tmp_path)).table):
        scope = world.user().of_session("s1")
        shown = [
            {"type": "text", "text": "What is this?"},
            {"type": "image", "media_type": "image/png", "url": "https://example.com/a.png"},
        ]
        append_events(scope, [NewEvent(EventType.USER_MESSAGE, shown)])
        world.observer.answers = [ContentRefused("an image", USAGE), observed_line("🟡 a", 15, 15, **USED)]
        observe_session(scope, 1)
        assert spent(world) == paid(2)


# --- what others overtake -----------------------------------------------------------------------


def test_a_pass_that_is_asked_again_is_paid_twice(tmp_path: Path) -> None:
    """Something that it was shown was taken back while the model thought."""
    with closing((world := observed(tmp_path)).table):
        scope = world.user().of_session("s1")
        world.say("I live in Berlin.", "Ah.")
        world.observer.answers = [observed_line("🟡 a", 15, 16, **USED), observed_line("🟡 b", 15, 15, **USED)]
        world.observer.meanwhile = lambda: (retract_events(scope, Retract(16, 16, "edited")), None)[1]
        observe_session(scope, 1)
        assert spent(world) == paid(2)


def test_a_reflection_that_meets_another_replacement_is_counted(tmp_path: Path) -> None:
    with closing((world := observed(tmp_path)).table):
        source = world.memories()[0]
        world.observer.reflections = [Reflected((ReflectedRow("🔴 all of it"),), "scripted", USAGE)]
        world.observer.meanwhile = lambda: (
            _begin(world.user(), 1, Replacement((replace(source, id="mem_x"),), (source,), "by another")),
            None,
        )[1]
        with pytest.raises(ReplacementBusy):
            reflecting(world)
        assert spent(world) == paid(1)


def test_a_summary_whose_events_are_taken_back_meanwhile_is_paid_twice(tmp_path: Path) -> None:
    with closing((world := observed(tmp_path)).table):
        scope = world.user().of_session("s1")
        asked = list[int]()

        def summarise(given: Any) -> Summarised:
            asked.append(len(given.events))
            if len(asked) == 1:
                retract_events(scope, Retract(2, 2, "edited"))
            return replace(scripted(given), usage=USAGE)

        scripted = world.observer.summarise
        world.observer.summarise = summarise  # type: ignore[method-assign]
        compacting(world)
        assert (len(asked), spent(world)) == (2, paid(2))


def test_a_filing_whose_document_a_person_writes_meanwhile_is_paid_twice(tmp_path: Path) -> None:
    with closing((world := LibraryWorld.at(tmp_path)).table):
        world.open()
        world.say("My goal is a marathon.", "Ah.")
        world.end()
        world.put("/profile/goals", "Runs.")
        goals = change("update", "/profile/goals", "Runs a marathon.", 1)
        world.observer.filings = [answer(goals, usage=USAGE), answer(usage=USAGE)]
        world.meanwhile(lambda: world.put("/profile/goals", "Swims.", expected_rev=1))
        world.file()
        assert (len(world.observer.filed), spent(world)) == (2, paid(2))


# --- what is not counted ------------------------------------------------------------------------

COST = {
    "model_calls": 1,
    "model_input_tokens": 61_500,
    "model_cache_read_tokens": 1_000,
    "model_cache_write_tokens": 500,
    "model_output_tokens": 4_000,
}


def test_a_user_who_was_erased_meanwhile_costs_nothing_any_more(tmp_path: Path) -> None:
    with closing((world := observed(tmp_path)).table):
        count_in_vain(world.user(), 2, COST)
        assert spent(world) == paid(0)


def test_what_a_store_that_gave_no_answer_may_have_written_is_not_counted_again(tmp_path: Path) -> None:
    with closing((world := observed(tmp_path)).table):
        with pytest.raises(StoreUnavailable), counting_if_lost(world.user(), 1, COST):
            raise StoreUnavailable("table", "down")
        assert spent(world) == paid(0)
        with pytest.raises(UserErased), counting_if_lost(world.user(), 1, COST):
            raise UserErased
        assert spent(world) == paid(1)


def test_a_store_that_is_down_hides_no_failure_of_the_model(tmp_path: Path) -> None:
    with closing((world := observed(tmp_path)).table):

        def down() -> None:
            raise StoreUnavailable("table", "down")

        world.table.before_write = down
        count_in_vain(world.user(), 1, COST)
        assert spent(world) == paid(0)
