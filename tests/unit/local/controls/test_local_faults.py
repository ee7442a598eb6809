"""Injected faults become what each port says of a failure, as often as asked and no more."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, cast

import pytest

from local.controls.call_log import CallLog
from local.controls.controlled_observer import BadAnswer, ControlledObserver, Script
from local.controls.faults import (
    BadFault,
    Faults,
    FaultyEmbedder,
    FaultyObjects,
    FaultyQueue,
    FaultySearch,
    FaultyTable,
)
from local.controls.fixture_embedder import FixtureEmbedder
from local.controls.holds import Holds
from local.controls.last_write import Moment
from local.controls.virtual_time import VirtualClock
from local.engine.sqlite_table import SqliteTable
from local.functions import current_function
from neve.adapters.clock import SystemClock
from neve.domain.recall.query import TextQuery
from neve.domain.records.sessions import Event, EventType
from neve.observers.extractive.observer import ExtractiveObserver
from neve.observing import PassInput
from neve.ports.errors import (
    AnswerOutOfForm,
    ContentRefused,
    EmbeddingRetryable,
    EmbeddingUnavailable,
    ModelRefused,
    ModelUnavailable,
    StoreUnavailable,
)
from neve.ports.objects import ObjectStore
from neve.ports.queue import Message, Queue, QueueName
from neve.ports.search import Owner, SearchFilter, SearchIndex
from neve.ports.table import Expect, Key, Put, Version


class Working:
    """Any port whose methods all work and return their own name."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: name


@pytest.fixture
def faults() -> Faults:
    return Faults()


@pytest.fixture
def table(tmp_path: Path, faults: Faults) -> Iterator[FaultyTable]:
    engine = SqliteTable(tmp_path / "table.db")
    yield FaultyTable(engine, faults)
    engine.close()


def test_the_table_fails_in_every_call_and_is_whole_afterwards(table: FaultyTable, faults: Faults) -> None:
    key, put = Key("p", "s"), Put({"pk": "p", "sk": "s", "type": "thing"}, Expect.ABSENT)
    faults.replace([{"target": "table", "fault": "error"}])
    for call in (
        lambda: table.get(key),
        lambda: table.get_many([key]),
        lambda: table.query("p", limit=1),
        lambda: table.write([put]),
    ):
        with pytest.raises(StoreUnavailable):
            call()
    faults.replace([])
    assert table.get(key) is None
    table.write([put])
    assert table.query("p", limit=1).items[0]["sk"] == "s"


def test_a_fault_of_the_ledger_spares_other_writes(table: FaultyTable, faults: Faults) -> None:
    faults.replace([{"target": "ledger", "fault": "status:500"}])
    table.write([Put({"pk": "p", "sk": "s", "type": "thing"})])
    with pytest.raises(StoreUnavailable):
        table.write([Put({"pk": "p", "sk": "r", "type": "recall"})])


def test_times_counts_down_and_slowness_comes_before_failure(table: FaultyTable, faults: Faults) -> None:
    clock = VirtualClock(SystemClock())
    started = clock.monotonic_ms()
    faults.replace([{"target": "table", "fault": "error", "times": 1}, {"target": "table", "fault": "slow:40"}])
    with pytest.raises(StoreUnavailable):
        table.get(Key("p", "s"))
    assert table.get(Key("p", "s")) is None
    assert clock.monotonic_ms() - started == 80


def test_the_legs_of_the_search_fail_apart(faults: Faults) -> None:
    search = FaultySearch(cast("SearchIndex", Working()), faults)
    owner, where = Owner("t", "u"), SearchFilter()
    faults.replace([{"target": "vector", "fault": "error"}])
    assert str(search.search_text(owner, TextQuery(()), where, 1)) == "search_text"
    with pytest.raises(StoreUnavailable):
        search.search_vector(owner, b"", where, 1)
    faults.replace([{"target": "lexical", "fault": "error"}])
    assert str(search.search_vector(owner, b"", where, 1)) == "search_vector"
    with pytest.raises(StoreUnavailable):
        search.search_text(owner, TextQuery(()), where, 1)
    assert str(search.count(owner)) == "count"


