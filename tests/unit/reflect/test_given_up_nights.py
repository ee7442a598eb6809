"""No job of a night stays open for ever: one whose message becomes a dead letter has failed, and says why."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from neve.domain.jobs.time_limits import DELIVERIES
from neve.domain.reflect.night_limits import GIVEN_UP_AFTER
from neve.ports.errors import ModelUnavailable
from neve.ports.queue import Message
from neve.usecases.core.jobs.messages.reflection import reflection_request
from neve.usecases.work.background.read_admin_job import read_admin_job
from neve.usecases.work.reflect.night_job import take_up
from neve.usecases.work.reflect.request_reflection import request_reflection
from neve.workers import nights
from neve.workers.nights import process_nightly
from tests.unit.reflect.night_world import NightWorld


@pytest.fixture
def world(tmp_path: Path) -> Iterator[NightWorld]:
    world = NightWorld.opened(tmp_path)
    yield world
    world.table.close()


def asked(world: NightWorld) -> str:
    return request_reflection(world.scope, "ann", None).id


def raising(error: Exception) -> Callable[..., NoReturn]:
    def fail(*_: Any) -> NoReturn:
        raise error

    return fail


def last_delivery(world: NightWorld, message: Message, receives: int = DELIVERIES) -> bool:
    record = {
        "messageId": "m",
        "body": json.dumps(message.body),
        "attributes": {"ApproximateReceiveCount": str(receives)},
    }
    return process_nightly(world, {"Records": [record]}, None) == {"batchItemFailures": []}


def test_a_job_of_a_user_fails_with_its_last_delivery_and_says_why(world: NightWorld) -> None:
    world.fill(4)
    job_id = asked(world)
    [message] = world.messages()
    down = [ModelUnavailable("status 529")] * 3
    world.observer.condensations = [*down]
    assert not last_delivery(world, message, DELIVERIES - 1)
    assert read_admin_job(world.scope, job_id).status == "running"
    assert not last_delivery(world, message)
    job = read_admin_job(world.scope, job_id)
    assert (job.status, job.result["reason"]) == (
        "failed",
        "its message was given up after 5 deliveries: status 529",
    )
    assert job.finished_at is not None

    assert not last_delivery(world, message), "somebody gave it back, and it has died twice"
    assert read_admin_job(world.scope, job_id).status == "failed"
    assert last_delivery(world, message, 1), "and once more, when the model is well"
    done = read_admin_job(world.scope, job_id)
    assert (done.status, done.result["replaced"], "reason" in done.result) == ("done", 4, False)


def test_a_run_ends_when_the_message_of_a_user_is_given_up_and_counts_them_once(world: NightWorld) -> None:
    world.fill(4)
    world.fill(4, user="bob")
    run = request_reflection(world.scope, None, None)
    assert world.deliver(world.messages()[0])
    ann, bob = world.messages()
    world.observer.condensations = [ModelUnavailable("status 529")] * 2
    assert not last_delivery(world, ann)
    assert not last_delivery(world, ann), "given back"
    assert read_admin_job(world.scope, run.id).status == "running"
    assert last_delivery(world, bob)
    ended = read_admin_job(world.scope, run.id)
    assert (ended.status, ended.result["users"], ended.result["ended"], ended.result["failed"]) == ("done", 2, 2, 1)
    assert last_delivery(world, ann, 1)
    assert read_admin_job(world.scope, run.id).result["ended"] == 2
    assert world.due_users() == [], "and nothing is left to the next night"


def test_a_run_whose_own_message_is_given_up_has_failed(world: NightWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    run = request_reflection(world.scope, None, None)
    [message] = world.messages()
    with monkeypatch.context() as broken:
        broken.setattr(nights, "queue_users", raising(ValueError("what a person said")))
        assert not last_delivery(world, message)
    job = read_admin_job(world.scope, run.id)
    assert (job.status, job.result["reason"]) == ("failed", "its message was given up after 5 deliveries: ValueError")


def test_a_run_that_has_failed_goes_on_when_somebody_gives_its_message_back(
    world: NightWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.fill(4)
    run = request_reflection(world.scope, None, None)
    [message] = world.messages()
    with monkeypatch.context() as broken:
        broken.setattr(nights, "queue_users", raising(ValueError("of the provider")))
        assert not last_delivery(world, message)
    assert last_delivery(world, message, 1)
    job = read_admin_job(world.scope, run.id)
    assert (job.status, job.result["users"], job.finished_at, "reason" in job.result) == ("running", 1, None, False)

    [ann] = world.messages()
    assert world.deliver(ann)
    done = read_admin_job(world.scope, run.id)
    assert (done.status, done.result["ended"], done.result["failed"]) == ("done", 1, 0)


def test_a_run_whose_users_were_told_does_not_fail_with_a_copy_of_its_message(
    world: NightWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.fill(4)
    run = request_reflection(world.scope, None, None)
    [message] = world.messages()
    assert world.deliver(message)
    monkeypatch.setattr(nights, "queue_users", raising(ValueError("of the provider")))
    assert not last_delivery(world, message)
    assert read_admin_job(world.scope, run.id).status == "running"


def test_a_job_whose_worker_was_killed_with_its_last_delivery_ends_too(world: NightWorld) -> None:
    """Nobody could say so then: whoever asks for it finds that nobody is at it any more."""
    world.fill(4)
    job_id, run = asked(world), request_reflection(world.scope, None, None)
    assert world.deliver(world.messages()[1])
    assert take_up(world.user(), reflection_request(world.job(job_id))) is not None
    world.clock.move(seconds=GIVEN_UP_AFTER.total_seconds() - 60)
    assert {read_admin_job(world.scope, one).status for one in (job_id, run.id)} == {"running"}
    world.clock.move(seconds=61)
    for one in (job_id, run.id):
        job = read_admin_job(world.scope, one)
        assert job.status == "failed"
        assert "the next night goes on" in job.result["reason"]


def test_a_job_that_somebody_is_at_is_not_given_up(world: NightWorld) -> None:
    world.fill(4)
    job_id = asked(world)
    world.clock.move(seconds=GIVEN_UP_AFTER.total_seconds() + 1)
    assert take_up(world.user(), reflection_request(world.job(job_id))) is not None
    assert read_admin_job(world.scope, job_id).status == "running"
