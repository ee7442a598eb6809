"""A worker that fails behind a pass: the job says what was committed, once, and log and metrics tell of it once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from neve import observability
from neve.domain.observe.time_limits import LEASE_S
from neve.domain.records.jobs import Job
from neve.domain.records.sessions import EventType
from neve.observing import Observed
from neve.ports.errors import ContentRefused, ModelRefused, ModelUnavailable, StoreUnavailable
from neve.ports.queue import Message, QueueName
from neve.scope import SessionScope
from neve.store.partitions import due_rows
from neve.store.rows import QUEUED
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.jobs.messages.observation import observation_message
from neve.usecases.core.jobs.read_jobs import find_job
from neve.usecases.core.memories.replace_rows import ReplacementBusy
from neve.usecases.tell.requests.request_compaction import request_compaction
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.work.background.asked_for import asked_for
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.observe import extract_session as extracting
from neve.usecases.work.observe.extract_session import extract_session, refused
from neve.usecases.work.observe.lease import LeaseLost
from neve.worker import process_fifo
from tests.unit.world import World, observed_line

CARD = "4111 1111 1111 1111"
REASON = "status 400"
COUNTED = {
    "EventsUnobservable": 1,
    "LinesLeftOut": 2,
    "LinesMalformed": 4,
    "FactsMalformed": 3,
    "PiiRedactedCardNumber": 1,
}
FAILURES = [ModelUnavailable("status 529"), StoreUnavailable("table", "down"), LeaseLost("s1")]


@pytest.fixture
def world(new_world: World) -> World:
    create_tenant(new_world, "acme")
    new_world.open()
    texts = ("one", "two", "three", "four")
    append_events(scope_of(new_world), [NewEvent(EventType.USER_MESSAGE, text) for text in texts])
    return new_world


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """All metrics of the queues' workers."""
    total: Counter[str] = Counter()

    def count(_: str, values: Mapping[str, float]) -> None:
        total.update({name: int(value) for name, value in values.items()})

    monkeypatch.setattr(observability, "emit_metrics", count)
    return total


