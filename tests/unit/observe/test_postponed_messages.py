"""A message that finds its session busy is put off: no failure, no receive spent, and its job ends all the same. The
functions' own handlers on a real queue, within Lambda's limits, with a clock that moves only when told."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from local.backend import queue_definitions
from local.broker import Received
from local.engine.sqlite_queue import SqliteQueue
from local.functions import Functions, LambdaContext
from local.limits.lineage import MAX_INVOCATIONS
from local.limits.mortal_ports import MortalPorts
from local.limits.points import LAMBDA, Points, Series
from local.template import QueueSpec, read_template
from local.workers.queue_worker import QueueWorker
from neve import wiring
from neve.domain.observe.time_limits import ANSWERS_LEASE_S, NO_PROGRESS_FOR, PASS_S, POSTPONED_S, WORKER_S
from neve.domain.records.jobs import Job
from neve.domain.records.memories import Memory
from neve.domain.tenants.policy import Policy
from neve.ports.errors import StoreUnavailable
from neve.ports.queue import Message, QueueName
from neve.store import rows
from neve.store.keys import SessionKeys, leg_health, tenant_row
from neve.store.tenants.leg_health import WORKERS, read_leg_troubles
from neve.store.tenants.tenant_rows import put_tenant, read_tenant
from neve.usecases.ask.sessions.read_sessions import SessionView, get_session
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.jobs.messages.observation import observation_message
from neve.usecases.core.jobs.read_jobs import find_job
from neve.usecases.core.lag.memory_lag import MemoryLag
from neve.usecases.core.memories.replace_rows import Replacement, _begin
from neve.usecases.tell.requests.request_compaction import request_compaction
from neve.usecases.tell.requests.request_observation import request_observation
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.observe.lease import LeaseHeld, release_lease, take_lease
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from neve.worker import PROGRESS
from neve.workers.cut_off import tell_of_cut_off
from tests.unit.api_world import installed
from tests.unit.world import World, observed_line

TEMPLATE = read_template()
QUEUES = ["compact", "extract"]
NO_FAILURES: dict[str, Any] = {"batchItemFailures": []}


class Line:
    """The two queues and their workers; ``delivered`` and ``answers`` keep what a handler got and said."""

    def __init__(self, world: World, queue: SqliteQueue) -> None:
        self.world = world
        self.queue = queue
        self.delivered: list[Received] = []
        self.answers: list[Any] = []
        self.points = Points(world.clock.now)
        told = partial(tell_of_cut_off, world)
        self._functions = Functions(TEMPLATE.functions, self.points, lambda: world.clock.at.timestamp(), told)
        self._workers = {source.function: self._worker(source.function) for source in TEMPLATE.queue_sources}

    def _worker(self, name: str) -> QueueWorker:
        [source] = [source for source in TEMPLATE.queue_sources if source.function == name]
        spec = TEMPLATE.queues[source.queue]
        return QueueWorker(source, spec, self.queue, self.world.clock, self._invoke, self._note)

    def _invoke(self, name: str, event: Any) -> Any:
        self.answers.append(self._functions.invoke(name, event))
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
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    for world in installed(World.make(tmp_path)):
        wiring.install(MortalPorts(world))
        monkeypatch.setattr(world.observer, "longest_s", PASS_S)  # as that of a model
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
    job = request_compaction(world.user("ann").of_session("s1"), "manual", wait=False)
    row = world.table.get(world.tenant.keys.job(job.id)) or {}
    world.queue.send(QueueName.COMPACT, [message_of_row(row)])  # as the outbox does
    return job


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
    sent, again = json.loads(first.body), json.loads(second.body)
    assert again.pop(PROGRESS)["at"] == "0"
    assert again == sent
    assert second.attributes["MessageGroupId"] == first.attributes["MessageGroupId"]
    assert second.attributes["MessageDeduplicationId"] != first.attributes["MessageDeduplicationId"]
    assert second.id != first.id
    assert second.attributes["ApproximateReceiveCount"] == "1"


@pytest.mark.parametrize("name", QUEUES)
def test_the_lease_of_a_worker_that_died_is_waited_for(world: World, line: Line, name: str) -> None:
    world.say("I moved to Nice", "Lovely")
    job = ask(world, name)
    busy(world)
    began = world.clock.now()
    while status(world, job) != "done":
        assert line.step(name)
    waited_s = (world.clock.now() - began).total_seconds()
    look_s = TEMPLATE.queues[name].delay_s + POSTPONED_S
    assert ANSWERS_LEASE_S - look_s <= waited_s <= ANSWERS_LEASE_S + look_s
    assert len(line.delivered) <= ANSWERS_LEASE_S / look_s + 2
    assert len(world.memories()) == 1
    assert line.counts(name) == (0, 0, 0)


def test_the_replacement_of_a_worker_that_died_is_waited_for(world: World, line: Line) -> None:
    """More often than a message is received before it is dead."""
    world.say("I moved to Nice", "Lovely")
    scope = world.user("ann").of_session("s1")
    observe_session(scope, 1)
    [memory] = world.memories()
    _begin(scope, 1, Replacement((replace(memory, id="mem_01KKBHRFH771PTMHD1TB4K7AMC"),), (memory,), "test", "s1"))
    job_id = retract_events(scope, Retract(1, 1, "edited")).job_id
    job = find_job(world.scope, job_id)
    assert job is not None
    line.queue.send(QueueName.COMPACT, [message_of_row(world.table.get(scope.keys.job(job_id)) or {})])
    while status(world, job) != "done":
        assert line.step("compact")
    assert line.answers == [NO_FAILURES] * len(line.answers)
    assert len(line.answers) > (TEMPLATE.queues["compact"].max_receives or 0)
    assert line.counts("compact") == (0, 0, 0)


def keep_busy(world: World) -> None:
    """As one worker after another does that gets nowhere."""
    with suppress(LeaseHeld):
        busy(world)


@pytest.mark.parametrize("name", QUEUES)
def test_however_often_it_is_put_off_its_job_ends(world: World, line: Line, name: str) -> None:
    """More often than a message is received before it is dead, and than Lambda lets a loop go round."""
    assert (TEMPLATE.queues[name].max_receives or 0) < 2 * MAX_INVOCATIONS
    world.say("I moved to Nice", "Lovely")
    job = ask(world, name)
    for _ in range(2 * MAX_INVOCATIONS):
        keep_busy(world)
        assert line.step(name)
    assert line.answers == [NO_FAILURES] * 2 * MAX_INVOCATIONS
    assert line.points.total(Series(LAMBDA, "RecursiveInvocationsDropped", name)) == 0
    world.clock.move(seconds=ANSWERS_LEASE_S)
    assert line.step(name)
    assert (status(world, job), line.counts(name)) == ("done", (0, 0, 0))
    assert len(world.observer.passes) == len(world.memories()) == 1


@pytest.mark.parametrize("name", QUEUES)
def test_one_whose_session_stands_for_a_quarter_of_an_hour_has_failed(world: World, line: Line, name: str) -> None:
    world.say("I moved to Nice", "Lovely")
    ask(world, name)
    began = world.clock.now()
    while line.counts(name)[1:] == (0, 0):
        keep_busy(world)
        assert line.step(name)
    round_s = POSTPONED_S + TEMPLATE.queues[name].delay_s
    over_s = (world.clock.now() - began - NO_PROGRESS_FOR).total_seconds()
    assert 0 < over_s <= 2 * round_s
    [message] = line.answers[-1]["batchItemFailures"]
    assert message["itemIdentifier"] == line.delivered[-1].id
    while line.counts(name)[2] == 0:
        world.clock.move(seconds=TEMPLATE.queues[name].visibility_s)
        keep_busy(world)
        line.step(name)
    assert line.counts(name) == (0, 0, 1)


def test_progress_of_the_session_restarts_the_time(world: World, line: Line) -> None:
    world.say("I moved to Nice", "Lovely")
    ask(world, "compact")
    waits = NO_PROGRESS_FOR.total_seconds() * 0.7
    keep_busy(world)
    assert line.step("compact")
    world.clock.move(seconds=waits)
    observe_session(world.user("ann").of_session("s1"), 1)
    world.say("And I keep bees", "Good")
    keep_busy(world)
    assert line.step("compact")
    world.clock.move(seconds=waits)
    keep_busy(world)
    assert line.step("compact")
    assert line.answers == [NO_FAILURES] * 3
    assert [json.loads(it.body).get(PROGRESS, {}).get("at") for it in line.delivered] == [None, "0", "2"]


@pytest.mark.parametrize("name", QUEUES)
def test_a_worker_that_is_killed_leaves_its_lease_behind_and_writes_nothing(
    world: World, line: Line, name: str
) -> None:
    world.say("I moved to Nice", "Lovely")
    job = ask(world, name)
    world.observer.meanwhile = lambda: world.clock.move(seconds=WORKER_S)
    assert line.step(name)
    assert (line.answers, line.counts(name), world.memories()) == ([], (0, 1, 0), [])
    assert line.points.total(Series(LAMBDA, "Errors", name)) == 1
    [told] = read_leg_troubles(world.table.get_many([leg_health(WORKERS)]), world.clock.now())
    assert (told.what, told.kind) == ("workers", "failing") and f"a worker of {name}" in told.reason
    with pytest.raises(LeaseHeld):
        busy(world)
    world.clock.move(seconds=TEMPLATE.queues[name].visibility_s)
    assert line.step(name)
    assert (status(world, job), len(world.memories())) == ("done", 1)


def test_every_worker_pauses_before_it_sends_again(world: World, line: Line) -> None:
    world.say("I moved to Nice", "Lovely")
    busy(world)
    for name in QUEUES:
        ask(world, name)
        assert line.step(name)
    assert world.clock.slept == [POSTPONED_S] * 2
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
def test_a_worker_without_time_hands_its_job_on(world: World, line: Line, name: str) -> None:
    """Its message is sent again under the id of the one that it takes the place of, and the job runs on."""
    world.say("I moved to Nice", "Lovely", "I keep bees", "Good")
    job = ask(world, name)
    world.observer.answers = [observed_line("🟡 moved", 1, 2, covered_to=2), observed_line("🟡 bees", 3, 4)]
    world.observer.meanwhile = lambda: world.clock.move(seconds=WORKER_S - world.observer.longest_s + 1)
    assert line.step(name)
    assert line.answers == [NO_FAILURES]
    assert (status(world, job), len(world.memories())) == ("running", 1)
    assert line.counts(name) == (1, 0, 0)

    assert line.step(name)
    assert line.delivered[1].attributes["MessageDeduplicationId"] == f"{line.delivered[0].id}.again"
    assert line.counts(name) == (0, 0, 0)
    done = find_job(world.scope, job.id)
    assert done is not None
    assert done.status == "done"
    assert [memory.text for memory in world.memories()] == ["🟡 moved", "🟡 bees"]
    if name == "extract":
        assert (done.result["passes"], len(done.result["written"])) == (2, 2)


@pytest.mark.parametrize("name", QUEUES)
def test_one_that_workers_without_time_pass_on_is_not_lost(
    world: World, line: Line, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of them begins a pass, so the place stays the same: its id has been seen by the queue."""
    world.say("I moved to Nice", "Lovely")
    job = ask(world, name)
    with monkeypatch.context() as late:
        late.setattr(LambdaContext, "get_remaining_time_in_millis", lambda _: 19_000)
        for _ in range(4):
            assert line.step(name)
            assert line.counts(name) == (1, 0, 0)
    assert (world.observer.passes, status(world, job)) == ([], "running")
    assert line.step(name)
    assert (len(world.memories()), status(world, job), line.counts(name)) == (1, "done", (0, 0, 0))