def test_objects_and_queue_fail_as_stores_do(faults: Faults) -> None:
    objects = FaultyObjects(cast("ObjectStore", Working()), faults, Holds())
    queue = FaultyQueue(cast("Queue", Working()), faults)
    faults.replace([{"target": "objects", "fault": "error"}, {"target": "queue", "fault": "error"}])
    with pytest.raises(StoreUnavailable):
        objects.get("k")
    with pytest.raises(StoreUnavailable):
        queue.send(QueueName.EMBED, [Message({}, "g")])
    faults.replace([])
    assert str(objects.get("k")) == "get"
    queue.send(QueueName.EMBED, [Message({}, "g")])


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("error", EmbeddingRetryable),
        ("status:429", EmbeddingRetryable),
        ("status:503", EmbeddingRetryable),
        ("status:403", EmbeddingUnavailable),
        ("status:400", EmbeddingUnavailable),
    ],
)
def test_an_embedding_failure_is_final_only_for_a_4xx(faults: Faults, fault: str, expected: type[Exception]) -> None:
    calls = CallLog()
    embedder = FaultyEmbedder(FixtureEmbedder(), faults, calls)
    faults.replace([{"target": "embed", "fault": fault, "times": 1}])
    with pytest.raises(expected):
        embedder.embed_passages(["a", "b"])
    assert len(embedder.embed_query("a")) == 4 * embedder.model.dimensions
    assert [(call["operation"], call["texts"], call["outcome"]) for call in calls.entries("embed")] == [
        ("passages", ["a", "b"], expected.__name__),
        ("query", ["a"], "ok"),
    ]


def test_a_fault_can_be_for_texts_that_match(faults: Faults) -> None:
    embedder = FaultyEmbedder(FixtureEmbedder(), faults, CallLog())
    faults.replace([{"target": "embed", "fault": "error", "match": "poison"}])
    assert len(embedder.embed_passages(["fine"])) == 1
    with pytest.raises(EmbeddingRetryable):
        embedder.embed_passages(["fine", "a poison pill"])


@pytest.mark.parametrize(
    "given",
    [
        {"target": "moon", "fault": "error"},
        {"target": "table", "fault": "explode"},
        {"target": "table", "fault": "slow:fast"},
        {"target": "table", "fault": "status:5"},
        {"target": "table", "fault": "error", "times": 0},
        {"target": "table", "fault": "error", "often": 2},
        "table",
    ],
)
def test_a_fault_in_other_words_is_refused_and_changes_nothing(faults: Faults, given: Any) -> None:
    faults.replace([{"target": "queue", "fault": "error"}])
    with pytest.raises(BadFault):
        faults.replace([{"target": "table", "fault": "error"}, given])
    faults.strike("table")
    with pytest.raises(StoreUnavailable):
        faults.strike_store("queue", "queue")


# --- the observer -------------------------------------------------------------------------------


class Machine:
    """A controlled observer around one that keeps nothing."""

    def __init__(self) -> None:
        self.faults, self.calls, self.script, self.holds = Faults(), CallLog(), Script(), Holds()
        self.observer = ControlledObserver(ExtractiveObserver(), self.script, self.calls, self.faults, self.holds)

    def observe(self, text: str = "I prefer tea to coffee.") -> Any:
        return self.observer.observe(pass_of(text))


def pass_of(text: str) -> PassInput:
    event = Event(1, EventType.USER_MESSAGE, text, 5, "2026-03-10T09:30:00.000Z")
    return PassInput("s1", [event], [], "UTC", 8_000)


def test_without_a_script_the_inner_observer_answers_and_the_request_is_kept() -> None:
    machine = Machine()
    observed = machine.observe()
    assert observed.model == "extractive"
    (call,) = machine.calls.entries("model")
    assert (call["answered_by"], call["purpose"], call["outcome"]) == ("extractive", "observe", "ok")
    assert "I prefer tea to coffee." in str(call["content"])


def test_a_scripted_answer_passes_the_prompted_observer() -> None:
    machine = Machine()
    line = {"text": "🔴 prefers tea", "seq_from": 1, "seq_to": 1}
    machine.script.add([{"tool_input": {"has_memory": True, "observations": [line]}, "usage": {"input": 7}}])
    observed = machine.observe()
    assert ([memory.text for memory in observed.lines], observed.model) == (["🔴 prefers tea"], "scripted")
    assert observed.usage == {"input": 7}
    assert machine.observe().model == "extractive"
    assert [call["answered_by"] for call in machine.calls.entries()] == ["scripted", "extractive"]


def test_a_scripted_error_and_an_answer_out_of_form() -> None:
    machine = Machine()
    out_of_form = {"tool_input": {"has_memory": "perhaps"}}
    machine.script.add([{"error": "refused"}, {"error": "unavailable"}, out_of_form, out_of_form])
    with pytest.raises(ModelRefused):
        machine.observe()
    with pytest.raises(ModelUnavailable):
        machine.observe()
    with pytest.raises(AnswerOutOfForm):
        machine.observe()
    assert [call["outcome"] for call in machine.calls.entries()] == ["ModelRefused", "ModelUnavailable", "ok", "ok"]


