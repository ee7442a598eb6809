"""Time, ids and tasks of a real process."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from ulid import ULID

from neve.adapters.clock import WORKERS, SystemClock, SystemIds, ThreadTasks
from neve.ports.errors import DeadlineExceeded
from neve.ports.runtime import Clock, Ids, Tasks
from tests.patience import PATIENCE_S

AT = datetime(2026, 3, 10, 9, 30, 0, 123_000, tzinfo=UTC)
caller: ContextVar[str] = ContextVar("caller", default="nobody")


def test_now_is_aware_and_the_monotonic_scale_counts_milliseconds() -> None:
    clock: Clock = SystemClock()
    assert clock.now().tzinfo is UTC
    wall, scale = clock.now(), clock.monotonic_ms()
    threading.Event().wait(0.02)
    assert clock.monotonic_ms() - scale >= 19
    assert clock.now() > wall


def test_ids_of_one_millisecond_sort_in_the_order_of_their_creation() -> None:
    ids: Ids = SystemIds()
    made = [ids.ulid(AT) for _ in range(1000)]
    assert made == sorted(set(made))
    assert {ULID.from_str(made_id).milliseconds for made_id in made} == {1773135000123}


def test_ids_sort_by_their_time_first() -> None:
    ids = SystemIds()
    later, earlier = ids.ulid(AT + timedelta(milliseconds=1)), ids.ulid(AT)
    assert earlier < later
    assert earlier < ids.ulid(AT) < later


def test_ids_of_one_millisecond_stay_in_order_when_others_come_between() -> None:
    ids = SystemIds()
    made = [ids.ulid(AT + timedelta(milliseconds=n % 3)) for n in range(300)]
    assert all(made[n::3] == sorted(made[n::3]) for n in range(3))


def test_ids_made_by_many_threads_differ() -> None:
    ids = SystemIds()
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda n: ids.ulid(AT + timedelta(milliseconds=n % 3)), range(2000)))
    assert len(set(made)) == 2000


def test_two_processes_do_not_make_the_same_ids() -> None:
    assert SystemIds().ulid(AT) != SystemIds().ulid(AT)


def test_a_time_that_no_ulid_holds_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="1969"):
        SystemIds().ulid(datetime(1969, 12, 31, 23, 59, tzinfo=UTC))
    assert len(SystemIds().ulid(datetime.max.replace(tzinfo=UTC))) == 26


def test_a_token_has_128_random_bits() -> None:
    first, second = SystemIds().token(), SystemIds().token()
    assert len(bytes.fromhex(first)) == 16
    assert first != second


def test_work_runs_beside_the_caller_and_sees_its_context() -> None:
    tasks: Tasks = ThreadTasks(SystemClock())
    meeting = threading.Barrier(3, timeout=PATIENCE_S)

    def work() -> tuple[str, str]:
        meeting.wait()
        seen = caller.get()
        caller.set("the task")
        return seen, threading.current_thread().name

    token = caller.set("the request")
    started = [tasks.start(work), tasks.start(work)]
    meeting.wait()
    results = [task.result() for task in started]
    assert [seen for seen, _ in results] == ["the request", "the request"]
    assert threading.current_thread().name not in {name for _, name in results}
    assert caller.get() == "the request"
    caller.reset(token)


@pytest.mark.parametrize("error", [ValueError("own"), TimeoutError("own"), DeadlineExceeded("own")])
def test_the_error_of_the_work_is_raised_to_the_caller(error: Exception) -> None:
    def fail() -> None:
        raise error

    clock = SystemClock()
    task = ThreadTasks(clock).start(fail)
    with pytest.raises(type(error), match="own"):
        task.result(clock.monotonic_ms() + 30_000)


def test_a_deadline_ends_the_waiting_but_not_the_work() -> None:
    clock = SystemClock()
    go_on = threading.Event()
    task = ThreadTasks(clock).start(lambda: go_on.wait(30))
    with pytest.raises(DeadlineExceeded):
        task.result(clock.monotonic_ms() + 5)
    with pytest.raises(DeadlineExceeded):
        task.result(clock.monotonic_ms() - 5)
    go_on.set()
    assert task.result() is True


def test_a_finished_task_answers_also_after_the_deadline() -> None:
    clock = SystemClock()
    task = ThreadTasks(clock).start(lambda: 7)
    assert task.result() == 7
    assert task.result(clock.monotonic_ms() - 1000) == 7


def test_tasks_that_wait_for_tasks_of_their_own_never_run_out_of_threads() -> None:
    clock = SystemClock()
    tasks, all_of_them = ThreadTasks(clock), threading.Barrier(WORKERS, timeout=PATIENCE_S)

    def work(n: int) -> int:
        all_of_them.wait()  # no thread of the pool is left
        return tasks.start(lambda: n).result()

    started = [tasks.start(partial(work, n)) for n in range(WORKERS)]
    deadline_ms = clock.monotonic_ms() + 10_000
    assert [task.result(deadline_ms) for task in started] == list(range(WORKERS))


def test_many_that_wait_for_one_have_its_work_done_once() -> None:
    clock = SystemClock()
    tasks, done = ThreadTasks(clock), threading.Event()
    busy = [tasks.start(lambda: done.wait(30)) for _ in range(WORKERS)]
    ran: list[str] = []

    def work() -> str:
        ran.append(caller.get())
        threading.Event().wait(0.02)
        return "made"

    token = caller.set("the request")
    task = tasks.start(work)
    caller.reset(token)
    with ThreadPoolExecutor(8) as waiting:
        results = [waiting.submit(task.result) for _ in range(8)]
        assert [one.result(10) for one in results] == ["made"] * 8
    assert ran == ["the request"]
    done.set()
    assert all(one.result() for one in busy)


def test_work_that_is_late_before_it_began_is_never_done() -> None:
    clock = SystemClock()
    tasks, done = ThreadTasks(clock), threading.Event()
    busy = [tasks.start(lambda: done.wait(30)) for _ in range(WORKERS)]
    ran: list[bool] = []
    late = tasks.start(lambda: ran.append(True))
    with pytest.raises(DeadlineExceeded):
        late.result(clock.monotonic_ms() + 5)
    done.set()
    assert all(one.result() for one in busy)
    for deadline_ms in (None, clock.monotonic_ms()):
        with pytest.raises(DeadlineExceeded):
            late.result(deadline_ms)
    assert ran == []


def test_elapsed_time_stops_with_the_work() -> None:
    clock = SystemClock()
    task = ThreadTasks(clock).start(lambda: threading.Event().wait(0.02))
    task.result()
    elapsed = task.elapsed_ms
    assert elapsed >= 19
    threading.Event().wait(0.01)
    assert task.elapsed_ms == elapsed
