"""A message that finds its session busy is put off: no failure, no receive spent, and its job ends all the same. The
functions' own handlers on a real queue, with a clock that moves only when told."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from functions.compact import app as compact
from functions.extract import app as extract
from local.backend import queue_definitions
from local.engine.sqlite_queue import SqliteQueue
from local.functions import LambdaContext
from local.template import QueueSpec, read_template
from local.workers.broker import Received
from local.workers.queue_worker import QueueWorker
from neve.domain.records import Job, Memory
from neve.domain.tenants.policy import Policy
from neve.ports import Message, QueueName, StoreUnavailable
from neve.store import rows
from neve.store.keys import SessionKeys, tenant_row
from neve.store.tenants import put_tenant, read_tenant
from neve.usecases.compact.request_compaction import request_compaction
from neve.usecases.jobs.read_jobs import find_job
from neve.usecases.observe.job import observation_message
from neve.usecases.observe.lease import LEASE_S, release_lease, take_lease
from neve.usecases.observe.request_observation import request_observation
from neve.usecases.sessions.memory_lag import MemoryLag
from neve.usecases.sessions.read_sessions import SessionView, get_session
from neve.worker import POSTPONED_S
from tests.unit.api_world import installed
from tests.unit.world import World, kept

TEMPLATE = read_template()
HANDLERS = {"extract": extract.handler, "compact": compact.handler}
QUEUES = sorted(HANDLERS)
NO_FAILURES: dict[str, Any] = {"batchItemFailures": []}


class Line:
    """The two queues and their workers; ``delivered`` and ``answers`` keep what a handler got and said."""

    def __init__(self, world: World, queue: SqliteQueue) -> None:
        self.world = world
        self.queue = queue
        self.delivered: list[Received] = []
        self.answers: list[Any] = []
        self._workers = {source.function: self._worker(source.function) for source in TEMPLATE.queue_sources}

    def _worker(self, name: str) -> QueueWorker:
        [source] = [source for source in TEMPLATE.queue_sources if source.function == name]
        spec = TEMPLATE.queues[source.queue]
        return QueueWorker(source, spec, self.queue, self.world.clock, self._invoke, self._note)

    def _invoke(self, name: str, event: Any) -> Any:
        self.answers.append(HANDLERS[name](event, LambdaContext(TEMPLATE.functions[name], "request")))
        return self.answers[-1]

    def _note(self, _: QueueSpec, batch: Sequence[Received]) -> None:
        self.delivered += batch

    def step(self, name: str) -> bool:
        """Deliver the next message, once the queue's delay is over."""
        self.world.clock.move(seconds=TEMPLATE.queues[name].delay_s)
        return self._workers[name].step(hurry=False)

    def counts(self, name: str) -> tuple[int, ...]:
        """Messages that wait, are in flight, are dead."""
        counts = self.queue.counts(name)
        return counts.visible + counts.delayed, counts.in_flight, counts.dlq


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    for world in installed(World.make(tmp_path)):
        world.open()
        yield world
        world.table.close()


@pytest.fixture
def line(world: World) -> Iterator[Line]:
    queue = SqliteQueue(world.folder / "queue.db", world.clock, queue_definitions(TEMPLATE))
    world.queue = cast("Any", queue)
    yield Line(world, queue)
    queue.close()


def ask(world: World, name: str) -> Job:
    """E3 or E4, whose message then waits in the queue of that name."""
    if name == "extract":
        return request_observation(world.user("ann").of_session("s1"), wait=False)
    return request_compaction(world.user("ann").of_session("s1"), "manual", wait=False)


def shrink_window(world: World) -> None:
    """2,000 tokens: twelve turns of 200 have a middle to cover."""
    row = read_tenant(world.table.get(tenant_row(world.tenant.id)) or {})
    world.table.write([put_tenant(replace(row, policy=Policy(window=2_000)))])


def status(world: World, job: Job) -> str:
    found = find_job(world.scope, job.id)
    assert found is not None
    return found.status