def test_an_answer_for_other_words_is_left_for_them() -> None:
    machine = Machine()
    machine.script.add([{"when": "coffee", "status": 413}, {"when": "whisky", "status": 401}])
    with pytest.raises(ContentRefused):
        machine.observe()
    assert machine.observe().model == "extractive"
    assert machine.script.has("observe", "a glass of whisky")


def test_an_answer_for_another_purpose_is_left_for_it() -> None:
    machine = Machine()
    machine.script.add([{"purpose": "reflect", "error": "refused"}])
    assert machine.observe().model == "extractive"
    assert machine.script.has("reflect")
    assert machine.script.add([]) == 0


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"tool_input": {}, "error": "refused"},
        {"status": 400, "error": "refused"},
        {"error": "tired"},
        {"tool_input": {}, "purpose": "x"},
        3,
    ],
)
def test_an_answer_in_other_words_is_refused(given: Any) -> None:
    with pytest.raises(BadAnswer):
        Script().add([given])


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("error", ModelUnavailable),
        ("status:529", ModelUnavailable),
        ("status:401", ModelRefused),
        ("status:400", ContentRefused),
    ],
)
def test_a_fault_of_the_model(fault: str, expected: type[Exception]) -> None:
    machine = Machine()
    machine.faults.replace([{"target": "llm", "fault": fault, "times": 1, "match": "tea to coffee"}])
    with pytest.raises(expected) as raised:
        machine.observe()
    assert type(raised.value) is expected
    assert machine.observe().model == "extractive"
    assert len(machine.calls.entries("model")) == 2


def test_a_hold_keeps_exactly_one_pass_inside_its_call() -> None:
    machine, results = Machine(), []

    def work() -> None:
        current_function.set("extract")
        results.append(machine.observe().model)

    machine.holds.arm("extract")
    held = threading.Thread(target=work)
    held.start()
    assert machine.holds.wait_inside("extract", 10) == 1
    free = threading.Thread(target=work)
    free.start()
    free.join(10)
    assert results == ["extractive"]
    machine.holds.release("extract")
    held.join(10)
    assert results == ["extractive", "extractive"]
    assert machine.holds.inside("extract") == 0


def test_the_last_write_of_a_function_is_the_one_that_was_chosen(
    table: FaultyTable, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    signals: list[tuple[int, int]] = []
    monkeypatch.setattr("local.controls.last_write.os.kill", lambda pid, number: signals.append((pid, number)))
    monkeypatch.setattr("local.controls.last_write.signal.pause", lambda: None)
    faults.last_write.arm(Moment("jobs", 2))
    for function, name in (("jobs", "1"), ("observe", "2"), ("jobs", "3")):
        running = current_function.set(function)
        with pytest.raises(AssertionError, match="survives") if name == "3" else nullcontext():
            table.write([Put({"pk": "p", "sk": name, "type": "thing"})])
        current_function.reset(running)
    assert signals == [(os.getpid(), signal.SIGKILL)]
    assert faults.last_write.counts() == {"jobs": 2, "observe": 1}
    assert table.get(Key("p", "3")) is not None, "it is written"


def test_the_last_write_leaves_a_job_of_the_kind_unfinished(
    table: FaultyTable, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many there were before: one that ended its job is not the last one."""
    ends: list[int] = []
    monkeypatch.setattr("local.controls.last_write._die", lambda: ends.append(1))
    faults.last_write.arm(Moment(None, 3, "compact"))
    wanted = [
        ("1", "compact", "running"),
        ("1", "compact", "done"),
        ("2", "export", "queued"),
        ("2", "export", "failed"),
        ("3", "compact", "queued"),
    ]
    for name, kind, status in wanted:
        assert ends == [], f"before {name} was {status}"
        table.write([Put({"pk": "p", "sk": name, "type": "job", "kind": kind, "status": status})])
    assert len(ends) == 1


def test_a_writer_that_hears_late_of_its_job_does_not_open_it_again(
    faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others have read the row and ended the job before."""
    ends: list[int] = []
    monkeypatch.setattr("local.controls.last_write._die", lambda: ends.append(1))
    last, job = faults.last_write, {"pk": "p", "sk": "1", "type": "job", "kind": "compact"}
    queued, done = Put(job | {"status": "queued"}, Expect.ABSENT), Put(job | {"status": "done"}, Version(1))
    again = Put(job | {"status": "queued"}, Version(2))
    last.arm(Moment(None, 1, "compact"))
    last.writes([queued])
    last.writes([done])
    last.wrote("compact", [done])
    last.wrote("records", [queued])
    assert ends == []
    last.wrote("records", [again])
    assert ends == [1]
