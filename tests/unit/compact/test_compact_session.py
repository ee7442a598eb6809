"""The horizon: coverage before eviction, whole turns only, one commit, nothing to cover moves nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from local.template import read_template
from neve.domain.records.jobs import Job
from neve.ports.errors import Conflict, ModelUnavailable, StoreUnavailable
from neve.ports.queue import Message, QueueName
from neve.store.incarnation import UserErased
from neve.store.partitions import all_rows, due_rows
from neve.store.rows import QUEUED
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.ask.sessions.read_sessions import get_session
from neve.usecases.core.jobs.finish_job import finish_job
from neve.usecases.core.jobs.read_jobs import get_job
from neve.usecases.tell.requests.request_compaction import request_compaction
from neve.usecases.tell.requests.request_observation import request_observation
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.background.asked_for import asked_for
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.compact import compact_session as compact_session_module
from neve.usecases.work.compact.compact_session import compact_session
from neve.usecases.work.observe.lease import LeaseHeld, release_lease, take_lease
from tests.unit.world import World


@pytest.fixture
def world(new_world: World) -> World:
    new_world.with_policy(window=2_000)
    new_world.open()
    read_pack(new_world.user("ann").of_session("s1"))
    return new_world


def turns(world: World, count: int, tokens: int = 200) -> None:
    for _ in range(count):
        world.say("u" * (tokens // 2 * 32 // 10), "a" * (tokens // 2 * 32 // 10))


def ask(world: World) -> tuple[Job, dict[str, Any]]:
    job = request_compaction(world.user("ann").of_session("s1"), "manual", wait=False)
    return job, world.queued(job)


def compact(world: World) -> Job:
    job, body = ask(world)
    compact_session(world.user(body["user"]).of_session(body["session"]), body)
    return get_job(world.user("ann"), job.id)


def test_a_call_needs_no_queue_and_its_message_is_never_lost(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its row is the message, which the sweep sends again until the job has ended."""

    def refuse(queue: QueueName, messages: Sequence[Message]) -> None:
        raise StoreUnavailable("queue", f"cannot take {len(messages)} for {queue}")

    turns(world, 12)
    with monkeypatch.context() as broken:
        broken.setattr(world.queue, "send", refuse)
        job, _ = ask(world)
    assert job.status == "queued"
    for _ in range(2):  # a dead letter is sent once more
        world.clock.move(minutes=30)
        sweep_due(world)
    sent = [message.body for queue, message in world.queue.sent if queue is QueueName.COMPACT]
    assert [body for body in sent if body["job_id"] == job.id] == [world.queued(job)] * 2
    asked_for(world.user("ann").of_session("s1"), world.queued(job), lambda: 60.0)
    assert get_job(world.user("ann"), job.id).result["outcome"] == "covered"
    assert job.id not in {item["id"] for item in due_rows(world.table, QUEUED)}


