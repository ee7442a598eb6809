"""Tasks of a process that has its row store in itself."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from pathlib import Path

import pytest

from local.engine.near_tasks import NearTasks, may_take_long
from local.engine.sqlite_table import SqliteTable
from neve.adapters.clock import SystemClock
from neve.ports.errors import DeadlineExceeded
from neve.ports.runtime import Tasks
from neve.ports.table import Item, Key, Put
from tests.patience import PATIENCE_S

caller: ContextVar[str] = ContextVar("caller", default="nobody")
CLOCK = SystemClock()


@pytest.fixture
def tasks() -> Tasks:
    return NearTasks(CLOCK, writer_busy=lambda: False)


def test_a_read_is_done_by_the_caller_before_anybody_waits_for_it(tasks: Tasks) -> None:
    seen: list[tuple[str, str]] = []

    def read() -> int:
        seen.append((threading.current_thread().name, caller.get()))
        caller.set("the read")
        return 7

    token = caller.set("the request")
    task = tasks.start_read(read)
    assert seen == [(threading.current_thread().name, "the request")]
    assert caller.get() == "the request"
    assert task.result() == 7
    assert 0 <= task.elapsed_ms < 10_000
    caller.reset(token)


def test_a_read_is_never_late(tasks: Tasks) -> None:
    assert tasks.start_read(lambda: 7).result(CLOCK.monotonic_ms() - 1_000) == 7


def test_the_error_of_a_read_is_raised_to_who_asks_for_it(tasks: Tasks) -> None:
    def fail() -> None:
        raise ValueError("own")

    task = tasks.start_read(fail)
    for _ in range(2):
        with pytest.raises(ValueError, match="own"):
            task.result(CLOCK.monotonic_ms() + 1_000)


def test_a_write_is_done_by_the_caller_and_beside_it_while_somebody_else_writes(tmp_path: Path) -> None:
    table = SqliteTable(tmp_path / "table.db")
    tasks = NearTasks(CLOCK, lambda: table.has_writer)
    row: Item = {"pk": "p", "sk": "s", "n": 1}
    written = tasks.start_write(lambda: table.write([Put(row)]))
    assert table.get(Key("p", "s")) is not None
    written.result()
    with table._file.writing():
        waiting = tasks.start_write(lambda: table.write([Put(row | {"n": 2})]))
        with pytest.raises(DeadlineExceeded):
            waiting.result(CLOCK.monotonic_ms() + 50)
    table.close()


def test_a_read_that_may_take_long_is_done_beside_the_caller(tasks: Tasks) -> None:
    ran: list[str] = []

    def read() -> int:
        may_take_long()
        ran.append(threading.current_thread().name)
        return 7

    assert tasks.start_read(read).result() == 7
    assert len(ran) == 1 and ran[0] != threading.current_thread().name


def test_a_read_behind_a_task_that_still_runs_is_done_beside_the_caller(tasks: Tasks) -> None:
    over = threading.Event()
    running = tasks.start(lambda: over.wait(30))
    behind = tasks.start_read(running.result)
    with pytest.raises(DeadlineExceeded):
        behind.result(CLOCK.monotonic_ms() + 1)
    over.set()
    assert running.result()
    assert tasks.start_read(running.result).result(CLOCK.monotonic_ms() - 1_000), "it is over: the caller has asked it"


def test_what_is_started_in_a_read_may_take_its_time(tasks: Tasks) -> None:
    assert tasks.start_read(lambda: tasks.start(may_take_long)).result().result() is None


def test_anything_else_runs_beside_the_caller(tasks: Tasks) -> None:
    meeting = threading.Barrier(2, timeout=PATIENCE_S)
    task = tasks.start(meeting.wait)
    meeting.wait()
    task.result()