def busy(world: World) -> int:
    """Another worker's lease on the session; its token."""
    return take_lease(world.user("ann").of_session("s1")).lease_token


def free(world: World, token: int) -> None:
    release_lease(world.user("ann").of_session("s1"), token)


@pytest.mark.parametrize("name", QUEUES)
def test_it_is_acknowledged_and_sent_once_more(world: World, line: Line, name: str) -> None:
    world.say("I moved to Nice", "Lovely")
    job = ask(world, name)
    busy(world)
    assert line.step(name)
    assert line.answers == [NO_FAILURES]
    assert line.counts(name) == (1, 0, 0)
    assert (status(world, job), world.observer.passes) == ("queued", [])

    assert line.step(name)
    first, second = line.delivered
    assert json.loads(second.body) == json.loads(first.body)
    assert second.attributes["MessageGroupId"] == first.attributes["MessageGroupId"]
    assert second.attributes["MessageDeduplicationId"] != first.attributes["MessageDeduplicationId"]
    assert second.id != first.id
    assert second.attributes["ApproximateReceiveCount"] == "1"


@pytest.mark.parametrize("name", QUEUES)
def test_however_often_it_is_put_off_its_job_ends(world: World, line: Line, name: str) -> None:
    world.say("I moved to Nice", "Lovely")
    job = ask(world, name)
    token = busy(world)
    rounds = (TEMPLATE.queues[name].max_receives or 0) + 3
    for _ in range(rounds):
        assert line.step(name)
    assert line.answers == [NO_FAILURES] * rounds
    free(world, token)
    assert line.step(name)
    assert status(world, job) == "done"
    assert len(world.observer.passes) == len(world.memories()) == 1
    assert line.counts(name) == (0, 0, 0)


@pytest.mark.parametrize("name", QUEUES)
def test_the_lease_of_a_worker_that_died_is_waited_for(world: World, line: Line, name: str) -> None:
    world.say("I moved to Nice", "Lovely")
    job = ask(world, name)
    busy(world)
    began = world.clock.now()
    while status(world, job) != "done":
        assert line.step(name)
    waited_s = (world.clock.now() - began).total_seconds()
    look_s = TEMPLATE.queues[name].delay_s or POSTPONED_S
    assert LEASE_S - look_s <= waited_s <= LEASE_S + look_s
    assert len(line.delivered) <= LEASE_S / look_s + 1
    assert len(world.memories()) == 1
    assert line.counts(name) == (0, 0, 0)


def test_only_the_queue_without_a_delay_pauses(world: World, line: Line) -> None:
    world.say("I moved to Nice", "Lovely")
    busy(world)
    for name in QUEUES:
        ask(world, name)
        assert line.step(name)
    assert world.clock.slept == [POSTPONED_S]
    assert (TEMPLATE.queues["compact"].delay_s, TEMPLATE.queues["extract"].delay_s) == (0, 5)


