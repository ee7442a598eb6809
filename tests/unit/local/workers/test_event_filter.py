"""Filters of an event source mapping, and the stream worker that carries them out."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from local.engine.sqlite_table import Change, SqliteTable
from local.template import read_template
from local.workers.event_filter import attributes_of, check_pattern, lets_through
from local.workers.stream_worker import StreamWorker
from local.workers.worker_events import outline, stream_event
from neve.ports.table import Key, Put

INSERTED = {"eventName": "INSERT", "dynamodb": {"NewImage": {"type": {"S": "event"}, "seq": {"N": "1"}}}}


@pytest.mark.parametrize(
    ("patterns", "passes"),
    [
        ([], True),
        ([{"eventName": ["INSERT"]}], True),
        ([{"eventName": ["MODIFY", "REMOVE"]}], False),
        ([{"dynamodb": {"NewImage": {"type": {"S": ["memory", "event"]}}}}], True),
        ([{"dynamodb": {"OldImage": {"type": {"S": ["event"]}}}}], False),
        ([{"eventName": ["REMOVE"]}, {"dynamodb": {"NewImage": {"type": {"S": ["event"]}}}}], True),
        ([{"eventName": ["REMOVE"], "dynamodb": {"NewImage": {"type": {"S": ["event"]}}}}], False),
        ([{"eventName": {"S": ["INSERT"]}}], False),
        ([{"dynamodb": {"NewImage": {"seq": {"N": [{"exists": True}]}}}}], True),
        ([{"dynamodb": {"NewImage": {"model_calls": {"N": [{"exists": True}]}}}}], False),
    ],
)
def test_a_record_passes_one_pattern_with_all_its_parts(patterns: list[Any], passes: bool) -> None:
    assert lets_through(patterns, INSERTED) is passes


NOT_CARRIED_OUT = [{}, {"a": []}, {"a": [{"exists": False}]}, {"a": "INSERT"}, {"a": [1]}, ["INSERT", 2]]


@pytest.mark.parametrize("pattern", NOT_CARRIED_OUT)
def test_what_is_not_carried_out_as_on_aws_is_refused(pattern: Any) -> None:
    with pytest.raises(ValueError, match="filter"):
        check_pattern(pattern)


def test_a_function_sees_what_its_filter_lets_through_and_the_rest_is_done_with(tmp_path: Path) -> None:
    seen: list[str] = []

    def invoke(_: str, event: dict[str, Any]) -> dict[str, Any]:
        seen.extend(record["dynamodb"]["Keys"]["sk"]["S"] for record in event["Records"])
        return {"batchItemFailures": []}

    def give_up(changes: object, attempts: int) -> None:
        raise AssertionError("nothing failed")

    [source] = read_template().stream_sources
    with closing(SqliteTable(tmp_path / "table.db")) as table:
        for sk, kind in (("1", "job"), ("2", "memory"), ("3", "session"), ("4", "recalled"), ("5", "job")):
            table.write([Put({"pk": "p", "sk": sk, "type": kind})])
        worker = StreamWorker(source, table, invoke, give_up)
        while worker.step(hurry=True):
            pass
        assert seen == ["2", "3"]
        assert worker.settled(0) and worker.backlog() == 0
        table.write([Put({"pk": "p", "sk": "6", "type": "job"})])
        assert worker.step(hurry=True)
        assert worker.settled(0)
    assert seen == ["2", "3"]


ROW = {"pk": "p", "sk": "s", "text": "I like tea.", "model_calls": 2}
CHANGES = [
    Change(1, Key("p", "s"), ROW | {"type": before} if before else None, ROW | {"type": after} if after else None)
    for before in (None, "memory", "tenant", "job", "usage")
    for after in (None, "memory", "tenant", "session", "job", "usage")
]


def test_an_outline_passes_where_the_whole_record_does() -> None:
    [source] = read_template().stream_sources
    looked_at = attributes_of(source.filters)
    whole = [lets_through(source.filters, record) for record in stream_event(CHANGES)["Records"]]
    assert [lets_through(source.filters, outline(change, looked_at)) for change in CHANGES] == whole
    assert set(whole) == {True, False}
    assert "text" not in outline(CHANGES[1], looked_at)["dynamodb"]["NewImage"]
