"""Passes: exactly once, fenced, nothing lost, nothing observed twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from neve.domain.records.markers import LiveRow
from neve.domain.records.sessions import EventType
from neve.ports.errors import ModelUnavailable
from neve.ports.table import Delete
from neve.store import rows
from neve.store.incarnation import UserErased
from neve.usecases.ask.sessions.read_sessions import get_session
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.observe.lease import LeaseHeld, LeaseLost, take_lease
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.prior_memories import prior_memories
from neve.usecases.work.observe.report import ObservationReport
from tests.unit.world import NOTHING, World, observed_line


def observe(world: World, *, closing: bool = False) -> ObservationReport:
    return observe_session(world.user("ann").of_session("s1"), 1, closing=closing)


def marker_of(world: World) -> tuple[int, int]:
    marker = get_session(world.user("ann").of_session("s1")).marker
    return marker.observed_seq, marker.offered_seq


def test_closing_advances_past_events_without_memory(world: World) -> None:
    world.observer.answers = [NOTHING]
    world.say("hm", "yes?")
    observe(world, closing=True)
    assert marker_of(world) == (2, 2)


def test_closing_offers_again_what_was_offered_before(world: World) -> None:
    world.observer.answers = [NOTHING, observed_line("🟡 moved after all", 1, 2)]
    world.say("hm", "yes?")
    observe(world)
    observe(world, closing=True)
    assert [memory.text for memory in world.memories()] == ["🟡 moved after all"]
    assert marker_of(world) == (2, 2)


def test_a_tail_longer_than_one_read_is_observed_to_its_end(world: World) -> None:
    """Tool results weigh more in the log than in the transcript, so a read may end before a pass is full."""
    world.with_policy(observer_transcript_cap=3_000, observer_output_cap=100)
    data = {"tool_use_id": "t", "name": "read"}
    for _ in range(8):
        append_events(
            world.user("ann").of_session("s1"), [NewEvent(EventType.TOOL_RESULT, "x" * 9_000, event_data=data)]
        )
    observe(world)
    assert marker_of(world)[0] == 8


def test_a_row_of_the_pack_that_came_to_the_session_since_is_shown_once(world: World) -> None:
    kept = create_memory(world.user("ann"), NewMemory("likes tea"))
    world.open(session="s2")
    scope = world.user("ann").of_session("s2")
    build_pack(scope, "horizon")
    marker = get_session(scope).marker
    live = (LiveRow(kept.id, kept.kind, kept.tokens),)
    world.table.write([rows.put_marker(scope.keys, replace(marker, live=live))])
    world.say("hello", "hi", session="s2")
    observe_session(scope, 1)
    assert [(p.id, p.local) for p in world.observer.passes[-1].prior] == [(kept.id, True)]


def test_a_memory_that_is_cited_twice_is_written_once(world: World) -> None:
    cited = create_memory(world.user("ann"), NewMemory("likes tea"))
    world.say("tea please", "here")
    world.observer.answers = [observed_line("🟡 wants tea", 1, 2, used_memory_ids=(cited.id, cited.id))]
    assert observe(world).reinforced == [cited.id]


def test_a_conflicting_write_is_redone_and_the_model_is_asked_once(world: World) -> None:
    cited = create_memory(world.user("ann"), NewMemory("likes tea"))
    world.say("tea please", "here")
    world.observer.answers = [observed_line("🟡 wants tea", 1, 2, used_memory_ids=(cited.id,))]

    def another_writer() -> None:
        world.bump_directly(cited.id)
        create_memory(world.user("ann"), NewMemory("typed meanwhile", session_id="s1"))

    world.observer.meanwhile = lambda: setattr(world.table, "before_write", another_writer)
    observe(world)
    assert len(world.observer.passes) == 1
    live = get_session(world.user("ann").of_session("s1")).marker.live
    assert [world.memory(row.id).text for row in live] == ["typed meanwhile", "🟡 wants tea"]


def test_a_worker_past_its_lease_writes_nothing(world: World) -> None:
    world.say("I moved", "Oh")

    def sleep_while_another_finishes() -> None:
        world.clock.move(seconds=71)
        observe(world)

    world.observer.meanwhile = sleep_while_another_finishes
    with pytest.raises(LeaseLost):
        observe(world)
    assert len(world.observer.passes) == 2
    assert len(world.memories()) == 1
    assert marker_of(world) == (2, 2)


def test_a_worker_past_its_lease_writes_nothing_although_nobody_took_it(world: World) -> None:
    world.say("I moved", "Oh")
    world.observer.meanwhile = lambda: world.clock.move(seconds=71)
    with pytest.raises(LeaseLost):
        observe(world)
    assert world.memories() == []
    assert observe(world).passes == 1


def test_two_passes_of_one_session_do_not_run_together(world: World) -> None:
    world.say("I moved", "Oh")
    take_lease(world.user("ann").of_session("s1"))
    with pytest.raises(LeaseHeld):
        observe(world)
    assert world.observer.passes == []


def test_a_failing_model_gives_the_lease_back_and_keeps_the_tail(world: World) -> None:
    world.say("I moved", "Oh")
    world.observer.answers = [ModelUnavailable("529")]
    with pytest.raises(ModelUnavailable):
        observe(world)
    assert marker_of(world) == (0, 0)
    assert observe(world).passes == 1


def test_a_message_of_an_erased_user_writes_nothing(world: World) -> None:
    world.say("I moved", "Oh")

    def erase() -> None:
        head = rows.read_head(world.table.get(world.tenant.keys.of_user("ann").head))
        world.table.write([rows.put_head(world.tenant.keys.of_user("ann"), replace(head, incarnation=2))])

    world.observer.meanwhile = erase
    with pytest.raises(UserErased):
        observe(world)
    assert world.memories() == []


def test_a_session_that_is_removed_while_its_pass_is_put_together_is_gone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.say("I moved", "Oh")

    def after_an_erasure(*given: Any) -> Any:
        world.table.write([Delete(world.user("ann").of_session("s1").keys.epoch)])
        return prior_memories(*given)

    monkeypatch.setattr("neve.usecases.work.observe.observe_session.prior_memories", after_an_erasure)
    with pytest.raises(UserErased):
        observe(world)
    assert world.observer.passes == []


def test_a_crash_before_the_commit_leaves_nothing_and_a_retry_writes_once(world: World) -> None:
    world.say("I moved", "Oh")
    world.observer.meanwhile = lambda: setattr(world.table, "before_write", _crash)
    with pytest.raises(KeyboardInterrupt):
        observe(world)
    assert world.memories() == []
    observe(world)
    assert len(world.memories()) == 1


def _crash() -> None:
    raise KeyboardInterrupt


def test_an_append_does_not_conflict_with_a_pass(world: World) -> None:
    world.say("I moved", "Oh")
    world.observer.meanwhile = lambda: setattr(world.table, "before_write", lambda: world.say("more"))
    world.table.calls.clear()
    observe(world)
    assert [(m.provenance.seq_from, m.provenance.seq_to) for m in world.memories()] == [(1, 2), (3, 3)]


def test_a_lost_response_of_a_commit_is_not_written_twice(world: World) -> None:
    world.say("I moved", "Oh")
    world.observer.meanwhile = lambda: setattr(world.table, "lose_response", True)
    observe(world)
    assert len(world.memories()) == 1
    assert marker_of(world) == (2, 2)
