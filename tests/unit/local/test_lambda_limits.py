"""What Lambda does beyond calling a function: it ends one that runs too long, stops loops, and counts what fails."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from local.engine.sqlite_queue import QueueDefinition, SqliteQueue
from local.functions import Functions, TimedOut
from local.limits.alarms import Alarm, evaluate
from local.limits.lineage import MAX_INVOCATIONS, RecursionStopped
from local.limits.mortal_ports import MortalPorts
from local.limits.points import LAMBDA, Points, Series
from local.template import Function, QueueSource, QueueSpec, read_template
from local.workers.queue_worker import QueueWorker
from neve import wiring
from neve.ports.queue import Message, QueueName
from neve.store.keys import tenant_row
from neve.store.tenants.tenant_rows import TenantRow, put_tenant
from tests.unit.world import World

CODE = """
from neve import wiring
from neve.ports.queue import Message, QueueName

def handler(event, context):
    said = event.get("said")
    if said == "crash":
        raise RuntimeError("a fault")
    if said == "late":
        return {}
    if said == "write":
        try:
            wiring.ports().clock.sleep(10)
            wiring.ports().table.write([event["row"]])
        finally:
            wiring.ports().table.write([event["row"]])
    if "Records" in event:
        wiring.ports().queue.send(QueueName.EXTRACT, [Message({"n": 1}, "g")])
        return {"batchItemFailures": []}
"""
SPEC = QueueSpec("extract", True, 0, 60, "extract-dlq", 2)
QUEUES = {
    "extract": QueueDefinition(fifo=True, visibility_s=60, max_receives=2, dlq="extract-dlq"),
    "extract-dlq": QueueDefinition(fifo=True, visibility_s=60),
}
START = datetime(2026, 3, 10, 9, 30, tzinfo=UTC)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World.make(tmp_path)
    before = list(wiring._installed)
    wiring.install(MortalPorts(world))
    yield world
    wiring._installed[:] = before
    world.table.close()


@pytest.fixture
def functions(world: World) -> Functions:
    """One that may not call itself, and one that may; the world's clock measures their time."""
    made = []
    for name in ("proper", "recursive"):
        folder = world.folder / name
        folder.mkdir()
        (folder / "app.py").write_text(CODE)
        made.append(Function(name, folder, "app.handler", 10, 128, {}, may_recurse=name == "recursive"))
    return Functions({it.name: it for it in made}, Points(world.clock.now), lambda: world.clock.at.timestamp())


def counted(functions: Functions, metric: str, name: str = "proper") -> float:
    return functions.points.total(Series(LAMBDA, metric, name))


# --- time -----------------------------------------------------------------------------------------


def test_a_worker_past_its_timeout_writes_nothing_not_even_on_its_way_out(world: World, functions: Functions) -> None:
    row = put_tenant(TenantRow("late", "2026-03-10T09:30:00.000Z"))
    with pytest.raises(TimedOut):
        functions.invoke("proper", {"said": "write", "row": row})
    assert world.table.get(tenant_row("late")) is None
    assert counted(functions, "Errors") == 1


def test_an_answer_that_comes_too_late_is_none(world: World, functions: Functions) -> None:
    functions.invoke("proper", {"said": "late"})
    slow = Functions(functions._functions, functions.points, iter([0.0, 10.0, 10.0]).__next__)
    with pytest.raises(TimedOut):
        slow.invoke("proper", {"said": "late"})


# --- loops ----------------------------------------------------------------------------------------


def line(world: World, functions: Functions, name: str) -> tuple[SqliteQueue, QueueWorker]:
    queue = SqliteQueue(world.folder / f"{name}.db", world.clock, QUEUES)
    world.queue = queue  # type: ignore[assignment]
    queue.send(QueueName.EXTRACT, [Message({"n": 0}, "g")])
    source = QueueSource(name, "extract", 1, True)
    return queue, QueueWorker(source, SPEC, queue, world.clock, functions.invoke)


def test_the_seventeenth_run_of_a_chain_does_not_happen(world: World, functions: Functions) -> None:
    queue, worker = line(world, functions, "proper")
    for _ in range(MAX_INVOCATIONS):
        assert worker.step(hurry=False)
        assert queue.counts("extract").visible == 1
    for _ in range(2):
        assert worker.step(hurry=False)
        world.clock.move(seconds=61)
    assert not worker.step(hurry=False)
    assert queue.counts("extract") == (0, 0, 0, 1)
    assert (counted(functions, "RecursiveInvocationsDropped"), counted(functions, "Errors")) == (2, 0)
    queue.close()


