"""What lost its message is found however much stands before it, and a drain is not done over it
(docs/rules/indexing.md#sweep, #drain)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from neve.domain.errors import NeveError
from neve.domain.jobs.time_share import TimeShare
from neve.domain.records.sessions import EventType
from neve.ports.table import Index, Put
from neve.store.keys import DUE_SHARDS, due_shard
from neve.store.tenants.tenant_rows import TenantRow, put_tenant
from neve.usecases.core.jobs.finish_job import finish_job
from neve.usecases.core.jobs.messages.observation import observation_job_id
from neve.usecases.core.jobs.read_jobs import find_job
from neve.usecases.core.lag.indexed_row import IndexedRow
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.requests.request_erasure import request_erasure
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.background import sweep_due as sweeping
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.indexing import drain_embeddings as draining
from neve.usecases.work.indexing import requeue
from neve.usecases.work.indexing.drain_embeddings import drain_embeddings, read_drain
from neve.usecases.work.indexing.requeue import first_shard, requeue_pending
from tests.unit.world import World
from tests.unlimited import unlimited


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """One run queues two rows, and looks one up at a time."""
    monkeypatch.setattr(requeue, "MAX_ROWS", 2)
    monkeypatch.setattr(sweeping, "MAX_ROWS", 2)
    monkeypatch.setattr(draining, "MAX_ROWS", 2)
    monkeypatch.setattr(requeue, "PART", 1)
    made = World.make(tmp_path)
    yield made
    made.table.close()


def append_unqueued(world: World, user: str) -> None:
    """A turn whose messages are lost."""
    world.open(user=user)
    log = world.user(user).of_session("s1")
    append_events(log, [NewEvent(EventType.USER_MESSAGE, "hi"), NewEvent(EventType.ASSISTANT_RESPONSE, "hello")])


def refused(world: World, user: str) -> None:
    """A turn that is indexed, and that an observer refused: it stays on the list until somebody asks."""
    append_unqueued(world, user)
    log = world.user(user).of_session("s1")
    world.table.write([IndexedRow("s1", 2, ((1, 2),)).put(log.keys, world.clock.now())])
    finish_job(log, observation_job_id(log.keys, 1, 2), "observe", "failed", {"reason": "401"})


def in_order(world: World, count: int) -> list[str]:
    """Users in the order in which the index is read from the shard on that a sweep of now begins with."""
    start = first_shard(world.clock.now())
    names = (f"u{n}" for n in range(count))
    return sorted(names, key=lambda name: ((due_shard(world.user(name).keys) - start) % DUE_SHARDS, name))


def swept(world: World) -> set[str]:
    """Whose words were queued, by now."""
    bodies = [message.body for _, message in world.queue.sent]
    return {body["user"] for body in bodies if body.get("kind") == "events"}


# --- the sweep ----------------------------------------------------------------------------------


def test_sessions_that_nothing_is_queued_of_hide_none_that_lost_its_message(world: World) -> None:
    *first, last = in_order(world, 9)
    for user in first:
        refused(world, user)
    append_unqueued(world, last)
    world.clock.move(minutes=80)
    done = sweep_due(world)
    assert (swept(world), done["embeddings"], done["left"]) == ({last}, 1, 0)


def test_what_one_sweep_does_not_queue_is_told_and_the_next_begin_elsewhere(world: World) -> None:
    users = in_order(world, 12)
    for user in users:
        append_unqueued(world, user)
    world.clock.move(minutes=80)
    found = []
    for _ in range(DUE_SHARDS):
        world.queue.sent.clear()
        done = sweep_due(world)
        assert (done["embeddings"], done["left"]) == (2, 1)
        found.append(swept(world))
        world.clock.move(minutes=10)
    assert found[0] == set(users[:2])
    by_shard = {due_shard(world.user(user).keys) for user in users}
    assert {due_shard(world.user(user).keys) for user in set.union(*found)} == by_shard, "no shard waits for another"


def test_without_time_a_sweep_reads_the_first_and_tells_the_rest(world: World) -> None:
    users = in_order(world, 9)
    for user in users:
        append_unqueued(world, user)
    world.clock.move(minutes=80)
    done = sweep_due(world, lambda: 0.0)
    assert swept(world) == {users[0]} and done["left"] == 1


def test_rows_that_were_queued_just_now_hide_no_other(world: World) -> None:
    for n in range(3):
        create_memory(world.user(), NewMemory(f"song {n}"))
    world.clock.move(minutes=20)
    before = world.clock.now()
    share = unlimited()
    assert (requeue_pending(world, before, share), share.left) == (2, True)
    world.clock.move(minutes=1)
    share = unlimited()
    assert (requeue_pending(world, before, share), share.left) == (1, False), "two were queued a minute ago"


def test_a_row_that_this_version_cannot_read_keeps_no_other_from_the_sweep(world: World) -> None:
    """A version that was taken back may have written it."""
    world.table.write([put_tenant(TenantRow(world.tenant.id, "2026-03-09T09:30:00.000Z", world.tenant.policy))])
    first, second = in_order(world, 2)
    table, odd = world.table, create_memory(world.user(first), NewMemory("song"))
    append_unqueued(world, first)
    create_memory(world.user(second), NewMemory("tea"))
    append_unqueued(world, second)
    keys = world.user(first).keys
    for key in (keys.memory(odd.id), keys.of_session("s1").marker):
        table.write([Put({**(table.get(key) or {}), "status": "dreamt", "observed_seq": "soon"})])
    world.clock.move(minutes=30)
    reported: list[tuple[str, str]] = []
    done = sweep_due(world, on_failure=lambda kind, error: reported.append((kind, type(error).__name__)))
    assert swept(world) == {second} and done["embeddings"] == 2 and done["passes"] == 1
    assert (reported, done["failed"]) == ([("embed", "ValidationError"), ("behind", "ValidationError")], 2)


def test_half_of_a_share_is_for_finding() -> None:
    left = 100.0
    share = TimeShare(lambda: left, 20.0)
    half = share.half()
    done = []
    for piece in half.of(range(100)):
        done.append(piece)
        left -= 10
    assert (done, half.left, share.left) == ([0, 1, 2, 3], True, False)
    assert list(unlimited().half().of(range(3))) == [0, 1, 2]


# --- the drain ----------------------------------------------------------------------------------


def test_a_drain_is_not_done_over_words_behind_a_long_list(world: World) -> None:
    *first, last = in_order(world, 9)
    for user in first:
        refused(world, user)
    append_unqueued(world, last)
    world.clock.move(minutes=2)
    job = drain_embeddings(world.scope, None, wait_s=0)
    assert (job.status, job.result) == ("running", {"queued": 1, "pending": 2}) and swept(world) == {last}
    assert drain_embeddings(world.scope, first[0], wait_s=0).result == {"queued": 0, "pending": 0}
    refused_now = IndexedRow("s1", 2, ((1, 2),)).put(world.user(last).of_session("s1").keys, world.clock.now())
    world.table.write([refused_now])
    assert read_drain(world.scope, job.id).status == "done"


def test_a_drain_whose_messages_were_given_up_fails_and_one_that_gets_on_does_not(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for user in ("u1", "u2"):
        append_unqueued(world, user)
    world.clock.move(minutes=2)
    job = drain_embeddings(world.scope, None, wait_s=0)
    assert (job.status, job.result["pending"]) == ("running", 4)
    world.clock.move(minutes=50)
    indexed = IndexedRow("s1", 2, ((1, 2),)).put(world.user("u1").of_session("s1").keys, world.clock.now())
    world.table.write([indexed])
    assert read_drain(world.scope, job.id).result["pending"] == 2
    world.clock.move(minutes=50)
    assert read_drain(world.scope, job.id).status == "running", "something came into the index less than an hour ago"
    world.clock.move(minutes=11)
    monkeypatch.setattr(draining, "MAX_ROWS", 2)
    assert read_drain(world.scope, job.id).status == "running", "of so many nobody counts which are new"
    monkeypatch.undo()
    ended = read_drain(world.scope, job.id)
    assert (ended.status, ended.result["pending"], ended.result["reason"]) == ("failed", 2, draining.LOST)
    assert find_job(world.scope, job.id) == replace(ended, version=ended.version + 1, state=ANY)


def test_a_drain_says_that_it_queued_a_part(world: World) -> None:
    for user in ("u1", "u2", "u3"):
        append_unqueued(world, user)
    world.clock.move(minutes=2)
    job = drain_embeddings(world.scope, None, wait_s=0)
    assert (job.status, job.result) == ("running", {"queued": 2, "pending": 4, "left": True})


def test_no_drain_of_a_user_who_is_being_erased_leaves_a_job(world: World) -> None:
    """An erasure that has looked through the tenant's jobs would not find it."""
    append_unqueued(world, "u1")
    asked = request_erasure(world.user("u1"), close=False)
    with pytest.raises(NeveError, match="erasing"):
        drain_embeddings(world.scope, "u1", wait_s=0)
    assert [item["id"] for item in world.table.query(world.scope.keys.jobs, limit=10).items] == [asked.id]


