"""A reflection that gets no usable answer holds nothing up, and is not asked for all the time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neve.observing import Reflected, ReflectedRow
from neve.ports.errors import AnswerCutOff, ContentRefused, ModelUnavailable
from neve.scope import SessionScope
from neve.store import rows
from neve.usecases.core.jobs.messages.observation import observation_message
from neve.usecases.core.jobs.read_jobs import get_job
from neve.usecases.core.lag.model_down import queued_of
from neve.usecases.work.observe.extract_session import extract_session
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.reflect.reflect_session import (
    ASKED_AGAIN_AFTER,
    ASKED_LATELY,
    NOTHING,
    OVERTAKEN,
    reflect_session,
)
from tests.unit.world import World, observed_line


def grown(folder: Path) -> World:
    """A session of 700 tokens of observations, which reach the trigger."""
    world = World.make(folder)
    world.with_policy(window=2_000)  # trigger 650, target 325
    world.open()
    for number in range(7):
        world.say("a", "b")
        first = 2 * number + 1
        world.observer.answers = [observed_line(f"🟡 {number} " + "x" * 315, first, first + 1)]
        observe_session(scope_of(world), 1)
    return world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with closing((world := grown(tmp_path)).table):
        yield world


def scope_of(world: World) -> SessionScope:
    return world.user("ann").of_session("s1")


def reflect(world: World) -> list[str]:
    return reflect_session(scope_of(world), 1)


@pytest.mark.parametrize(
    "failure", [ModelUnavailable("status 529"), ModelUnavailable("answered out of form"), AnswerCutOff("cut off")]
)
def test_nothing_waits_for_a_reflection_that_got_no_usable_answer(world: World, failure: Exception) -> None:
    scope = scope_of(world)
    world.say("and then", "yes")
    world.observer.reflections = [failure]
    message = observation_message(scope.keys, 1, 16).body
    report = extract_session(scope, message)
    job = get_job(scope, message["job_id"])
    reason = f"the language model gave no usable answer: {failure}"
    assert (job.status, job.result["reflection_reason"], len(job.result["written"])) == ("done", reason, 1)
    assert report is not None and report.not_reflected == reason
    assert world.model_is_down
    world.say("and then", "yes")
    assert queued_of(scope) == ()


def test_it_is_asked_for_again_behind_the_first_pass_after_ten_minutes(world: World) -> None:
    world.observer.reflections = [AnswerCutOff("cut off")]
    assert reflect(world) == []
    world.clock.move(seconds=ASKED_AGAIN_AFTER.total_seconds() - 1)
    world.say("and then", "yes")
    observe_session(scope_of(world), 1)
    report = ObservationReport()
    assert reflect_session(scope_of(world), 1, lambda: 0.0, report) == [], "that there is no time stops nobody"
    assert (len(world.observer.reflected), report.not_reflected) == (1, ASKED_LATELY)
    world.clock.move(seconds=1)
    assert len(reflect(world)) == 1
    assert not world.model_is_down


REFUSED = ContentRefused("declined by the provider's safeguards")
USAGE = {"input": 65_000, "output": 12}
UNWRITTEN = [REFUSED, Reflected((), "scripted", usage=USAGE), Reflected((ReflectedRow(" "),), "scripted", usage=USAGE)]


@pytest.mark.parametrize("answer", UNWRITTEN)
def test_what_the_model_refuses_or_answers_with_nothing_is_not_asked_for_behind_every_pass(
    world: World, answer: Reflected | Exception
) -> None:
    scope, reasons = scope_of(world), list[str]()
    world.observer.reflections = [answer, answer]
    for turn in range(3):
        world.say("and then", "yes")
        message = observation_message(scope.keys, 1, 16 + 2 * turn).body
        report = extract_session(scope, message)
        job = get_job(scope, message["job_id"])
        assert report is not None and (job.status, report.not_reflected) == ("done", job.result["reflection_reason"])
        reasons.append(job.result["reflection_reason"])
    first = NOTHING if isinstance(answer, Reflected) else f"the language model refused the request: {REFUSED}"
    assert (len(world.observer.reflected), reasons) == (1, [first, ASKED_LATELY, ASKED_LATELY])
    assert not world.model_is_down, "it has answered"
    world.observer.reflections = []
    world.clock.move(minutes=10)
    assert len(reflect(world)) == 1


def test_what_another_worker_was_faster_with_is_no_failure(world: World) -> None:
    world.observer.meanwhile = lambda: (reflect(world), None)[1]
    report = ObservationReport()
    assert reflect_session(scope_of(world), 1, notes=report) == []
    marker = rows.read_marker(world.table.get(scope_of(world).keys.marker) or {})
    assert (report.not_reflected, marker.reflection_failed_at) == (OVERTAKEN, None)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1_500), st.sampled_from([AnswerCutOff("cut off"), *UNWRITTEN])), max_size=8))
def test_between_two_questions_without_an_answer_are_ten_minutes(
    asked: list[tuple[int, Reflected | Exception]],
) -> None:
    with TemporaryDirectory() as folder, closing((world := grown(Path(folder))).table):
        asked_at: list[datetime] = []
        for pause, answer in asked:
            world.clock.move(seconds=pause)
            before = len(world.observer.reflected)
            world.observer.reflections = [answer]
            with suppress(ContentRefused):
                assert reflect(world) == []
            if len(world.observer.reflected) > before:
                assert all(world.clock.now() - at >= ASKED_AGAIN_AFTER for at in asked_at[-1:])
                asked_at.append(world.clock.now())
            else:
                assert world.clock.now() - asked_at[-1] < ASKED_AGAIN_AFTER
