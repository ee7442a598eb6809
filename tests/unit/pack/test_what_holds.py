"""No pack says what does not hold as if it held (docs/rules/pack.md#what-no-longer-holds)."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neve.domain.memories.marks import REPLACED
from neve.domain.observe.facts import ProposedFact
from neve.domain.records.memories import Kind, Memory, Status
from neve.store import rows
from neve.usecases.ask.pack.read_pack import preview_pack, read_pack
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.memories.evolve_memory import Evolution, evolve_memory
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.world import World, observed_line


@pytest.fixture
def world(new_world: World) -> World:
    return new_world


def facts(world: World, status: Status = Status.ACTIVE) -> dict[str, Memory]:
    return {m.text: m for m in world.memories() if m.kind is Kind.FACT and m.status is status and m.died_gen is None}


def stated(world: World, text: str, session: str, instead_of: str | None = None) -> None:
    """Said in a session of its own: a line and a fact of one message."""
    world.open(session=session)
    world.say(text, "Noted.", session=session)
    target = facts(world)[instead_of].id if instead_of else None
    fact = ProposedFact(text, "PLACE", 3, "user_stated", "updates" if target else "new", target, 1, 1)
    world.observer.answers.append(observed_line(f"🔴 {text}", 1, 2, facts=(fact,)))
    observe_session(world.user().of_session(session), 1, ObservationReport())


def new_pack(world: World) -> str:
    """Of a conversation that is begun now."""
    return str(preview_pack(world.user()).text)


def local_pack(world: World, session: str) -> str:
    scope = world.user().of_session(session)
    build_pack(scope, "horizon")
    return str(read_pack(scope).text)


LYON, NICE, OSLO = "User lives in Lyon", "User moved to Nice", "User moved to Oslo"


def test_the_line_of_what_was_superseded_leaves_with_the_next_build(world: World) -> None:
    stated(world, LYON, "s1")
    assert LYON in new_pack(world)
    stated(world, NICE, "s2", instead_of=LYON)
    for text in (new_pack(world), local_pack(world, "s1"), local_pack(world, "s2")):
        assert "Lyon" not in text and text.count(NICE) == 1
    stated(world, OSLO, "s3", instead_of=NICE)
    assert [one in new_pack(world) for one in (LYON, NICE, OSLO)] == [False, False, True]


def test_what_says_more_stays_with_a_mark(world: World) -> None:
    world.open()
    world.say("I live in Lyon with two cats", "Noted.")
    fact = ProposedFact(LYON, "PLACE", 3, "user_stated", "new", None, 1, 1)
    world.observer.answers.append(observed_line(f"🔴 {LYON} with two cats", 1, 1, facts=(fact,)))
    observe_session(world.user().of_session("s1"), 1, ObservationReport())
    evolve_memory(world.user(), facts(world)[LYON].id, Evolution("User lives in Nice", "moved"))
    text = new_pack(world)
    assert f"🔴 {REPLACED[:-1]}: {LYON}] {LYON} with two cats" in text and "User lives in Nice" in text


def test_what_a_person_put_away_is_in_no_pack(world: World) -> None:
    stated(world, LYON, "s1")
    update_memory(world.user(), facts(world)[LYON].id, MemoryChange({"status": Status.ARCHIVED}), None)
    assert new_pack(world) == "" and "Lyon" not in local_pack(world, "s1")
    update_memory(world.user(), facts(world, Status.ARCHIVED)[LYON].id, MemoryChange({"status": Status.ACTIVE}), None)
    assert LYON in new_pack(world)


def test_what_waits_is_in_no_pack_until_it_is_let_in(world: World) -> None:
    world.with_policy(review_mode="interactive")
    stated(world, LYON, "s1")
    [waiting] = facts(world, Status.INBOX).values()
    assert new_pack(world) == ""
    update_memory(world.user(), waiting.id, MemoryChange({"status": Status.ACTIVE}), None)
    assert LYON in new_pack(world)


def test_what_was_superseded_by_what_is_taken_back_holds_again(world: World) -> None:
    stated(world, LYON, "s1")
    stated(world, NICE, "s2", instead_of=LYON)
    taken_back(world, "s2")
    text = new_pack(world)
    assert text.count(LYON) == 1 and "Nice" not in text
    stated(world, OSLO, "s3", instead_of=LYON)
    text = new_pack(world)
    assert "Lyon" not in text and OSLO in text


def taken_back(world: World, session: str) -> None:
    scope = world.user().of_session(session)
    answer = retract_events(scope, Retract(1, None, "edited"))
    item = world.table.get(world.tenant.keys.job(answer.job_id))
    assert item is not None
    if item["type"] == rows.QUEUED_JOB:  # not a second time
        run_retraction(scope, message_of_row(item).body)
    done = world.table.get(world.tenant.keys.job(answer.job_id))
    assert done is not None and rows.read_job(done).status == "done"


def test_whoever_has_none_pays_for_no_query(world: World) -> None:
    """docs/access-patterns.md."""
    stated(world, LYON, "s1")
    scope = world.user().of_session("s1")
    for queries in (1, 2):
        build_pack(scope, "horizon")
        world.table.calls.clear()
        build_pack(scope, "horizon")
        assert (world.table.calls["query"], world.table.calls["get_many"]) == (queries, 3)
        stated(world, f"{NICE} {queries}", f"more{queries}", instead_of=LYON if queries == 1 else f"{NICE} 1")


STEPS = st.lists(st.tuples(st.sampled_from(["say", "evolve", "reject", "back"]), st.integers(0, 3)), max_size=6)
PLACES = ("Lyon", "Nice", "Oslo", "Bern")


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_no_pack_shows_what_does_not_hold_as_holding(steps: list[tuple[str, int]]) -> None:
    with TemporaryDirectory() as folder:
        world = World.make(Path(folder))
        stated(world, f"User lives in {PLACES[0]}", "s0")
        for number, (step, place) in enumerate(steps, 1):
            known, text = facts(world), f"User lives in {PLACES[place]}"
            current = next(iter(known), None)
            if step == "say" and text not in known:
                stated(world, text, f"s{number}", instead_of=current)
            elif step == "evolve" and current not in (None, text):
                evolve_memory(world.user(), known[str(current)].id, Evolution(text, "moved"))
            elif step == "reject" and current:
                update_memory(world.user(), known[current].id, MemoryChange({"status": Status.ARCHIVED}), None)
            elif step == "back" and (said := [one.session_id for one in known.values() if one.session_id]):
                taken_back(world, said[0])
            holding = {one for one in PLACES if f"User lives in {one}" in facts(world)}
            shown = {one for one in PLACES if one in new_pack(world)}
            assert shown == holding, (step, place)
        world.table.close()