def test_nor_does_one_whose_user_is_erased_meanwhile(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    append_unqueued(world, "u1")
    jobs = []

    def erased_meanwhile(*given: Any) -> int:
        jobs.append(request_erasure(world.user("u1"), close=False).id)
        return 0

    monkeypatch.setattr(draining, "requeue_all", erased_meanwhile)
    with pytest.raises(NeveError, match="erasing"):
        drain_embeddings(world.scope, "u1", wait_s=0)
    assert [item["id"] for item in world.table.query(world.scope.keys.jobs, limit=10).items] == jobs


def test_a_drain_that_has_no_time_to_look_at_all_is_not_done(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for user in in_order(world, 3):
        refused(world, user)
    monkeypatch.setattr(draining, "LOOKED_WITHIN_S", 0.0)
    monkeypatch.setattr(draining, "COUNTED_WITHIN_S", 0.0)
    job = drain_embeddings(world.scope, None, wait_s=0)
    assert (job.status, job.result["pending"]) == ("running", 1)
    monkeypatch.undo()
    assert read_drain(world.scope, job.id).status == "done"


@pytest.mark.parametrize("a_call_s", [0.01, 0.05, 0.15])
def test_a_drain_answers_before_its_function_ends_on_a_slow_table(
    world: World, monkeypatch: pytest.MonkeyPatch, a_call_s: float
) -> None:
    """The function has 28 s (template.yaml), the gateway waits for 29."""
    for user in in_order(world, 60):
        append_unqueued(world, user)
    world.clock.move(minutes=2)
    for name in ("query", "get_many", "get", "write"):
        monkeypatch.setattr(world.table, name, _slowed(world, getattr(world.table, name), a_call_s))
    began_ms = world.clock.monotonic_ms()
    job = drain_embeddings(world.scope, None, wait_s=25)
    assert (job.status, job.result["pending"] > 0) == ("running", True)
    assert 25_000 <= world.clock.monotonic_ms() - began_ms < 28_000


def _slowed(world: World, call: Callable[..., Any], seconds: float) -> Callable[..., Any]:
    def slow(*given: Any, **more: Any) -> Any:
        world.clock.sleep(seconds)
        return call(*given, **more)

    return slow


def test_a_drain_of_one_user_reads_what_is_theirs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    create_memory(world.user("ann"), NewMemory("tea"))
    create_memory(world.user("bob"), NewMemory("tea"))
    query, read = world.table.query, list[tuple[str, Index, str | None]]()

    def noting(partition: str, *, index: Index = Index.MAIN, prefix: str | None = None, **asked: Any) -> Any:
        read.append((partition, index, prefix))
        return query(partition, index=index, prefix=prefix, **asked)

    monkeypatch.setattr(world.table, "query", noting)
    assert drain_embeddings(world.scope, "ann", wait_s=2).result == {"queued": 1, "pending": 1}
    keys = world.user("ann").keys
    shard = due_shard(keys)
    assert set(read) == {
        (keys.partition, Index.RECENT, None),
        (f"DUE#failed#{shard}", Index.DUE, None),
        (f"DUE#behind#{shard}", Index.DUE, f"{keys.tenant}/ann/"),
    }
    assert world.clock.slept == pytest.approx([0.1, 0.2, 0.4, 0.8, 0.5])
