"""The planner and the runs over a tenant's users: everybody once, whoever plans and however often."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from neve.observing import Condensed, CondensedRow
from neve.ports.queue import QueueName
from neve.ports.search import IndexModel
from neve.scope import Tenant, TenantScope, UserData
from neve.store.keys import NOBODY
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.tell.tenants.write_policy import write_policy
from neve.usecases.work.background.refill_queues import refill_queues
from neve.usecases.work.erase.erase_user import begin_erasure, erase_user, finish_erasure
from neve.usecases.work.reflect import run
from neve.usecases.work.reflect.request_reflection import plan_reflection, request_reflection
from tests.simulation.engines.memory_search import MemorySearch
from tests.unit.reflect.night_world import NightWorld


@pytest.fixture
def world(tmp_path: Path) -> Iterator[NightWorld]:
    world = NightWorld.opened(tmp_path, reflection_min_rows=2)
    yield world
    world.table.close()


def test_every_due_user_is_told_of_once(world: NightWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "PAGE", 2)
    users = [f"u{n}" for n in range(5)]
    for user in users:
        world.fill(3, user=user)
    world.remember("young", 0.5, user="young")
    world.tell()
    assert sorted(world.due_users()) == [*users, "young"]
    world.clock.move(days=1)
    assert world.plan().begun == 1
    queued = []
    while messages := world.messages():
        for message in messages:
            if message.body["user"] == NOBODY:
                assert world.deliver(message)
            else:
                queued.append(message)
    assert [one.body["user"] for one in queued] == users
    assert {one.group for one in queued} == {"acme"}
    assert all(world.deliver(one) for one in queued)
    assert [len(world.reflections(user)) for user in users] == [1] * 5
    assert world.due_users() == ["young"]
    [job] = world.jobs(None)
    expected = {"users": 5, "ended": 5, "failed": 0, "batches": 5, "replaced": 15, "written": 5}
    assert world.job(job.id).status == "done"
    unused = ("kept", "refused", "changed", "reflection_left_out", "reflection_cut", "reflection_over_target")
    nothing = dict.fromkeys(unused, 0)
    assert world.job(job.id).result == expected | nothing


def test_a_run_says_what_had_no_room(world: NightWorld) -> None:
    long = tuple(CondensedRow("🔴 " + "y" * 2_000) for _ in range(4))
    for user in ("ann", "bob"):
        world.fill(5, user=user)
        world.observer.condensations.append(Condensed(long, "scripted"))
    world.night()
    [job] = world.jobs(None)
    result = world.job(job.id).result
    assert (result["written"], result["reflection_left_out"], result["reflection_cut"]) == (4, 8, 4)


def test_a_second_planner_does_nothing_twice(world: NightWorld) -> None:
    world.fill(3)
    world.tell()
    world.clock.move(days=1)
    assert [world.plan().begun, world.plan().begun] == [1, 0]
    assert len(world.messages()) == 1


def test_two_planners_at_once_begin_one_night(world: NightWorld) -> None:
    world.fill(3)
    world.tell()
    world.clock.move(days=1)
    others: list[int] = []
    world.table.before_write = lambda: others.append(world.plan().begun)
    assert world.plan().begun == 0
    assert others == [1]
    assert len(world.messages()) == 1


def test_tenants_take_turns_page_by_page(world: NightWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the queue itself: the messages of a large tenant do not all stand before those of a small one."""
    monkeypatch.setattr(run, "PAGE", 2)
    for n in range(7):
        world.fill(3, user=f"u{n}")
    world.tell()
    world.clock.move(days=1)
    world.plan()
    create_tenant(world, "small")
    small = request_reflection(TenantScope(world, Tenant("small", world.tenant.policy)), None, None)
    order: list[str] = []
    while messages := world.messages():
        world.queue.sent = [(QueueName.REFLECT, one) for one in messages[1:]]
        order.append(messages[0].body["user"] or messages[0].body["tenant"])
        assert world.deliver(messages[0])
    assert order[:5] == ["acme", "small", "acme", "u0", "u1"]
    assert order.count("acme") == 4
    assert small.status == "queued"


def test_what_is_not_done_is_told_to_the_alarm(world: NightWorld) -> None:
    world.fill(3)
    world.tell()
    world.clock.at = datetime(2026, 3, 11, 2, 0, tzinfo=UTC)
    assert world.plan().unfinished_s == 0, "no night has begun since the tenant was made"
    world.clock.at = datetime(2026, 3, 11, 4, 0, tzinfo=UTC)
    assert world.plan().unfinished_s == 3600.0
    lost = world.messages()
    world.clock.move(hours=25)
    assert world.plan().unfinished_s == 26 * 3600.0
    world.queue.sent += [(QueueName.REFLECT, message) for message in lost]
    world.work()
    done = world.plan()
    assert done.unfinished_s == 0.0


def test_a_night_without_users_is_done(world: NightWorld) -> None:
    assert world.night() == 1
    assert world.plan().unfinished_s == 0.0
    [job] = world.jobs(None)
    assert world.job(job.id).status == "done"


def test_each_tenant_has_its_own_night(world: NightWorld) -> None:
    create_tenant(world, "tokyo")
    write_policy(world.scope.of_user("x"), world.tenant.policy.model_copy(update={"timezone": "Asia/Tokyo"}))
    world.clock.at = datetime(2026, 3, 10, 17, 59, tzinfo=UTC)
    assert world.plan().begun == 0
    world.clock.move(minutes=1)
    assert world.plan().begun == 1, "03:00 in Tokyo"
    [message] = world.messages()
    assert message.body["tenant"] == "acme"
    world.clock.at = datetime(2026, 3, 11, 3, 0, tzinfo=UTC)
    assert world.plan().begun == 1


