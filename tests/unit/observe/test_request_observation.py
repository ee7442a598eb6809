"""E3: a job is a row that somebody will end."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from neve.ports.errors import StoreUnavailable
from neve.ports.queue import Message, QueueName
from neve.store.partitions import due_rows
from neve.store.rows import QUEUED
from neve.store.stream_records import Change
from neve.usecases.core.jobs.finish_job import NOTHING_NEW, carry_on_job, finish_job
from neve.usecases.core.jobs.messages.observation import observation_job_id
from neve.usecases.core.jobs.read_jobs import find_job
from neve.usecases.tell.requests.request_observation import request_observation
from neve.usecases.work.background.asked_for import asked_for
from neve.usecases.work.background.dispatch_changes import dispatch_changes
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.observe.extract_session import report_so_far
from neve.usecases.work.observe.observe_session import observe_session
from tests.unit.world import World


@pytest.fixture
def world(world: World) -> World:
    world.say("I live in Lisbon.", "Noted.")
    return world


def refuse(queue: QueueName, messages: Sequence[Message]) -> None:
    raise StoreUnavailable("queue", f"cannot take {len(messages)} for {queue}")


def test_a_call_that_could_not_be_sent_leaves_no_job(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    scope = world.user().of_session("s1")
    with monkeypatch.context() as broken:
        broken.setattr(world.queue, "send", refuse)
        with pytest.raises(StoreUnavailable):
            request_observation(scope, wait=False)
    job = request_observation(scope, wait=False)
    assert (job.status, job.version, len(world.queue.sent)) == ("queued", 1, 1)


@pytest.mark.parametrize(("wait", "queue"), [(False, QueueName.EXTRACT), (True, QueueName.COMPACT)])
def test_a_job_whose_message_is_a_dead_letter_is_sent_by_the_sweep_until_it_ends(
    world: World, wait: bool, queue: QueueName
) -> None:
    """Also where another pass, of another job, has observed its events meanwhile."""
    scope = world.user().of_session("s1")
    job = request_observation(scope, wait)
    [(_, asked)] = world.queue.sent
    dispatch_changes(world, [Change("", None, world.table.get(scope.keys.job(job.id)))])
    assert world.queue.sent == [(queue, asked)] * 2, "the queue drops the second"
    world.say("And you?", "I do not.")
    assert observe_session(scope, 1).observed_seq == 4
    for minutes in (30, 90):
        world.queue.sent.clear()
        world.clock.move(minutes=minutes)
        sweep_due(world)
        assert (queue, asked) in world.queue.sent
    assert asked_for(scope, dict(asked.body), lambda: 60.0) is not None
    ended = find_job(scope, job.id)
    assert ended is not None and (ended.status, ended.result["reason"]) == ("done", NOTHING_NEW)
    assert list(due_rows(world.table, QUEUED)) == []


def test_a_pass_that_was_under_way_is_sent_by_the_sweep_once_somebody_has_asked(world: World) -> None:
    scope = world.user().of_session("s1")
    job_id = observation_job_id(scope.keys, 1, 2)
    carry_on_job(scope, job_id, "observe", {"passes": 1})
    job = request_observation(scope, wait=False)
    assert (job.status, job.result, job) == ("running", {"passes": 1}, find_job(scope, job_id))
    assert [item["id"] for item in due_rows(world.table, QUEUED)] == [job_id]


def test_a_failed_job_stays_failed_when_it_cannot_be_sent_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    scope = world.user().of_session("s1")
    job = request_observation(scope, wait=False)
    finish_job(scope, job.id, "observe", "failed", {"reason": "refused"})
    with monkeypatch.context() as broken:
        broken.setattr(world.queue, "send", refuse)
        with pytest.raises(StoreUnavailable):
            request_observation(scope, wait=False)
    failed = find_job(scope, job.id)
    assert failed is not None and failed.status == "failed"
    assert request_observation(scope, wait=False).status == "queued"
    assert world.queue.sent[-1][1].dedup_id != job.id


def test_a_worker_that_was_faster_than_the_row_has_ended_the_job(world: World) -> None:
    scope = world.user().of_session("s1")
    send = world.queue.send

    def work_at_once(queue: QueueName, messages: Sequence[Message]) -> None:
        send(queue, messages)
        finish_job(scope, messages[0].body["job_id"], "observe", "done", {"passes": 1})

    world.queue.send = work_at_once  # type: ignore[method-assign]
    assert request_observation(scope, wait=False).status == "done"


def test_a_job_that_seemed_to_have_nothing_to_do_says_what_its_pass_did(world: World) -> None:
    """A pass that nobody asked for has moved the marker, and goes on with a reflection before it ends its job."""
    scope = world.user().of_session("s1")
    job_id = observation_job_id(scope.keys, 1, 2)
    report = report_so_far(scope, job_id)
    observe_session(scope, 1, report)
    assert report.written
    asked = request_observation(scope, wait=False)
    assert (asked.id, asked.status, asked.result["reason"]) == (job_id, "done", NOTHING_NEW)
    finish_job(scope, job_id, "observe", "done", report.result())
    redelivered = {**report.result(), "passes": 0, "written": [], "reason": NOTHING_NEW}
    finish_job(scope, job_id, "observe", "done", redelivered)
    job = find_job(scope, job_id)
    assert job is not None and (job.status, job.result) == ("done", report.result())


def test_a_job_that_is_done_is_not_opened_again(world: World) -> None:
    """The worker of the first message stood still behind its pass; that of a copy found nothing left and ended the
    job. The queue may drop the message of the first as a repeat of the copy."""
    scope = world.user().of_session("s1")
    job_id = observation_job_id(scope.keys, 1, 2)
    report = report_so_far(scope, job_id)
    observe_session(scope, 1, report)
    finish_job(scope, job_id, "observe", "done", {"passes": 0, "written": [], "reason": NOTHING_NEW})
    ended = find_job(scope, job_id)
    carry_on_job(scope, job_id, "observe", report.result())
    job = find_job(scope, job_id)
    assert ended is not None and job is not None and report.written
    assert (job.status, job.finished_at, job.result) == ("done", ended.finished_at, report.result())