@pytest.fixture
def warned(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Seqs of events that the log says were not observed."""
    seqs: list[Any] = []
    monkeypatch.setattr(observability, "event_unobservable", lambda _queue, _id, seq, _reason: seqs.append(seq))
    return seqs


def scope_of(world: World) -> SessionScope:
    return world.user().of_session("s1")


def retracts(world: World) -> None:
    retract_events(scope_of(world), Retract(4, 4, "edited"))


def first_pass() -> Observed:
    left_out: dict[str, Any] = {"lines_not_read": 4, "facts_not_read": 3, "lines_left_out": (1, 1)}
    return observed_line(f"🟡 pays with {CARD}", 1, 1, covered_to=1, **left_out)


def two_commits_and(failure: Exception) -> list[Observed | Exception]:
    """The pass of event 1, and of event 2, which is refused alone; then the worker fails."""
    return [first_pass(), ContentRefused(REASON), ContentRefused(REASON), failure]


def deliver(world: World, message: Message, queue: QueueName = QueueName.EXTRACT) -> bool:
    """Whether the worker was done with it."""
    attributes = {"MessageGroupId": message.group}
    record = {"messageId": "m-1", "body": json.dumps(message.body), "attributes": attributes}
    work = extract_session if queue is QueueName.EXTRACT else asked_for
    return process_fifo(world, {"Records": [record]}, None, queue, work) == {"batchItemFailures": []}


def observation(world: World) -> Message:
    return observation_message(scope_of(world).keys, 1, 4)


def job_of(world: World, message: Message) -> Job:
    job = find_job(world.scope, message.body["job_id"])
    assert job is not None
    return job


def test_a_slower_worker_leaves_a_job_failed(world: World) -> None:
    """The faster one has acknowledged the message: nothing would end the job again."""
    message = observation(world)

    def be_overtaken() -> None:
        world.clock.move(seconds=LEASE_S + 1)
        assert deliver(world, message)
        assert job_of(world, message).status == "failed"

    def in_the_second_pass() -> None:
        world.observer.meanwhile = be_overtaken

    world.observer.answers = [first_pass(), ModelRefused(REASON), ModelUnavailable("status 529")]
    world.observer.meanwhile = in_the_second_pass
    assert not deliver(world, message)
    job = job_of(world, message)
    assert (job.status, job.result["reason"]) == ("failed", refused(ModelRefused(REASON))["reason"])
    assert job.result["passes"] == 1, "what the slower one has committed is told"


def test_a_worker_that_finds_the_job_failed_ends_it(world: World) -> None:
    message = observation(world)
    world.observer.answers = [first_pass(), ModelRefused(REASON)]
    assert deliver(world, message)
    assert job_of(world, message).status == "failed"
    assert deliver(world, message)
    job = job_of(world, message)
    assert (job.status, job.result["passes"]) == ("done", 2)
    assert "reason" not in job.result


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_the_next_worker_goes_on_from_what_was_committed(
    world: World, counted: Counter[str], warned: list[Any], failure: Exception
) -> None:
    message = observation(world)
    world.observer.answers = two_commits_and(failure)
    assert not deliver(world, message)
    job = job_of(world, message)
    [first] = world.memories()
    assert (job.status, job.result["passes"], job.result["written"]) == ("running", 1, [first.id])
    assert (dict(counted), warned) == ({**COUNTED, "PassesFailed": 1}, [2])
    assert deliver(world, message)
    job = job_of(world, message)
    assert (job.status, job.result["passes"]) == ("done", 2)
    assert job.result["written"] == [memory.id for memory in world.memories()]
    assert job.result["unobservable"] == [{"seq": 2, "reason": REASON}]
    assert [job.result[name] for name in ("lines_left_out", "lines_not_read", "facts_not_read")] == [2, 4, 3]
    assert job.result["redacted"] == {"card_number": 1}
    assert (dict(counted), warned) == ({**COUNTED, "PassesFailed": 1}, [2]), "nothing is told twice"


def test_a_pass_whose_message_is_a_dead_letter_is_sent_by_the_sweep_until_it_ends(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has asked for it, and nothing is left to be observed: nobody else would come back to its job."""

    def down(*_: object) -> list[str]:
        raise StoreUnavailable("table", "down")

    message = observation(world)
    with monkeypatch.context() as broken:
        broken.setattr(extracting, "reflect_session", down)
        assert not deliver(world, message)
    assert (job_of(world, message).status, job_of(world, message).result["observed_seq"]) == ("running", 4)
    for minutes in (30, 90):
        world.queue.sent.clear()
        world.clock.move(minutes=minutes)
        sweep_due(world)
        assert (QueueName.EXTRACT, message) in world.queue.sent
    assert deliver(world, message)
    assert (job_of(world, message).status, job_of(world, message).result["passes"]) == ("done", 1)
    assert list(due_rows(world.table, QUEUED)) == []


def test_a_compaction_goes_on_from_what_was_committed(world: World, counted: Counter[str], warned: list[Any]) -> None:
    job = request_compaction(scope_of(world), "manual", wait=False)
    message, queue = message_of_row(world.table.get(world.tenant.keys.job(job.id)) or {}), QueueName.COMPACT
    world.observer.answers = two_commits_and(ModelUnavailable("status 529"))
    assert not deliver(world, message, queue)
    assert job_of(world, message).status == "running"
    assert deliver(world, message, queue)
    job = job_of(world, message)
    assert (job.status, job.result["written"]) == ("done", [memory.id for memory in world.memories()])
    assert len(job.result["written"]) == 2
    assert job.result["unobservable"] == [{"seq": 2, "reason": REASON}]
    assert (dict(counted), warned) == ({**COUNTED, "PassesFailed": 1}, [2])


def test_a_worker_that_is_put_off_behind_its_passes_says_what_they_did(
    world: World, counted: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object) -> list[str]:
        raise ReplacementBusy("ann", "job_night")

    message = observation(world)
    world.observer.answers = [first_pass()]
    with monkeypatch.context() as night:
        night.setattr(extracting, "reflect_session", busy)
        assert deliver(world, message), "it was sent again"
    assert (job_of(world, message).status, job_of(world, message).result["passes"]) == ("running", 2)
    assert deliver(world, message)
    job = job_of(world, message)
    assert (job.status, job.result["passes"], len(job.result["written"])) == ("done", 2, 2)
    assert dict(counted) == {name: n for name, n in COUNTED.items() if name != "EventsUnobservable"}


def test_an_answer_that_is_not_committed_is_not_counted(world: World, counted: Counter[str]) -> None:
    message = observation(world)
    world.observer.answers = [first_pass()]
    world.observer.meanwhile = lambda: world.clock.move(seconds=LEASE_S + 1)
    assert not deliver(world, message)
    assert find_job(world.scope, message.body["job_id"]) is None
    assert dict(counted) == {"PassesFailed": 1}
    world.observer.answers = [replace(first_pass(), covered_to=None)]
    assert deliver(world, message)
    assert job_of(world, message).result["redacted"] == {"card_number": 1}
    assert counted["PiiRedactedCardNumber"] == 1


def test_an_answer_to_words_that_are_taken_back_is_not_counted(world: World) -> None:
    world.observer.answers = [replace(first_pass(), covered_to=None)] * 2
    world.observer.meanwhile = lambda: retracts(world)
    report = extract_session(scope_of(world), observation(world).body)
    assert report is not None
    assert (len(world.observer.passes), report.passes, report.redacted) == (2, 1, {"card_number": 1})


def test_a_store_that_is_down_does_not_hide_why_a_worker_fails(
    world: World, counted: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: object) -> None:
        raise StoreUnavailable("table", "down")

    message = observation(world)
    failed: list[BaseException] = []
    monkeypatch.setattr(observability, "failed", lambda _where, _id, error, _job: failed.append(error))
    world.observer.answers = two_commits_and(ModelUnavailable("status 529"))
    with monkeypatch.context() as broken:
        broken.setattr(extracting, "carry_on_job", down)
        assert not deliver(world, message)
    assert [str(error) for error in failed] == ["status 529"]
    assert deliver(world, message)
    assert dict(counted) == {**COUNTED, "PassesFailed": 1}


def test_a_refusal_that_cannot_be_written_is_one_failure(
    world: World, counted: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: object) -> None:
        raise StoreUnavailable("table", "down")

    failed: list[BaseException] = []
    monkeypatch.setattr(observability, "failed", lambda _where, _id, error, _job: failed.append(error))
    monkeypatch.setattr(extracting, "finish_job", down)
    world.observer.answers = [ModelRefused("status 401")]
    assert not deliver(world, observation(world))
    assert [type(error) for error in failed] == [StoreUnavailable]
    assert dict(counted) == {"PassesFailed": 1}


def test_what_found_nothing_says_so_behind_a_failure(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*_: object) -> list[str]:
        raise StoreUnavailable("table", "down")

    message = observation(world)
    world.observer.answers = [Observed(False, (), "scripted")]
    with monkeypatch.context() as broken:
        broken.setattr(extracting, "reflect_session", down)
        assert not deliver(world, message)
    assert deliver(world, message)
    job = job_of(world, message)
    assert (job.status, job.result["reason"]) == ("done", "the observer found nothing worth keeping")
