"""What the stream, the queues and the schedules deliver on one machine, on the real embedded table and queue."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from local.backend import queue_definitions
from local.engine.sqlite_queue import SqliteQueue
from local.engine.sqlite_table import Change, SqliteTable
from local.recovery.take_over import take_over
from local.template import read_template
from local.workers.deliveries import Deliveries
from local.workers.driver import Driver, Sources
from local.workers.queue_worker import QueueWorker
from local.workers.requests_first import RequestsFirst
from local.workers.stream_worker import StreamWorker
from local.workers.worker_events import sequence_number
from neve.adapters.clock import SystemClock
from neve.domain.records.jobs import Job
from neve.domain.records.markers import SessionMarker
from neve.domain.records.users import UserHead
from neve.domain.times import iso
from neve.ports.queue import Message, QueueName
from neve.ports.table import Delete, Expect, Key, Put, Version
from neve.store import rows
from neve.store.keys import Keys
from neve.usecases.core.jobs.queued_jobs import ERASURE, EXPORT, RETENTION, job_message, put_work, work_key
from tests.patience import PATIENCE_S

TEMPLATE = read_template()
STREAM = replace(TEMPLATE.stream_sources[0], filters=())
"""The template's stream source, for rows of any type."""
SOURCES = {source.queue: source for source in TEMPLATE.queue_sources}
Answer = Callable[[dict[str, Any]], Any]


def succeeding(_: dict[str, Any]) -> None:
    """A handler without failures."""


class MovableClock(SystemClock):
    """The real time, and what a test adds to it."""

    ahead = timedelta()

    def now(self) -> datetime:
        return super().now() + self.ahead


class Machine:
    """Engines and workers; ``answers`` maps a function to what it does with an event, ``events`` keeps what it got."""

    def __init__(self, folder: Path) -> None:
        self.clock = MovableClock()
        self.table = SqliteTable(folder / "table.db")
        self.queue = SqliteQueue(folder / "queue.db", self.clock, queue_definitions(TEMPLATE))
        self.answers: dict[str, Answer] = {}
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.given_up: list[tuple[list[int], int]] = []
        self.held: Counter[str] = Counter()
        self.expired: list[datetime] = []
        self.deliveries = Deliveries(self.invoke, list(SOURCES.values()))
        self._lock = threading.Lock()

    def invoke(self, function: str, event: dict[str, Any]) -> Any:
        with self._lock:
            self.events.append((function, event))
        answer: Answer = self.answers.get(function, succeeding)
        return answer(event)

    def stream(self, **changes: Any) -> StreamWorker:
        def give_up(changes: Any, attempts: int) -> None:
            self.given_up.append(([change.seq for change in changes], attempts))

        source, remember = replace(STREAM, **changes), self.deliveries.remember_changes
        return StreamWorker(source, self.table, self.invoke, give_up, remember)

    def worker(self, queue: str) -> QueueWorker:
        remember = self.deliveries.remember
        return QueueWorker(SOURCES[queue], TEMPLATE.queues[queue], self.queue, self.clock, self.invoke, remember)

    def driver(self, *queues: str, requests: RequestsFirst | None = None) -> Driver:
        workers = [self.worker(queue) for queue in queues]
        sources = Sources([self.stream()], workers, TEMPLATE.schedules)
        return Driver(sources, self.invoke, self.clock, self.held.__getitem__, self.expired.append, requests)

    def put(self, *names: str) -> None:
        for name in names:
            self.table.write([Put({"pk": "p", "sk": name, "type": "thing"}, Expect.ANY)])

    def send(self, queue: str, *bodies: Any, group: str = "g") -> None:
        name = QueueName(queue)
        self.queue.send(name, [Message({"n": body}, group, dedup_id=None) for body in bodies])

    def delivered(self, function: str) -> list[list[Any]]:
        """What each batch held: row names, or the ``n`` of messages."""
        return [_contents(event) for name, event in self.events if name == function]

    def close(self) -> None:
        self.table.close()
        self.queue.close()