@pytest.mark.parametrize("name", QUEUES)
def test_when_it_cannot_be_sent_again_it_has_failed(
    world: World, line: Line, name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world.say("I moved to Nice", "Lovely")
    job = ask(world, name)
    token = busy(world)

    def refuse(queue: QueueName, messages: Sequence[Message]) -> None:
        raise StoreUnavailable("queue", f"cannot take {len(messages)} for {queue}")

    with monkeypatch.context() as broken, caplog.at_level(logging.ERROR):
        broken.setattr(line.queue, "send", refuse)
        assert line.step(name)
    [message] = line.delivered
    assert line.answers == [{"batchItemFailures": [{"itemIdentifier": message.id}]}]
    assert line.counts(name) == (0, 1, 0)

    free(world, token)
    world.clock.at += timedelta(seconds=TEMPLATE.queues[name].visibility_s + 1)
    assert line.step(name)
    assert line.delivered[-1].attributes["ApproximateReceiveCount"] == "2"
    assert status(world, job) == "done"


@pytest.mark.parametrize("name", QUEUES)
def test_two_copies_after_a_crash_do_the_work_once(world: World, line: Line, name: str) -> None:
    """The worker died after it sent the message again and before the received copy was acknowledged."""
    shrink_window(world)
    for _ in range(12):
        world.say("u" * 320, "a" * 320)
    job = ask(world, name)
    token = busy(world)

    def everything() -> tuple[Job | None, SessionView, list[Memory]]:
        session = get_session(world.user("ann").of_session("s1"))
        return find_job(world.scope, job.id), replace(session, lag=MemoryLag()), world.memories()

    with pytest.MonkeyPatch.context() as dying:
        dying.setattr(line.queue, "delete", lambda *_: False)
        assert line.step(name)
    assert line.counts(name) == (1, 1, 0)

    free(world, token)
    world.clock.at += timedelta(seconds=TEMPLATE.queues[name].visibility_s + 1)
    assert line.step(name)
    once = everything()
    assert status(world, job) == "done"
    assert once[1].epoch.epoch == (1 if name == "compact" else 0)
    assert line.step(name)
    assert line.counts(name) == (0, 0, 0)
    assert everything() == once


def test_those_behind_it_in_its_group_go_first(world: World, line: Line) -> None:
    world.say("I moved to Nice", "Lovely")
    first = ask(world, "compact")
    second = ask(world, "compact")
    token = busy(world)
    assert line.step("compact")
    free(world, token)
    assert line.step("compact")
    assert (status(world, first), status(world, second)) == ("queued", "done")
    assert line.step("compact")
    assert status(world, first) == "done"
    assert len(world.memories()) == 1


def test_a_pass_that_was_overtaken_finds_nothing_left(world: World, line: Line) -> None:
    world.say("I moved to Nice", "Lovely")
    early = ask(world, "extract")
    world.say("And I keep bees", "Good")
    late = ask(world, "extract")
    token = busy(world)
    assert line.step("extract")
    free(world, token)
    while status(world, late) != "done":
        assert line.step("extract")
    assert status(world, early) == "queued"
    assert line.step("extract")
    assert status(world, early) == "done"
    [memory] = world.memories()
    assert (memory.provenance.seq_from, memory.provenance.seq_to) == (1, 4)


@pytest.mark.parametrize("name", QUEUES)
def test_a_worker_without_time_hands_its_job_on(
    world: World, line: Line, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its message is sent again under the job's id and the place that it has come to, and the job runs on."""
    world.say("I moved to Nice", "Lovely", "I keep bees", "Good")
    job = ask(world, name)
    world.observer.answers = [kept("🟡 moved", 1, 2, covered_to=2), kept("🟡 bees", 3, 4)]
    with monkeypatch.context() as slow:
        slow.setattr(LambdaContext, "get_remaining_time_in_millis", lambda _: 19_000)
        assert line.step(name)
    assert line.answers == [NO_FAILURES]
    assert (status(world, job), len(world.memories())) == ("running", 1)
    assert line.counts(name) == (1, 0, 0)

    assert line.step(name)
    assert line.delivered[1].attributes["MessageDeduplicationId"] == f"{job.id}.2"
    assert line.counts(name) == (0, 0, 0)
    done = find_job(world.scope, job.id)
    assert done is not None
    assert done.status == "done"
    assert [memory.text for memory in world.memories()] == ["🟡 moved", "🟡 bees"]
    if name == "extract":
        assert (done.result["passes"], len(done.result["written"])) == (2, 2)


def test_a_message_of_an_erased_user_is_not_put_off(world: World, line: Line) -> None:
    """Whose work is gone waits for nobody."""
    world.say("I moved to Nice", "Lovely")
    busy(world)
    line.queue.send(QueueName.EXTRACT, [observation_message(SessionKeys(world.tenant.id, "ann", "s1"), 7, 2)])
    assert rows.read_head(world.table.get(world.tenant.keys.of_user("ann").head)).incarnation == 1
    assert line.step("extract")
    assert line.counts("extract") == (0, 0, 0)
    assert world.observer.passes == []