def test_nor_is_one_that_finds_its_session_busy_in_between(
    world: World, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A retraction: without time, busy, and without time at the same place again, while the queue remembers the first
    message of that place."""
    world.say("I moved to Nice", "Lovely", "I keep bees", "Good")
    scope = world.user("ann").of_session("s1")
    world.observer.answers = [observed_line("🟡 moved, bees", 1, 4)]
    observe_session(scope, 1, ObservationReport())
    job_id = retract_events(scope, Retract(3, 4, "edited")).job_id
    line.queue.send(QueueName.COMPACT, [message_of_row(world.table.get(scope.keys.job(job_id)) or {})])

    def without_time() -> None:
        with monkeypatch.context() as late:
            late.setattr(LambdaContext, "get_remaining_time_in_millis", lambda _: 19_000)
            assert line.step("compact")

    without_time()
    token = busy(world)
    assert line.step("compact")
    free(world, token)
    without_time()
    assert line.counts("compact") == (1, 0, 0)
    assert line.step("compact")
    found = find_job(world.scope, job_id)
    assert found is not None
    assert (found.status, line.counts("compact")) == ("done", (0, 0, 0))


def test_a_message_of_an_erased_user_is_not_put_off(world: World, line: Line) -> None:
    """Whose work is gone waits for nobody."""
    world.say("I moved to Nice", "Lovely")
    busy(world)
    line.queue.send(QueueName.EXTRACT, [observation_message(SessionKeys(world.tenant.id, "ann", "s1"), 7, 2)])
    assert rows.read_head(world.table.get(world.tenant.keys.of_user("ann").head)).incarnation == 1
    assert line.step("extract")
    assert line.counts("extract") == (0, 0, 0)
    assert world.observer.passes == []
