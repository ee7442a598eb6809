"""What the stream's worker does while the stores fail that it tells of its work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from local.engine.sqlite_table import Change, SqliteTable
from local.template import StreamSource, read_template
from local.workers.stream_worker import StreamWorker
from neve.ports.errors import StoreUnavailable
from neve.ports.table import Put

STEPS = 100
Answer = Callable[[list[str], dict[str, Any]], Any]


class FailingOnce(SqliteTable):
    """Its first change can be forgotten at the second time of asking only."""

    failed = False

    def discard_changes(self, through: int) -> None:
        if not self.failed:
            self.failed = True
            raise StoreUnavailable("table", "database or disk is full")
        super().discard_changes(through)


@pytest.fixture
def source() -> StreamSource:
    return replace(read_template().stream_sources[0], filters=(), max_retries=0)


@pytest.fixture
def table(tmp_path: Path) -> Iterator[FailingOnce]:
    with closing(FailingOnce(tmp_path / "table.db")) as made:
        for name in "abcd":
            made.write([Put({"pk": "p", "sk": name, "type": "thing"})])
        yield made


def stepped(source: StreamSource, table: SqliteTable, answer: Answer, give_up: Any = None) -> list[list[str]]:
    """What each delivery held, until nothing is left."""
    delivered: list[list[str]] = []

    def invoke(_: str, event: dict[str, Any]) -> Any:
        names = [record["dynamodb"]["Keys"]["sk"]["S"] for record in event["Records"]]
        delivered.append(names)
        return answer(names, event)

    worker = StreamWorker(source, table, invoke, give_up or (lambda *_: None))
    for _ in range(STEPS):
        with suppress(StoreUnavailable):
            worker.step(hurry=True)
    return delivered


def test_what_cannot_be_given_up_yet_is_not_passed_over(source: StreamSource, table: FailingOnce) -> None:
    """Its dead letter is the only thing that still tells of it."""
    table.failed = True
    told: list[str] = []
    lost = [StoreUnavailable("queue", "database or disk is full")]

    def give_up(changes: Sequence[Change], _: int) -> None:
        if lost:
            raise lost.pop()
        told.extend(change.key.sk for change in changes)

    def answer(names: list[str], _: dict[str, Any]) -> None:
        if "b" in names:
            raise RuntimeError("cannot")

    delivered = stepped(source, table, answer, give_up)
    assert told == ["b"]
    assert delivered[-1] == ["c", "d"] and delivered.count(["c", "d"]) == 1
    assert table.read_changes(0, 10) == []


def test_the_rest_of_a_batch_is_delivered_though_its_beginning_could_not_be_forgotten(
    source: StreamSource, table: FailingOnce
) -> None:
    def answer(names: list[str], event: dict[str, Any]) -> Any:
        if len(names) == 4:
            raise RuntimeError("one of them")
        if names == ["a", "b"]:
            return {"batchItemFailures": [{"itemIdentifier": event["Records"][1]["dynamodb"]["SequenceNumber"]}]}
        return None

    assert stepped(source, table, answer) == [["a", "b", "c", "d"], ["a", "b"], ["b"], ["c", "d"]]
    assert table.read_changes(0, 10) == []


def test_what_could_not_be_forgotten_is_forgotten_by_the_next_step(source: StreamSource, table: FailingOnce) -> None:
    """Or a worker with nothing to do is told again and again, without a pause, that there are changes."""
    assert stepped(source, table, lambda *_: None) == [["a", "b", "c", "d"]]
    assert not table.wait_for_changes(0.0)
