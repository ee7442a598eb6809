"""A dry run of E3 says what a pass would write, and writes nothing but what the model has cost."""

from __future__ import annotations

import pytest

from local.engine.sqlite_table import Change
from neve.domain.errors import NeveError
from neve.domain.observe.facts import ProposedFact
from neve.domain.records.memories import Kind, Status
from neve.ports.errors import ModelUnavailable
from neve.scope import SessionScope
from neve.usecases.core.jobs.finish_job import NOTHING_NEW
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.work.observe.dry_run import NO_MODEL, NO_TIME, TIME_S, dry_run
from neve.usecases.work.observe.lease import take_lease
from neve.usecases.work.observe.observe_session import observe_session
from tests.unit.world import NOTHING, World, observed_line


def session(world: World) -> SessionScope:
    return world.user("ann").of_session("s1")


def changes(world: World) -> list[Change]:
    """Every change of the table so far."""
    return list(world.table.read_changes(0, 10_000))


def test_what_would_be_written_is_what_a_pass_then_writes(world: World) -> None:
    world.open()
    old = create_memory(world.user("ann"), NewMemory("User lives in Paris", Kind.FACT, category="PLACE")).id
    world.say("I moved to Nice.", "Nice!")
    said = ProposedFact("User lives in Nice", "PLACE", 4, "user_stated", "updates", old, 1, 1)
    answer = observed_line("🔴 User moved to Nice", 1, 2, facts=(said,), used_memory_ids=())
    world.observer.answers = [answer, answer]
    before, sent = changes(world), list(world.queue.sent)
    dry = dry_run(session(world))
    assert changes(world) == before
    assert world.queue.sent == sent
    assert [one.text for one in dry.observations] == ["🔴 User moved to Nice"]
    assert [one.text for one in dry.facts.values()] == ["User lives in Nice"]
    assert (dry.superseded, dry.reinforced, dry.complete, dry.reason) == ([old], [], True, None)
    assert dry.tokens == sum(world.scope.count(text) for text in ("🔴 User moved to Nice", "User lives in Nice"))

    observe_session(session(world), 1)
    texts = {one.text: one.status for one in world.memories()}
    assert texts == {
        "User lives in Paris": Status.SUPERSEDED,
        "🔴 User moved to Nice": Status.ACTIVE,
        "User lives in Nice": Status.ACTIVE,
    }


def test_what_the_model_has_cost_is_counted_and_nothing_else(world: World) -> None:
    world.open()
    world.say("I moved to Nice.", "Nice!")
    usage = {"input": 100, "output": 20}
    world.observer.answers = [observed_line("🔴 User moved to Nice", 1, 2, usage=usage)]
    before = changes(world)
    dry = dry_run(session(world))
    [change] = changes(world)[len(before) :]
    counted = world.table.get(session(world).keys.usage) or {}
    assert (change.key, counted["type"]) == (session(world).keys.usage, "usage")
    cost = {"model_calls": 1, "model_input_tokens": 100, "model_output_tokens": 20}
    assert dry.cost == cost == {name: counted[name] for name in cost}


def test_nothing_new_and_nothing_worth_keeping_say_so(world: World) -> None:
    world.open()
    assert dry_run(session(world)).reason == NOTHING_NEW
    world.say("ok", "fine")
    world.observer.answers = [NOTHING]
    dry = dry_run(session(world))
    assert (dry.observations, dry.reason, dry.complete) == ([], "the observer found nothing worth keeping", True)


def test_a_model_that_does_not_answer_and_time_that_is_over_are_told(world: World) -> None:
    world.open()
    world.say("I moved to Nice.", "Nice!")
    world.observer.answers = [ModelUnavailable("busy")]
    before = changes(world)
    dry = dry_run(session(world))
    assert (dry.complete, dry.reason) == (False, NO_MODEL)
    assert changes(world) == before
    assert not world.model_is_down

    world.with_policy(observer_transcript_cap=2_000)
    world.say(*["I moved to Nice. " * 200] * 8)
    world.observer.meanwhile = lambda: world.clock.move(seconds=TIME_S - 9)
    dry = dry_run(session(world))
    assert (dry.report.passes, dry.complete, dry.reason) == (1, False, NO_TIME)


def test_a_pass_under_way_is_a_conflict(world: World) -> None:
    world.open()
    world.say("I moved to Nice.", "Nice!")
    take_lease(session(world))
    with pytest.raises(NeveError) as refused:
        dry_run(session(world))
    assert refused.value.code == "conflict"
    with pytest.raises(NeveError) as unknown:
        dry_run(world.user("ann").of_session("nope"))
    assert unknown.value.code == "session_not_found"