def test_a_user_with_too_few_rows_waits_for_more(world: NightWorld) -> None:
    world.remember("one", 9)
    assert world.night() == 2
    assert world.reflections() == []
    assert world.due_users() == [], "one row makes no run, however old"
    world.remember("two", 0)
    world.tell()
    assert world.due_users() == ["ann"]
    world.clock.move(days=2)
    world.plan()
    world.work()
    assert world.due_users() == ["ann"], "not old enough: nobody was asked"
    world.clock.move(days=1)
    world.plan()
    world.work()
    assert [m.supersedes for m in world.reflections()] == [("mem_one", "mem_two")]


def test_a_row_that_comes_while_a_worker_is_at_the_user_keeps_them_in_the_index(world: NightWorld) -> None:
    world.fill(3)
    world.tell()
    world.clock.move(days=1)
    world.plan()

    def meanwhile() -> None:
        world.remember("meanwhile", 0)
        world.tell()

    world.observer.meanwhile = meanwhile
    world.work()
    assert len(world.reflections()) == 1
    assert world.due_users() == ["ann"]


def test_rows_whose_batch_came_to_nothing_are_tried_again_by_the_next_night(world: NightWorld) -> None:
    sources = world.fill(3)
    world.observer.condensations = [Condensed((), "scripted")]
    world.night()
    assert world.reflections() == []
    assert world.due_users() == ["ann"]
    world.plan()
    assert world.work() == 0, "the same night is over"
    world.night()
    assert [m.supersedes for m in world.reflections()] == [tuple(sources)]


def test_reflections_of_a_night_are_never_condensed_again(world: NightWorld) -> None:
    world.fill(3)
    world.night()
    made = world.reflections()
    for _ in range(3):
        world.clock.move(days=30)
        world.night()
    assert world.reflections() == made
    assert len(world.observer.condensed) == 1


def test_a_user_who_was_erased_meanwhile_does_not_hold_up_the_night(
    world: NightWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker finds that out at its commit; the erasure counts the user."""
    monkeypatch.setattr(NightWorld, "search", MemorySearch(IndexModel("none", 0)))
    world.fill(7)
    world.fill(7, user="bob")

    def meanwhile() -> None:
        begin_erasure(world.table, world.user("ann").keys)

    world.observer.meanwhile = meanwhile
    world.night()
    assert world.reflections() == [] and world.reflections("bob") != []
    erase_user(UserData(world, world.user("ann").keys))
    assert list(world.jobs("ann")) == []
    [run_] = world.jobs(None)
    assert (world.job(run_.id).status, world.job(run_.id).result["ended"]) == ("done", 2)


def test_a_change_of_an_erased_user_brings_nobody_into_the_index(world: NightWorld) -> None:
    world.fill(3)
    keys = world.user("ann").keys
    begin_erasure(world.table, keys)
    world.tell()
    assert world.due_users() == []


# --- asked for ------------------------------------------------------------------------------------


def test_who_asks_for_everybody_gets_everybody(world: NightWorld) -> None:
    world.with_policy(window=2_000, reflection_min_rows=20)
    for user in ("ann", "bob", "cat"):
        world.fill(3, user=user)
    job = request_reflection(world.scope, None, None)
    assert world.job(job.id).status == "queued"
    world.work()
    ended = world.job(job.id)
    assert (ended.status, ended.result["users"], ended.result["ended"], ended.result["replaced"]) == ("done", 3, 3, 9)


def test_a_younger_age_may_be_asked_for(world: NightWorld) -> None:
    world.remember("today", 0.5)
    assert plan_reflection(world.scope, "ann", None).eligible == []
    assert plan_reflection(world.scope, "ann", 0.5).eligible == ["mem_today"]
    assert plan_reflection(world.scope, "ann", 0).eligible == ["mem_today"]


def test_a_dry_run_names_users_and_batches_and_writes_nothing(world: NightWorld) -> None:
    world.fill(8)
    world.remember("alone", 9, user="bob")
    world.table.calls.clear()
    plan = plan_reflection(world.scope, None, None)
    assert [(batch.user_id, len(batch.ids), batch.tokens) for batch in plan.batches] == [
        ("ann", 6, 600),
        ("ann", 2, 200),
        ("bob", 1, 100),
    ]
    assert (plan.users, plan.not_worth, plan.complete) == (2, ["bob"], True)
    assert (world.table.calls["write"], world.queue.sent) == (0, [])


def test_erasing_and_closed_users_are_refused(world: NightWorld) -> None:
    world.fill(3)
    keys = world.user("ann").keys
    begin_erasure(world.table, keys)
    with pytest.raises(Exception, match="being erased"):
        request_reflection(world.scope, "ann", None)
    finish_erasure(UserData(world, keys), close=True)
    with pytest.raises(Exception, match="erased and closed"):
        request_reflection(world.scope, "ann", None)


def test_queues_that_are_lost_are_filled_with_the_jobs_of_users_and_of_everybody(world: NightWorld) -> None:
    world.fill(3)
    request_reflection(world.user(), "ann", 1.0)
    request_reflection(world.user(), None, None)
    asked = [message.body for message in world.messages()]
    assert [body["work"] for body in asked] == ["reflect", "reflect"]
    refill_queues(world, lambda _: None)
    again = [message.body for message in world.messages()]
    assert sorted(again, key=str) == sorted(asked, key=str)