def _contents(event: dict[str, Any]) -> list[Any]:
    records = event["Records"]
    if "dynamodb" in records[0]:
        return [record["dynamodb"]["Keys"]["sk"]["S"] for record in records]
    return [json.loads(record["body"])["n"] for record in records]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path)
    yield machine
    machine.close()


def failing(*wanted: Any) -> Answer:
    """Reports the records with these contents as failed."""

    def answer(event: dict[str, Any]) -> Any:
        failed = [
            {"itemIdentifier": record.get("messageId") or record["dynamodb"]["SequenceNumber"]}
            for record, content in zip(event["Records"], _contents(event), strict=True)
            if content in wanted
        ]
        return {"batchItemFailures": failed}

    return answer


def raising_on(*wanted: Any) -> Answer:
    def answer(event: dict[str, Any]) -> Any:
        if set(_contents(event)) & set(wanted):
            raise RuntimeError("cannot")

    return answer


def step_all(worker: StreamWorker | QueueWorker) -> None:
    """Hurry until nothing is left, as a drain does; the pause before a retry is waited for."""
    for _ in range(1000):
        if isinstance(worker, QueueWorker):
            worker.bring_back()
        if not worker.step(hurry=True):
            if worker.settled(0):
                return
            time.sleep(0.01)
    raise AssertionError("never settles")


# --- the stream ---------------------------------------------------------------------------------