def test_a_function_that_may_goes_on(world: World, functions: Functions) -> None:
    queue, worker = line(world, functions, "recursive")
    assert [worker.step(hurry=False) for _ in range(3 * MAX_INVOCATIONS)] == [True] * 3 * MAX_INVOCATIONS
    assert queue.counts("extract") == (1, 0, 0, 0)
    assert counted(functions, "RecursiveInvocationsDropped", "recursive") == 0
    queue.close()


def test_a_chain_ends_where_aws_does_not_follow_it(functions: Functions) -> None:
    record = {"eventSource": "aws:dynamodb", "attributes": {"AWSTraceHeader": f"Lineage=proper:{MAX_INVOCATIONS}"}}
    functions.invoke("proper", {"said": "late", "Records": [record]})
    with pytest.raises(RecursionStopped):
        functions.invoke("proper", {"said": "late", "Records": [{**record, "eventSource": "aws:sqs"}]})


# --- points and alarms ----------------------------------------------------------------------------


def test_what_is_not_caught_is_a_point(functions: Functions) -> None:
    functions.invoke("proper", {})
    assert counted(functions, "Errors") == 0
    with pytest.raises(RuntimeError):
        functions.invoke("proper", {"said": "crash"})
    assert counted(functions, "Errors") == 1


@pytest.mark.parametrize(
    ("minutes", "went_off"),
    [((0, 1, 2), True), ((0, 2, 4), True), ((0, 2, 5), False), ((0, 1, 5, 6), False), ((0, 1, 5, 6, 7), True)],
)
def test_an_alarm_goes_off_after_three_of_five_minutes(minutes: tuple[int, ...], went_off: bool) -> None:
    at = [START]
    points = Points(lambda: at[0])
    series = Series(LAMBDA, "Errors", "pack")
    for minute in minutes:
        at[0] = START + timedelta(minutes=minute)
        points.add(series, 1)
    alarm = Alarm("a", (Series(LAMBDA, "Errors", "recall"), series), "Sum", 0, 3, 5)
    verdict = evaluate(alarm, points)
    assert (verdict.went_off, len(verdict.breached)) == (went_off, len(minutes))


def test_an_average_is_of_all_that_happened_in_the_minute() -> None:
    points = Points(lambda: START)
    series = Series("AWS/ApiGateway", "5XXError")
    alarm = Alarm("a", (series,), "Average", 0.01, 1, 1)
    for failed in [1] + [0] * 99:
        points.add(series, failed)
    assert not evaluate(alarm, points).went_off
    points.add(series, 1)
    assert evaluate(alarm, points).went_off


def test_what_is_broken_on_purpose_does_not_count() -> None:
    counts = [False]
    points = Points(lambda: START, lambda: counts[0])
    points.add(Series(LAMBDA, "Errors", "pack"), 1)
    counts[0] = True
    points.add(Series(LAMBDA, "Errors", "pack"), 1)
    assert points.total(Series(LAMBDA, "Errors", "pack")) == 1


def test_the_alarms_of_a_deployment_are_those_of_the_template() -> None:
    template = read_template()
    alarms = {alarm.name: alarm for alarm in template.alarms}
    assert set(alarms) == {"api-5xx", "api-function-failures", "worker-failures", "deliver-failures"}
    watched = {series.of for name in alarms for series in alarms[name].series if series.namespace == LAMBDA}
    assert watched == set(template.functions) - {"pre_traffic"}
    failures = alarms["api-5xx"]
    assert (failures.statistic, failures.threshold, failures.least) == ("Average", 0.01, 5)
    assert {alarm.threshold for name, alarm in alarms.items() if name != "api-5xx"} == {4}


def test_one_call_that_fails_every_minute_stops_no_deployment() -> None:
    """Whoever repeats it would otherwise take every version back, also the one that mends it."""
    at = [START]
    points = Points(lambda: at[0])
    alarms = {alarm.name: alarm for alarm in read_template().alarms}

    def went_off(failures: int) -> list[str]:
        for _ in range(5):
            at[0] += timedelta(minutes=1)
            for name in ("api-5xx", "api-function-failures"):
                for _ in range(failures):
                    points.add(alarms[name].series[0], 1)
        return [name for name, alarm in alarms.items() if evaluate(alarm, points).went_off]

    assert went_off(1) == []
    assert went_off(5) == ["api-5xx", "api-function-failures"]
