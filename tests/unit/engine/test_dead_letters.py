"""What becomes of a message that a queue of one machine has given up (docs/runbooks/one-machine.md#dead-letters)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from local.backend import Choices, EmbeddedPorts, queue_definitions
from local.engine.sqlite_queue import Counts, QueueDefinition, SqliteQueue
from local.engine.sqlite_table import SqliteTable
from local.recovery.take_over import take_over
from local.template import own_template
from local.workers.failure_log import report_dead_letters
from neve.ports.queue import Message, QueueName
from neve.troubles import Trouble, Troubles
from tests.contract.engines.registry import ManualClock

INDEX, FIFO, OF_STREAM = QueueName.INDEX, QueueName.EXTRACT, "changes-dlq"
DAY_S = 86_400.0
DEFINITIONS = {
    INDEX: QueueDefinition(fifo=False, visibility_s=60, max_receives=2, dlq="index-dlq"),
    FIFO: QueueDefinition(fifo=True, visibility_s=60, max_receives=2, dlq="extract-dlq"),
    "index-dlq": QueueDefinition(fifo=False, visibility_s=30, retention_s=14 * DAY_S),
    "extract-dlq": QueueDefinition(fifo=True, visibility_s=30, retention_s=3 * DAY_S),
}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def warned() -> list[Trouble]:
    return []


@pytest.fixture
def troubles(clock: ManualClock, warned: list[Trouble]) -> Troubles:
    return Troubles(clock.now, warned.append)


@pytest.fixture
def queue(tmp_path: Path, clock: ManualClock, troubles: Troubles) -> Iterator[SqliteQueue]:
    with closing(SqliteQueue(tmp_path / "queue.db", clock, DEFINITIONS, troubles, report_dead_letters)) as opened:
        yield opened


def die(queue: SqliteQueue, clock: ManualClock, name: QueueName = INDEX) -> None:
    """Whatever is in the queue is delivered as often as it may be, and is not handled."""
    for _ in range(3):
        queue.receive(name, 10, clock.now())
        clock.advance(61)


def texts(queue: SqliteQueue, clock: ManualClock, name: str = INDEX) -> list[int]:
    return [json.loads(one.body)["n"] for one in queue.receive(name, 10, clock.now())]


def test_each_that_is_given_up_is_said_in_the_log_and_by_health(
    queue: SqliteQueue,
    clock: ManualClock,
    troubles: Troubles,
    warned: list[Trouble],
    capfd: pytest.CaptureFixture[str],
) -> None:
    queue.send(INDEX, [Message({"n": 1}, "t#ann"), Message({"n": 2}, "t#ann")])
    die(queue, clock)
    assert capfd.readouterr().err == "index: 2 messages were given up after 2 deliveries, and are dead letters\n"
    [trouble] = troubles.active()
    said = (trouble.what, trouble.kind, trouble.reason)
    assert said == ("index-dlq", "failing", "messages were given up after 2 deliveries")
    assert [one.what for one in warned] == ["index-dlq"]
    queue.send(INDEX, [Message({"n": 3}, "t#ann")])
    die(queue, clock)
    assert capfd.readouterr().err == "index: 1 messages were given up after 2 deliveries, and are dead letters\n"


def test_health_says_so_for_as_long_as_one_is_there(queue: SqliteQueue, clock: ManualClock, troubles: Troubles) -> None:
    queue.send(INDEX, [Message({"n": 1}, "t#ann")])
    die(queue, clock)
    clock.advance(DAY_S)
    assert troubles.active() == ()
    queue.expire(clock.now())
    assert [one.what for one in troubles.active()] == ["index-dlq"]
    queue.give_back()
    queue.expire(clock.now())
    assert troubles.active() == ()


def test_it_is_removed_when_the_time_of_its_queue_is_over(queue: SqliteQueue, clock: ManualClock) -> None:
    queue.send(INDEX, [Message({"n": 1}, "t#ann")])
    queue.send(FIFO, [Message({"n": 2}, "t#ann")])
    die(queue, clock)
    die(queue, clock, FIFO)
    clock.advance(3 * DAY_S - 500)
    assert queue.expire(clock.now()) == 0
    clock.advance(500)
    assert queue.expire(clock.now()) == 1
    assert (queue.counts(FIFO).dlq, queue.counts(INDEX).dlq) == (0, 1)
    clock.advance(11 * DAY_S)
    assert queue.expire(clock.now()) == 1
    assert queue.counts(INDEX).dlq == 0


def test_what_waits_is_never_removed(queue: SqliteQueue, clock: ManualClock) -> None:
    """Of a machine that was switched off for a month."""
    queue.send(INDEX, [Message({"n": 1}, "t#ann")])
    clock.advance(30 * DAY_S)
    assert (queue.expire(clock.now()), texts(queue, clock)) == (0, [1])


def test_it_is_given_back_with_all_its_deliveries(queue: SqliteQueue, clock: ManualClock) -> None:
    queue.send(INDEX, [Message({"n": 1}, "t#ann")])
    queue.send(FIFO, [Message({"n": 2}, "s"), Message({"n": 3}, "s")])
    die(queue, clock)
    die(queue, clock, FIFO)
    queue.send(FIFO, [Message({"n": 4}, "s")])
    assert queue.give_back() == {INDEX: 1, FIFO: 2}
    assert queue.counts(INDEX) == Counts(visible=1, in_flight=0, delayed=0, dlq=0)
    [again] = queue.receive(INDEX, 10, clock.now())
    assert again.attributes["ApproximateReceiveCount"] == "1"
    assert "DeadLetterQueueSourceArn" not in again.attributes
    assert texts(queue, clock, FIFO) == [2, 3, 4], "in their order, before what came later"


def test_it_is_given_back_once(queue: SqliteQueue, clock: ManualClock) -> None:
    queue.send(INDEX, [Message({"n": 1}, "t#ann")])
    die(queue, clock)
    assert queue.give_back() == {INDEX: 1}
    die(queue, clock)
    assert (queue.give_back(), queue.counts(INDEX).dlq) == ({}, 1)


def test_a_start_gives_back_and_says_so(
    tmp_path: Path, queue: SqliteQueue, clock: ManualClock, capfd: pytest.CaptureFixture[str]
) -> None:
    queue.send(INDEX, [Message({"n": 1}, "t#ann")])
    die(queue, clock)
    capfd.readouterr()
    with closing(SqliteTable(tmp_path / "table.db")) as table:
        take_over(queue, table)
        assert capfd.readouterr().err == "index: 1 dead letters were given back\n"
        take_over(queue, table)
    assert capfd.readouterr().err == ""
    assert texts(queue, clock) == [1]


def test_queues_keep_their_dead_letters_as_long_as_the_template_says() -> None:
    definitions = queue_definitions(own_template())
    dead = {name: one.retention_s for name, one in definitions.items() if one.dlq is None}
    assert {"index-dlq", "extract-dlq", OF_STREAM} <= dead.keys()
    assert set(dead.values()) == {14 * DAY_S}


def test_a_service_of_one_machine_removes_them_behind_its_sweep(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ports = EmbeddedPorts(tmp_path, own_template(), "http://127.0.0.1:1", Choices("none"))
    with closing(ports):
        now = ports.clock.now()
        ports.queue.send(INDEX, [Message({"n": 1}, "t#ann")])
        for deliveries in range(6):
            ports.queue.receive(INDEX, 10, now + timedelta(seconds=361 * deliveries + 1))
        assert "after 5 deliveries" in capfd.readouterr().err
        assert [one.what for one in ports.caches.troubles.active()] == ["index-dlq"]
        assert (ports.expire(now + timedelta(days=15)), ports.queue.counts(INDEX).dlq) == (1, 0)
        assert ports.caches.troubles.active() == ()
