"""What operators see: metric lines, and one id from the HTTP call to the workers."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from local.functions import LambdaContext
from local.template import read_template
from neve import observability
from neve.correlation import FIELD, carried, correlated
from neve.observing import SecondsLeft
from neve.ports.errors import ContentRefused, StoreUnavailable
from neve.ports.queue import QueueName
from neve.ports.table import Item, Put
from neve.scope import SessionScope
from neve.store import rows
from neve.store.keys import UserKeys
from neve.store.stream_records import Change
from neve.usecases.core.jobs.messages.observation import observation_message
from neve.usecases.core.tenants.usage import model_metrics
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.work.background.dispatch_changes import dispatch_changes
from neve.usecases.work.indexing.requeue import backlog_age_s
from neve.usecases.work.observe.extract_session import extract_session
from neve.usecases.work.observe.report import ObservationReport
from neve.worker import process_fifo
from tests.unit.world import World, observed_line

ROOT = Path(__file__).parents[3]
SOURCES = sorted(p for top in ("layers/core/neve", "functions") for p in (ROOT / top).rglob("*.py"))
NAME = re.compile(r"[A-Z][a-z]+(?:[A-Z][a-z]+)*")
PII = ("PiiRedacted<Class>", "PiiBlocked<Class>")
"""Written by ``domain/privacy/screen.py``, one for each class."""


@pytest.fixture
def world(new_world: World) -> World:
    return new_world


def test_a_metric_line_is_embedded_metric_format(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEVE_STAGE", "staging")
    monkeypatch.delenv("POWERTOOLS_METRICS_DISABLED", raising=False)
    observability.emit_metrics("recall", {"Recalls": 1, "EmbeddingBacklogAgeSeconds": 2.5})
    line = json.loads(capsys.readouterr().out)
    [directive] = line["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "Neve"
    assert directive["Dimensions"] == [["Stage", "Function"]]
    assert directive["Metrics"] == [
        {"Name": "Recalls", "Unit": "Count"},
        {"Name": "EmbeddingBacklogAgeSeconds", "Unit": "Seconds"},
    ]
    assert (line["Stage"], line["Function"], line["Recalls"]) == ("staging", "recall", [1.0])


def test_nothing_to_measure_is_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    observability.emit_metrics("outbox", {})
    assert capsys.readouterr().out == ""


def test_model_tokens_are_the_growth_of_the_usage_rows() -> None:
    def usage(**counters: int) -> Item:
        return {"type": "usage", **counters}

    changes = [
        Change("1", usage(model_input_tokens=10, embedded=4), usage(model_input_tokens=25, embedded=9)),
        Change("0", usage(), usage(model_input_tokens=100, model_cache_read_tokens=60, model_cache_write_tokens=40)),
        Change("2", None, usage(model_input_tokens=5, model_output_tokens=2)),
        Change("5", None, usage(model_input_tokens=30, model_batch_input_tokens=30)),
        Change("6", None, usage(model_output_tokens=8, model_batch_output_tokens=8)),
        Change("3", None, {"type": "memory", "model_input_tokens": 99}),
        Change("4", usage(model_input_tokens=50), None),
    ]
    assert model_metrics(changes) == {"ModelInputTokens": 20 + 6 + 50 + 15, "ModelOutputTokens": 2 + 4}


def test_an_id_is_carried_inside_and_nowhere_else() -> None:
    assert carried({"a": 1}) == {"a": 1}
    with correlated({FIELD: "req-1"}):
        assert carried({"a": 1}) == {"a": 1, FIELD: "req-1"}
        with correlated({}):
            assert carried({"a": 1}) == {"a": 1}
    assert carried({"a": 1}) == {"a": 1}


def test_the_id_of_a_call_reaches_the_messages_that_its_rows_cause(world: World) -> None:
    world.open()
    with correlated({FIELD: "req-7"}):
        world.say("I moved to Lisbon.", "Noted.")
    event = world.table.get(world.tenant.keys.of_user("ann").of_session("s1").event(2))
    assert event is not None
    assert event[FIELD] == "req-7"
    changes = [Change(str(seq), None, _row(world, seq)) for seq in (1, 2)]
    dispatch_changes(world, changes)
    carriers = {str(queue): message.body.get(FIELD) for queue, message in world.queue.sent}
    assert carriers == {"index": "req-7", "extract": "req-7"}


def test_the_backlog_is_as_old_as_its_oldest_row(world: World) -> None:
    assert backlog_age_s(world) == 0.0
    now = world.clock.now()
    for user, minutes in (("ann", 20), ("bob", 50)):
        due = rows.due_keys("embed", UserKeys("t", user), "mem_1", now - timedelta(minutes=minutes))
        world.table.write([Put({"pk": user, "sk": "MEM#1", "type": "memory", "id": "mem_1", **due})])
    assert 50 * 60 <= backlog_age_s(world) < 60 * 60


def test_an_event_that_is_not_read_is_one_warning_and_counted(
    capsys: pytest.CaptureFixture[str], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("POWERTOOLS_METRICS_DISABLED", raising=False)
    world.observer.answers = [ContentRefused("status 400"), observed_line("🟡 one", 1, 1), ContentRefused("status 400")]
    world.open()
    world.say("the words of a person", "an answer")
    message = observation_message(world.user().of_session("s1").keys, 1, 2)
    record = {"messageId": "m-1", "body": json.dumps(message.body | {FIELD: "req-3"}), "attributes": {}}
    warned: list[tuple[Any, ...]] = []
    monkeypatch.setattr(observability, "event_unobservable", lambda *reported: warned.append(reported))
    create_tenant(world, "acme")
    context = LambdaContext(read_template().functions["extract"], "r")
    answer = process_fifo(world, {"Records": [record]}, context, QueueName.EXTRACT, extract_session)
    assert answer == {"batchItemFailures": []}
    assert warned == [("extract", "req-3", 2, "status 400")]
    [line] = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "EventsUnobservable" in line]
    assert (line["Function"], line["EventsUnobservable"]) == ("extract", [1.0])


@pytest.mark.parametrize(
    ("left_out", "warning", "metric"),
    [
        ({"facts_not_read": 2}, "malformed_facts_dropped", "FactsMalformed"),
        ({"lines_not_read": 2}, "malformed_lines_dropped", "LinesMalformed"),
        ({"lines_left_out": (1, 1)}, "lines_left_out", "LinesLeftOut"),
    ],
)
def test_what_of_an_answer_is_not_kept_is_one_warning_and_counted(
    capsys: pytest.CaptureFixture[str],
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    left_out: dict[str, Any],
    warning: str,
    metric: str,
) -> None:
    monkeypatch.delenv("POWERTOOLS_METRICS_DISABLED", raising=False)
    world.observer.answers = [observed_line("🟡 one", 1, 2, **left_out)]
    world.open()
    world.say("the words of a person", "an answer")
    message = observation_message(world.user().of_session("s1").keys, 1, 2)
    record = {"messageId": "m-1", "body": json.dumps(message.body | {FIELD: "req-3"}), "attributes": {}}
    warned: list[tuple[Any, ...]] = []
    monkeypatch.setattr(observability, warning, lambda *reported: warned.append(reported))
    create_tenant(world, "acme")
    context = LambdaContext(read_template().functions["extract"], "r")
    process_fifo(world, {"Records": [record]}, context, QueueName.EXTRACT, extract_session)
    assert warned == [("extract", "req-3", 2)]
    [line] = [json.loads(line) for line in capsys.readouterr().out.splitlines() if metric in line]
    assert (line["Function"], line[metric]) == ("extract", [2.0])


def written(code: str) -> Iterator[str]:
    """Keys and values of the dicts in which a source has metrics: those of a call of ``emit_metrics``, of a function
    ``metrics``, and of a name that says so."""
    tree = ast.parse(code)
    if not re.search(r"\bemit_metrics\(|\bdef \w*metrics\b|\bMETRICS\b", code):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            yield from (name for it in (*node.keys, *node.values) for name in names_in(it))
        elif isinstance(node, ast.keyword) and node.arg == "failures":
            yield from names_in(node.value)


def names_in(node: ast.expr | None) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and NAME.fullmatch(node.value):
        yield node.value


def documented() -> list[str]:
    rows = [line.split("|")[1] for line in (ROOT / "docs" / "metrics.md").read_text().splitlines() if "|" in line]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def test_the_table_has_every_metric_once_and_no_other() -> None:
    names = {name for path in SOURCES for name in written(path.read_text())}
    assert {"Recalls", "FilingsFailed", "PassesFailed", "ModelInputTokens"} <= names
    assert sorted(documented()) == sorted(names | set(PII))


def test_alarms_and_dashboard_look_at_metrics_that_exist() -> None:
    text = (ROOT / "infra" / "observability.yaml").read_text()
    watched = set(re.findall(r'\["Neve","(\w+)"', text)) | set(re.findall(r"Namespace: Neve, MetricName: (\w+)", text))
    watched |= set(re.findall(r"Namespace: Neve\n\s+MetricName: (\w+)", text))
    assert "RecallIndexLag" in watched and "NightlyReflectionAgeSeconds" in watched
    assert watched <= set(documented())


def _row(world: World, seq: int) -> Item:
    item: Item | None = world.table.get(world.tenant.keys.of_user("ann").of_session("s1").event(seq))
    assert item is not None
    return item


def test_a_failed_pass_is_counted_and_logged_with_the_id_of_its_call(
    capsys: pytest.CaptureFixture[str], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("POWERTOOLS_METRICS_DISABLED", raising=False)
    record = {
        "messageId": "m-1",
        "body": json.dumps({"tenant": "acme", "user": "ann", "session": "s1", FIELD: "req-9"}),
        "attributes": {},
    }
    logged: list[tuple[str, str]] = []
    monkeypatch.setattr(observability, "failed", lambda where, identifier, *_: logged.append((where, identifier)))

    def breaks(scope: SessionScope, body: dict[str, object], left: SecondsLeft, report: ObservationReport) -> None:
        raise StoreUnavailable("table", "down")

    create_tenant(world, "acme")
    answer = process_fifo(world, {"Records": [record]}, None, QueueName.EXTRACT, breaks)
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m-1"}]}
    assert logged == [("extract", "req-9")]
    line = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (line["Function"], line["PassesFailed"]) == ("extract", [1.0])
