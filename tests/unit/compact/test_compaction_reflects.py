"""The passes of a compaction are passes like any other: what they wrote is folded before the pack is built."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from neve.domain.records.jobs import Job
from neve.domain.records.memories import Kind, Status
from neve.ports.errors import AnswerCutOff, ModelRefused, ModelUnavailable
from neve.scope import SessionScope
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.ask.sessions.read_sessions import get_session
from neve.usecases.core.jobs.read_jobs import get_job
from neve.usecases.core.memories.replace_rows import Replacement, _begin
from neve.usecases.tell.requests.request_compaction import request_compaction
from neve.usecases.work.compact.compact_session import compact_session
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.reflect.reflect_session import ASKED_LATELY
from tests.unit.world import World, observed_line, time_for


@pytest.fixture
def world(new_world: World) -> World:
    new_world.with_policy(window=2_000)  # reflection trigger 650, target 325
    new_world.open()
    read_pack(scope_of(new_world))
    return new_world


def scope_of(world: World) -> SessionScope:
    return world.user("ann").of_session("s1")


def grown(world: World, tokens: int = 120) -> None:
    """Twelve turns, of which six passes have made 600 tokens; the pass of a compaction makes ``tokens`` more."""
    for number in range(6):
        world.say("u" * 320, "a" * 320)
        world.say("u" * 320, "a" * 320)
        first = 4 * number + 1
        world.observer.answers = [observed_line(f"🟡 {number} " + "x" * 300, first, first + 3)]
        if number < 5:
            observe_session(scope_of(world), 1)
    world.observer.answers = [observed_line("🟡 5 " + "x" * (tokens * 32 // 10), 21, 24)]


def ask(world: World) -> dict[str, Any]:
    return world.queued(request_compaction(scope_of(world), "manual", wait=False))


def compact(world: World) -> Job:
    body = ask(world)
    compact_session(scope_of(world), body)
    return get_job(world.user("ann"), body["job_id"])


def shown(world: World) -> list[Kind]:
    return [memory.kind for memory in world.memories() if memory.status is Status.ACTIVE]


def test_what_its_passes_wrote_is_folded_and_the_pack_built_once(world: World) -> None:
    grown(world, tokens=300)
    job = compact(world)
    assert (job.result["outcome"], job.result["pack_version"]) == ("covered", 2)
    [reflection] = job.result["reflections"]
    assert world.memory(reflection).kind is Kind.REFLECTION
    assert len(world.observer.reflected[0].groups) == 6
    pack = read_pack(scope_of(world))
    assert pack.manifest is not None
    assert ([entry.id for entry in pack.manifest.layers["local"]], pack.manifest.trigger) == ([reflection], "horizon")
    assert get_session(scope_of(world)).epoch.rebuild_due is None


def test_below_the_trigger_nothing_is_folded(world: World) -> None:
    grown(world, tokens=100)
    job = compact(world)
    assert (job.result["outcome"], "reflections" in job.result, world.observer.reflected) == ("covered", False, [])


def test_the_pack_is_built_also_where_the_horizon_stays(world: World) -> None:
    for number in range(3):
        world.say("u", "a")
        world.observer.answers = [observed_line(f"🟡 {number} " + "x" * 900, 2 * number + 1, 2 * number + 2)]
        if number < 2:
            observe_session(scope_of(world), 1)
    job = compact(world)
    assert (job.result["outcome"], len(job.result["reflections"]), job.result["pack_version"]) == (
        *("nothing_to_cover", 1),
        2,
    )
    pack = read_pack(scope_of(world))
    assert pack.manifest is not None
    assert pack.manifest.trigger == "reflection"


def test_a_reflection_that_is_refused_holds_up_no_horizon(world: World) -> None:
    grown(world, tokens=300)
    world.observer.reflections = [ModelRefused("no such model")]
    body = ask(world)
    report = compact_session(scope_of(world), body)
    job = get_job(world.user("ann"), body["job_id"])
    reason = "the language model refused the request: no such model"
    assert (job.status, job.result["outcome"], job.result["reflection_reason"]) == ("done", "covered", reason)
    assert report is not None
    assert report.not_reflected == reason
    assert Kind.REFLECTION not in shown(world)


def test_rows_that_somebody_else_is_replacing_hold_up_no_horizon(world: World) -> None:
    grown(world, tokens=300)

    body = ask(world)
    user = world.user("ann")
    source = world.memories()[0]
    _begin(user, 1, Replacement((replace(source, id="mem_other"),), (source,), "by another"))
    compact_session(scope_of(world), body)
    job = get_job(user, body["job_id"])
    assert job.result["reflection_reason"] == "rows of the user are being replaced"
    assert job.result["outcome"] == "covered"


@pytest.mark.parametrize("failure", [ModelUnavailable("answered out of form"), AnswerCutOff("cut off")])
def test_a_reflection_that_gets_no_usable_answer_holds_up_no_horizon(world: World, failure: Exception) -> None:
    """Nor does it ask again in the next compaction."""
    grown(world, tokens=300)
    world.observer.reflections = [failure, failure]
    job = compact(world)
    reason = f"the language model gave no usable answer: {failure}"
    assert (job.status, job.result["outcome"], job.result["reflection_reason"]) == ("done", "covered", reason)
    again = compact(world)
    assert (again.status, again.result["reflection_reason"]) == ("done", ASKED_LATELY)
    assert len(world.observer.reflected) == 1


def test_while_the_model_is_down_the_horizon_waits_for_its_summary(world: World) -> None:
    grown(world, tokens=300)
    body = ask(world)
    world.observer.reflections, world.observer.summaries = [ModelUnavailable("529")], [ModelUnavailable("529")]
    with pytest.raises(ModelUnavailable):
        compact_session(scope_of(world), body)
    assert get_session(scope_of(world)).epoch.epoch == 0
    compact_session(scope_of(world), body)
    result = get_job(world.user("ann"), body["job_id"]).result
    assert (result["outcome"], result["reflection_reason"]) == ("covered", ASKED_LATELY)
    world.clock.move(minutes=10)
    assert len(compact(world).result["reflections"]) == 1


def test_a_reflection_that_takes_all_of_a_workers_time_leaves_the_next_one_to_the_summary(world: World) -> None:
    grown(world, tokens=300)
    body = ask(world)
    world.observer.reflections = [ModelUnavailable("timed out")]
    first = compact_session(scope_of(world), body, time_for(3))
    assert first is not None
    reason = "the language model gave no usable answer: timed out"
    assert (first.left_off_at, first.not_reflected) == ("24.summary", reason)
    second = compact_session(scope_of(world), body, time_for(1))
    assert second is not None and second.left_off_at is None
    result = get_job(world.user("ann"), body["job_id"]).result
    assert (result["outcome"], result["reflection_reason"]) == ("covered", ASKED_LATELY)
    assert len(world.observer.reflected) == 1


def test_a_reflection_that_there_is_no_time_for_is_left_to_another_worker(world: World) -> None:
    grown(world, tokens=300)
    body = ask(world)
    first = compact_session(scope_of(world), body, time_for(1))
    assert first is not None
    assert (first.left_off_at, get_job(world.user("ann"), body["job_id"]).status) == ("24.reflect", "running")
    second = compact_session(scope_of(world), body, time_for(2))
    assert second is not None
    assert (second.left_off_at, get_job(world.user("ann"), body["job_id"]).result["outcome"]) == (None, "covered")


def test_a_compaction_that_is_refused_says_what_its_passes_did(world: World) -> None:
    grown(world, tokens=100)
    world.say("And one more thing", "Good")
    world.observer.summaries = [ModelRefused("no such model")]
    body = ask(world)
    compact_session(scope_of(world), body)
    job = get_job(world.user("ann"), body["job_id"])
    reason = "the language model refused the request: no such model"
    assert (job.status, job.result["reason"], len(job.result["written"])) == ("failed", reason, job.result["passes"])
    assert job.result["passes"] > 0