def test_a_call_whose_answer_was_lost_makes_one_job(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    turns(world, 1)
    write = world.table.write

    def lost(ops: Any) -> None:
        write(ops)
        monkeypatch.undo()
        raise Conflict([0])

    monkeypatch.setattr(world.table, "write", lost)
    job, _ = ask(world)
    assert [item["sk"] for item in all_rows(world.table, world.tenant.keys.jobs)] == [job.id.removeprefix("job_")]


@pytest.mark.parametrize("wait", [True, False])
def test_who_waits_for_a_pass_does_not_wait_for_a_burst_to_end(world: World, wait: bool) -> None:
    """E3 with ``wait`` goes through the queue without a delay, whose worker observes and reflects as the other does."""
    turns(world, 2)
    scope = world.user("ann").of_session("s1")
    job = request_observation(scope, wait=wait)
    [(queue, message)] = world.queue.sent
    assert read_template().queues[queue].delay_s == (0 if wait else 5)
    assert queue == (QueueName.COMPACT if wait else QueueName.EXTRACT)
    asked_for(scope, message.body, lambda: 60.0)
    done = get_job(world.user("ann"), job.id)
    assert (done.status, done.kind, done.result["observed_seq"]) == ("done", "observe", 4)
    assert get_session(scope).epoch.epoch == 0


def test_nothing_to_cover_moves_nothing(world: World) -> None:
    turns(world, 5)
    before = get_session(world.user("ann").of_session("s1")).epoch
    job = compact(world)
    [row] = world.memories()
    expected = {"observed_seq": 10, "written": [row.id]}
    assert job.result == {"outcome": "nothing_to_cover", "epoch": 0, "reason": "manual", **expected}
    assert get_session(world.user("ann").of_session("s1")).epoch == before


def test_a_second_compaction_extends_the_covers(world: World) -> None:
    turns(world, 12)
    compact(world)
    turns(world, 4)
    assert compact(world).result["covers"] == {"from": 5, "to": 26}
    assert compact(world).result["outcome"] == "nothing_to_cover"


def test_a_redelivered_message_moves_the_horizon_once(world: World) -> None:
    turns(world, 12)
    job, body = ask(world)
    for _ in range(3):
        compact_session(world.user(body["user"]).of_session(body["session"]), body)
    assert get_session(world.user("ann").of_session("s1")).epoch.epoch == 1
    assert get_job(world.user("ann"), job.id).result["outcome"] == "covered"


@pytest.mark.parametrize("taken_back", [24, 6])
def test_a_redelivered_message_knows_what_it_covered_in_a_later_epoch(
    world: World, monkeypatch: pytest.MonkeyPatch, taken_back: int
) -> None:
    """Something was taken back behind its commit, of the rest or of what it covered: the covered part is filed all the
    same."""
    turns(world, 12)
    job, body = ask(world)
    scope = world.user("ann").of_session("s1")

    def failing(*_: Any) -> None:
        raise StoreUnavailable("objects", "is away")

    with monkeypatch.context() as broken, pytest.raises(StoreUnavailable):
        broken.setattr(compact_session_module, "build_pack", failing)
        compact_session(scope, body)
    retract_events(scope, Retract(taken_back, taken_back, "edited"))
    compact_session(scope, body)
    result = get_job(world.user("ann"), job.id).result
    assert (result["outcome"], result["covers"], result["epoch"]) == ("covered", {"from": 5, "to": 18}, 2)
    assert ("summary" in result) is (taken_back == 24)
    assert get_job(world.user("ann"), job.id).status == "done"
    assert get_job(world.user("ann"), result["librarian_job_id"]).status == "queued"


def test_the_job_of_the_librarian_is_there_and_no_lost_message_ends_it(world: World) -> None:
    """Its row is its message: the outbox sends it, and the sweep until the part that was covered is filed."""
    turns(world, 12)
    job, body = ask(world)
    scope = world.user("ann").of_session("s1")
    for _ in range(2):  # a message may come twice
        compact_session(scope, body)
    asked = get_job(scope, get_job(scope, job.id).result["librarian_job_id"])
    assert (asked.kind, asked.status, asked.user_id, asked.session_id) == ("librarian", "queued", "ann", "s1")
    assert asked.id in {item["id"] for item in due_rows(world.table, QUEUED)}
    for _ in range(2):  # the first one becomes a dead letter
        world.clock.move(minutes=30)
        sweep_due(world)
    first, second = [message.body for queue, message in world.queue.sent if queue is QueueName.LIBRARIAN]
    assert (first["job_id"], first["session"]) == (second["job_id"], second["session"]) == (asked.id, "s1")
    finish_job(scope, asked.id, asked.kind, "done", {})
    compact_session(scope, body)
    assert get_job(scope, asked.id).status == "done"
    assert asked.id not in {item["id"] for item in due_rows(world.table, QUEUED)}


def test_of_a_user_who_is_erased_behind_the_horizon_no_librarian_is_asked(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns(world, 12)
    job, body = ask(world)
    scope = world.user("ann").of_session("s1")

    def erased(*_: Any) -> None:
        raise UserErased

    monkeypatch.setattr(compact_session_module, "ask_to_file", erased)
    assert compact_session(scope, body) is None
    assert get_job(scope, job.id).status == "queued"


def test_without_the_model_the_horizon_does_not_move(world: World) -> None:
    turns(world, 12)
    _, body = ask(world)
    world.observer.answers = [ModelUnavailable("529")]
    with pytest.raises(ModelUnavailable):
        compact_session(world.user(body["user"]).of_session(body["session"]), body)
    assert get_session(world.user("ann").of_session("s1")).epoch.epoch == 0
    compact_session(world.user(body["user"]).of_session(body["session"]), body)
    assert get_session(world.user("ann").of_session("s1")).epoch.epoch == 1


def test_beside_a_pass_of_the_session_nothing_moves(world: World) -> None:
    turns(world, 12)
    job, body = ask(world)
    token = take_lease(world.user("ann").of_session("s1")).lease_token
    with pytest.raises(LeaseHeld):
        compact_session(world.user(body["user"]).of_session(body["session"]), body)
    assert get_session(world.user("ann").of_session("s1")).epoch.epoch == 0
    assert get_job(world.user("ann"), job.id).status == "queued"
    release_lease(world.user("ann").of_session("s1"), token)
    compact_session(world.user(body["user"]).of_session(body["session"]), body)
    assert get_job(world.user("ann"), job.id).result["outcome"] == "covered"