def test_a_change_becomes_a_stream_record_with_typed_images(machine: Machine) -> None:
    machine.table.write([Put({"pk": "p", "sk": "s", "type": "thing", "n": 1}, Expect.ABSENT)])
    machine.table.write([Put({"pk": "p", "sk": "s", "type": "thing", "n": 2, "b": b"\x00\xff"}, Version(1))])
    machine.table.write([Delete(Key("p", "s"))])
    assert machine.stream().step(hurry=False)
    ((_, event),) = machine.events
    inserted, modified, removed = event["Records"]
    assert [record["eventName"] for record in event["Records"]] == ["INSERT", "MODIFY", "REMOVE"]
    assert inserted["eventSource"] == "aws:dynamodb"
    assert inserted["dynamodb"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"
    assert inserted["dynamodb"]["Keys"] == {"pk": {"S": "p"}, "sk": {"S": "s"}}
    assert inserted["dynamodb"]["NewImage"]["n"] == {"N": "1"}
    assert "OldImage" not in inserted["dynamodb"]
    assert modified["dynamodb"]["OldImage"]["version"] == {"N": "1"}
    assert modified["dynamodb"]["NewImage"]["version"] == {"N": "2"}
    assert modified["dynamodb"]["NewImage"]["b"] == {"B": "AP8="}
    assert "NewImage" not in removed["dynamodb"]
    numbers = [record["dynamodb"]["SequenceNumber"] for record in event["Records"]]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == 3


def test_batches_are_as_large_as_the_source_says_and_come_once(machine: Machine) -> None:
    machine.put("a", "b", "c")
    worker = machine.stream(batch_size=2)
    step_all(worker)
    assert machine.delivered("outbox") == [["a", "b"], ["c"]]
    machine.put("d")
    step_all(worker)
    assert machine.delivered("outbox")[2:] == [["d"]]
    assert machine.table.read_changes(0, 10) == []


def test_what_the_filter_keeps_back_is_done_with_unseen(machine: Machine) -> None:
    machine.put("a", "b", "c", "d")
    only_b = {"dynamodb": {"Keys": {"sk": {"S": ["b"]}}}}
    step_all(machine.stream(batch_size=2, filters=(only_b,)))
    assert machine.delivered("outbox") == [["b"]]
    assert machine.table.read_changes(0, 10) == []


def test_a_reported_failure_is_repeated_from_that_record_on(machine: Machine) -> None:
    machine.put("a", "b", "c")
    answers = iter([failing("b")])
    machine.answers["outbox"] = lambda event: next(answers, succeeding)(event)
    step_all(machine.stream())
    assert machine.delivered("outbox") == [["a", "b", "c"], ["b", "c"]]
    assert machine.given_up == []


def test_a_poison_record_is_isolated_by_bisecting_and_given_up(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.put("a", "b", "c", "d")
    machine.answers["outbox"] = raising_on("c")
    step_all(machine.stream(max_retries=2))
    batches = machine.delivered("outbox")
    assert batches[:3] == [["a", "b", "c", "d"], ["a", "b"], ["c", "d"]]
    assert batches[3:6] == [["c"]] * 3
    assert batches[6:] == [["d"]]
    assert [attempts for _, attempts in machine.given_up] == [3]
    assert capsys.readouterr().err.count("outbox: 1 changes were given up after 3 attempts") == 1
    assert machine.table.read_changes(0, 10) == []


def test_without_bisecting_the_whole_batch_is_repeated_and_given_up(machine: Machine) -> None:
    machine.put("a", "b")
    machine.answers["outbox"] = raising_on("b")
    step_all(machine.stream(bisect=False, max_retries=1))
    assert machine.delivered("outbox") == [["a", "b"], ["a", "b"]]
    assert [len(seqs) for seqs, _ in machine.given_up] == [2]


def test_changes_that_were_not_handled_come_again_after_a_restart(machine: Machine) -> None:
    machine.put("a", "b")
    machine.answers["outbox"] = failing("b")
    machine.stream().step(hurry=False)
    machine.answers.clear()
    step_all(machine.stream())
    assert machine.delivered("outbox") == [["a", "b"], ["b"]]


def test_later_changes_wait_for_a_retry_in_front_of_them(machine: Machine) -> None:
    machine.put("a")
    machine.answers["outbox"] = raising_on("a")
    worker = machine.stream()
    assert worker.step(hurry=False)
    machine.put("b")
    assert not worker.step(hurry=False)  # 200 ms have not passed
    assert machine.delivered("outbox") == [["a"]]
    assert not worker.settled(0)
    assert worker.backlog() == 2


# --- queues -------------------------------------------------------------------------------------


def test_a_message_becomes_an_sqs_record(machine: Machine) -> None:
    machine.queue.send(QueueName.EXTRACT, [Message({"n": 1}, "g1", dedup_id="d1")])
    assert machine.worker("extract").step(hurry=True)
    ((function, event),) = machine.events
    (record,) = event["Records"]
    assert function == "extract"
    assert record["eventSource"] == "aws:sqs"
    assert record["eventSourceARN"].endswith(":neve-extract.fifo")
    assert json.loads(record["body"]) == {"n": 1}
    assert record["attributes"]["ApproximateReceiveCount"] == "1"
    assert record["attributes"]["MessageGroupId"] == "g1"
    assert record["attributes"]["MessageDeduplicationId"] == "d1"
    assert machine.queue.counts("extract") == (0, 0, 0, 0)


def test_only_the_failed_message_of_a_batch_is_delivered_again(machine: Machine) -> None:
    worker = machine.worker("embed")
    machine.send("embed", 1, 2, 3)
    machine.answers["embed"] = failing(2)
    assert worker.step(hurry=False)
    assert not worker.step(hurry=False)  # hidden for the visibility timeout
    machine.answers.clear()
    machine.clock.ahead = timedelta(seconds=361)
    assert worker.step(hurry=False)
    assert machine.delivered("embed") == [[1, 2, 3], [2]]
    assert machine.events[1][1]["Records"][0]["attributes"]["ApproximateReceiveCount"] == "2"


def test_a_raising_function_fails_its_whole_batch(machine: Machine) -> None:
    worker = machine.worker("embed")
    machine.send("embed", 1, 2)
    machine.answers["embed"] = raising_on(2)
    assert worker.step(hurry=False)
    assert worker.counts().in_flight == 2


def test_an_answer_that_names_unknown_items_fails_the_whole_batch(machine: Machine) -> None:
    worker = machine.worker("embed")
    machine.send("embed", 1)
    machine.answers["embed"] = lambda _: {"batchItemFailures": [{"itemIdentifier": "another"}]}
    assert worker.step(hurry=False)
    assert worker.counts().in_flight == 1


def test_after_its_last_receive_a_message_goes_to_the_dead_letters(machine: Machine) -> None:
    worker = machine.worker("embed")
    machine.send("embed", "good", "bad")
    machine.answers["embed"] = failing("bad")
    step_all(worker)
    receives = TEMPLATE.queues["embed"].max_receives
    assert machine.delivered("embed") == [["good", "bad"]] + [["bad"]] * ((receives or 0) - 1)
    assert machine.queue.counts("embed") == (0, 0, 0, 1)


def test_a_fifo_group_keeps_its_order_behind_a_failure(machine: Machine) -> None:
    worker = machine.worker("compact")
    machine.send("compact", 1, 2, group="a")
    machine.send("compact", 3, group="b")
    answers = iter([failing(1)])
    machine.answers["compact"] = lambda event: next(answers, succeeding)(event)
    assert [worker.step(hurry=False) for _ in range(3)] == [True, True, False]
    assert machine.delivered("compact") == [[1], [3]]
    step_all(worker)
    assert machine.delivered("compact") == [[1], [3], [1], [2]]


def test_a_queue_delay_is_kept_unless_hurried(machine: Machine) -> None:
    worker = machine.worker("extract")
    machine.send("extract", 1)
    assert not worker.step(hurry=False)
    assert worker.counts().delayed == 1
    assert worker.step(hurry=True)
    machine.send("extract", 2)
    machine.clock.ahead = timedelta(seconds=6)
    assert worker.step(hurry=False)
    assert machine.delivered("extract") == [[1], [2]]


def test_what_a_dead_process_had_in_flight_is_delivered_at_once(machine: Machine) -> None:
    machine.send("embed", 1, 2)
    machine.send("extract", 3)
    machine.queue.receive("embed", 1, machine.clock.now())
    assert [json.loads(body) for body in machine.queue.in_flight()] == [{"n": 1}]
    machine.queue.return_in_flight()
    assert machine.queue.in_flight() == []
    assert machine.queue.counts("extract").delayed == 1
    assert machine.worker("embed").step(hurry=False)
    assert machine.delivered("embed") == [[1, 2]]
    receives = [record["attributes"]["ApproximateReceiveCount"] for record in machine.events[0][1]["Records"]]
    assert receives == ["2", "1"]


def test_leases_of_a_dead_process_end_when_the_next_one_starts(machine: Machine) -> None:
    keys, future = Keys("t"), "2999-01-01T00:00:00.000Z"
    state = {"gen": 2, "new": [], "old": [], "lease_until": future}
    job = Job("job_01J", "replace", "running", "2026-03-10T09:30:00.000Z", user_id="u", session_id="s", state=state)
    put_job = rows.put_job(keys, job)
    put_job.item.update({"due_pk": "DUE#replace#0", "due_sk": "x", "tenant_id": "t"})
    machine.table.write(
        [
            rows.put_marker(keys.of_user("u"), SessionMarker("s", observed_seq=4, lease_token=7, lease_until=future)),
            rows.put_head(keys.of_user("u"), UserHead(replacement_job=job.id)),
            put_job,
        ]
    )
    machine.queue.send(QueueName.EXTRACT, [Message({"tenant": "t", "user": "u", "session": "s"}, "g")])
    machine.send("embed", "without a session")
    machine.clock.ahead = timedelta(seconds=6)
    for queue in ("extract", "embed"):
        assert machine.queue.receive(queue, 1, machine.clock.now())
    take_over(machine.queue, machine.table)
    marker = rows.read_marker(machine.table.get(keys.of_user("u").of_session("s").marker) or {})
    assert (marker.lease_until, marker.lease_token, marker.observed_seq) == (None, 7, 4)
    item = machine.table.get(keys.job(job.id)) or {}
    assert rows.read_job(item).state == state | {"lease_until": job.created_at}
    assert (item["due_pk"], item["tenant_id"]) == ("DUE#replace#0", "t")
    assert machine.queue.counts("extract").visible == 1


@pytest.mark.parametrize(("worker", "freed"), [("w1", True), (None, False)])
@pytest.mark.parametrize("kind", [ERASURE, EXPORT, RETENTION])
def test_work_that_was_under_way_goes_on_at_once_and_what_waits_goes_on_waiting(
    machine: Machine, kind: str, worker: str | None, freed: bool
) -> None:
    keys, now = Keys("t").of_user("u"), iso(machine.clock.now())
    until, state = iso(machine.clock.now() + timedelta(seconds=910)), {"worker": worker, "cursor": {"since": now}}
    job = Job("job_1", kind, "running", now, user_id="u", state=state, due_at=until, incarnation=1)
    machine.table.write([put_work(keys, job)])
    machine.queue.send(QueueName.JOBS, [job_message(keys, kind, job.id)])
    assert machine.queue.receive("jobs", 1, machine.clock.now())
    take_over(machine.queue, machine.table)
    found = rows.read_job(machine.table.get(work_key(keys, kind, job.id)) or {})
    assert (found.state, found.due_at) == (state, now if freed else until)
    assert machine.queue.counts("jobs").visible == 1


# --- the driver ---------------------------------------------------------------------------------


def test_threads_deliver_what_is_written_and_sent(machine: Machine) -> None:
    done = threading.Semaphore(0)
    machine.answers["outbox"] = lambda _: machine.send("embed", "from the outbox")
    machine.answers["embed"] = lambda _: done.release()
    driver = machine.driver("embed", "extract", "compact")
    driver.start(schedules=False)
    machine.put("a")
    assert done.acquire(timeout=PATIENCE_S)
    assert driver.stop()
    assert machine.delivered("embed") == [["from the outbox"]]


def test_drain_follows_a_chain_and_ignores_delays(machine: Machine) -> None:
    machine.answers["outbox"] = lambda _: machine.send("extract", "delayed by 5 s")
    machine.answers["extract"] = lambda _: machine.send("embed", "last")
    driver = machine.driver("embed", "extract", "compact")
    driver.start(schedules=False)
    machine.put("a")
    drained = driver.drain(timeout_s=20)
    assert drained.done
    assert drained.changes == 0
    assert set(drained.queues.values()) == {(0, 0, 0, 0)}
    assert machine.delivered("embed") == [["last"]]
    driver.stop()


def test_drain_brings_failed_messages_back_until_they_are_dead(machine: Machine) -> None:
    machine.send("embed", "good", "bad")
    machine.answers["embed"] = failing("bad")
    driver = machine.driver("embed")
    driver.start(schedules=False)
    drained = driver.drain(timeout_s=20)
    assert drained.done
    assert drained.queues["embed"].dlq == 1
    driver.stop()


def test_a_paused_worker_keeps_its_queue_and_drain_leaves_it_alone(machine: Machine) -> None:
    driver = machine.driver("embed", "compact")
    driver.start(schedules=False)
    assert driver.pause("embed")
    machine.send("embed", 1)
    machine.send("compact", 2)
    assert driver.drain(timeout_s=20).done
    assert machine.delivered("embed") == []
    assert machine.delivered("compact") == [[2]]
    driver.resume("embed")
    assert driver.drain(timeout_s=20).done
    assert machine.delivered("embed") == [[1]]
    driver.stop()
    with pytest.raises(KeyError):
        driver.pause("nobody")


def test_workers_that_do_not_work_by_themselves_do_what_a_drain_gives_them(machine: Machine) -> None:
    done = threading.Semaphore(0)
    machine.answers["embed"] = lambda _: done.release()
    driver = machine.driver("embed")
    driver.work_by_themselves(on=False)
    driver.start(schedules=False)
    machine.send("embed", 1)
    assert not done.acquire(timeout=0.5)
    assert driver.drain(timeout_s=20).done
    assert machine.delivered("embed") == [[1]]
    assert done.acquire(blocking=False)
    driver.work_by_themselves(on=True)
    machine.send("embed", 2)
    assert done.acquire(timeout=PATIENCE_S)
    driver.stop()


def test_drain_goes_on_beside_a_held_pass_and_comes_back(machine: Machine) -> None:
    inside, release = threading.Event(), threading.Event()

    def hold_the_first(event: dict[str, Any]) -> None:
        if _contents(event) == [1]:
            machine.held["extract"] = 1
            inside.set()
            assert release.wait(PATIENCE_S)
            machine.held["extract"] = 0

    machine.answers["extract"] = hold_the_first
    machine.send("extract", 1, 2, group="held")
    machine.send("extract", 3, group="free")
    driver = machine.driver("embed", "extract")
    driver.start(schedules=False)
    drained = driver.drain(timeout_s=20)
    assert inside.is_set()
    assert drained.done
    assert machine.delivered("extract") == [[1], [3]]
    assert drained.queues["extract"].delayed == 1  # behind the held one, in its group
    release.set()
    assert driver.drain(timeout_s=20).done
    assert machine.delivered("extract") == [[1], [3], [2]]
    driver.stop()


def test_a_schedule_runs_with_its_input_and_the_time_filled_in(machine: Machine) -> None:
    driver = machine.driver("embed")
    driver.run("sweep")
    ((name, event),) = machine.events
    assert (name, event["source"]) == ("sweep", "neve.schedule")
    assert datetime.fromisoformat(event["time"]).tzinfo is not None
    (at,) = machine.expired
    assert abs(datetime.fromisoformat(event["time"]) - at) < timedelta(seconds=1)
    with pytest.raises(KeyError):
        driver.run("embed")


def test_stop_waits_for_what_is_in_flight(machine: Machine) -> None:
    inside, release = threading.Event(), threading.Event()
    finished: list[bool] = []

    def slow(_: Any) -> None:
        inside.set()
        release.wait(PATIENCE_S)
        finished.append(True)

    machine.answers["embed"] = slow
    driver = machine.driver("embed")
    driver.start(schedules=False)
    machine.send("embed", 1)
    assert inside.wait(PATIENCE_S)
    threading.Timer(0.05, release.set).start()
    assert driver.stop()
    assert finished == [True]
    machine.send("embed", 2)
    assert machine.delivered("embed") == [[1]]


def test_what_a_request_wrote_is_looked_at_behind_its_answer(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("local.workers.requests_first.MAX_YIELD_S", PATIENCE_S)
    delivered = threading.Event()
    machine.answers["outbox"] = lambda _: delivered.set()
    requests = RequestsFirst(lambda: 0.0)
    driver = machine.driver(requests=requests)
    with requests.one():
        driver.start(schedules=False)
        machine.put("a")
        assert not delivered.wait(0.05)
    assert delivered.wait(PATIENCE_S)
    driver.stop()


def test_a_failing_engine_does_not_end_a_worker(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()
    machine.answers["embed"] = lambda _: done.set()
    receive, failures = machine.queue.receive, iter([OSError("disk full")])

    def failing_once(*given: Any) -> Any:
        for error in failures:
            raise error
        return receive(*given)

    monkeypatch.setattr("local.workers.driver.AFTER_FAILURE_S", 0.01)
    monkeypatch.setattr(machine.queue, "receive", failing_once)
    driver = machine.driver("embed")
    machine.send("embed", 1)
    driver.start(schedules=False)
    assert done.wait(PATIENCE_S)
    driver.stop()


def test_sequence_numbers_sort_as_text() -> None:
    changes = [Change(seq, Key("p", "s"), None, {"pk": "p", "sk": "s"}) for seq in (9, 10, 100)]
    numbers = [sequence_number(change) for change in changes]
    assert numbers == sorted(numbers)


def test_the_failure_destination_is_a_queue_of_the_engine(machine: Machine) -> None:
    name = cast("QueueName", STREAM.on_failure)
    machine.queue.send(name, [Message({"n": 1}, "changes")])
    assert machine.queue.counts(name).visible == 1


def test_what_named_a_text_is_delivered_again(machine: Machine) -> None:
    stream, embed = machine.stream(filters=()), machine.worker("embed")
    machine.put("a", "b")
    machine.send("embed", "of p", "of q")
    step_all(stream)
    step_all(embed)
    machine.events.clear()
    machine.answers["embed"] = raising_on("of p")
    assert machine.deliveries.replay("p") == (3, 1), "two rows of the partition p, and the message"
    assert machine.delivered(stream.name) == [["a", "b"]]
    assert machine.delivered("embed") == [["of p"]]
    assert machine.deliveries.replay("nobody") == (0, 0)
