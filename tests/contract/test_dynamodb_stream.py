"""The change stream of DynamoDB Local as the local stream worker reads it."""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from local.aws.data_definitions import create_table
from local.aws.dynamodb_stream import DynamoDbStream
from local.aws.writes import Writes
from local.engine.sqlite_table import Change
from local.stack.jars import Server
from local.stack.servers import start_servers
from local.template import StreamSource
from local.workers.stream_worker import StreamWorker
from neve.adapters.aws.clients import aws_client
from neve.ports.table import Delete, Expect, Key, Put, Table, Version
from neve.store.stream_records import read_change
from tests.contract.engines.dynamodb_engines import anybody, create_local_table, local_client, open_local_table
from tests.contract.engines.patience import answers_at_once
from tests.patience import PATIENCE_S
from tests.servers import dynamodb_url

ABSENT = Expect.ABSENT


@pytest.fixture
def location(tmp_path: Path) -> str:
    return create_local_table(tmp_path)


@pytest.fixture
def table(location: str) -> Iterator[Table]:
    with open_local_table(location) as opened:
        yield opened


def open_stream(location: str, folder: Path) -> DynamoDbStream:
    url, name = location.split()
    streams = aws_client("dynamodbstreams", endpoint_url=url, session=anybody())
    return DynamoDbStream(streams, local_client(url), name, folder / "position.json", Writes())


@pytest.fixture
def stream(location: str, tmp_path: Path) -> DynamoDbStream:
    return open_stream(location, tmp_path)


def put(table: Table, *names: str) -> None:
    for name in names:
        table.write([Put({"pk": "P", "sk": name, "type": "thing"})])


def names(changes: list[Change]) -> list[str]:
    return [change.key.sk for change in changes]


# --- what is told -------------------------------------------------------------------------------


def test_changes_are_told_in_order_with_both_images(table: Table, stream: DynamoDbStream) -> None:
    first = {"pk": "P", "sk": "A", "type": "thing", "n": 1, "whole": 2.0, "raw": b"\x00\xff", "deep": [{"x": 0.5}]}
    second = {"pk": "P", "sk": "A", "type": "thing"}
    table.write([Put(first, ABSENT)])
    table.write([Put(second, Version(1)), Put({**second, "sk": "B"}, ABSENT)])
    table.write([Delete(Key("P", "A"))])
    inserted, *together, removed = stream.read_changes(0, 10)
    images = {change.key.sk: (change.old, change.new) for change in together}
    assert (inserted.key, inserted.old, inserted.new) == (Key("P", "A"), None, {**first, "version": 1})
    assert inserted.new is not None
    assert type(inserted.new["whole"]) is float
    assert images == {
        "A": ({**first, "version": 1}, {**second, "version": 2}),
        "B": (None, {**second, "sk": "B", "version": 1}),
    }
    assert (removed.key, removed.old, removed.new) == (Key("P", "A"), {**second, "version": 2}, None)


def test_a_write_that_changes_nothing_is_not_told(table: Table, stream: DynamoDbStream) -> None:
    put(table, "A", "A", "B")
    table.write([Delete(Key("P", "none"))])
    assert names(stream.read_changes(0, 10)) == ["A", "B"]


def test_pages_go_on_where_the_last_one_ended(table: Table, stream: DynamoDbStream) -> None:
    put(table, *"ABCDE")
    first = stream.read_changes(0, 2)
    second = stream.read_changes(first[-1].seq, 2)
    put(table, "F")
    third = stream.read_changes(second[-1].seq, 9)
    assert [names(page) for page in (first, second, third)] == [["A", "B"], ["C", "D"], ["E", "F"]]
    assert stream.read_changes(third[-1].seq, 9) == []
    assert names(stream.read_changes(0, 9)) == list("ABCDEF")


# --- what was handled ---------------------------------------------------------------------------


def test_what_was_discarded_does_not_come_back(table: Table, location: str, tmp_path: Path) -> None:
    put(table, *"ABC")
    stream = open_stream(location, tmp_path)
    _, second, _ = stream.read_changes(0, 9)
    stream.discard_changes(second.seq)
    assert names(stream.read_changes(second.seq, 9)) == ["C"]
    assert names(stream.read_changes(0, 9)) == ["C"]
    put(table, "D")
    assert names(open_stream(location, tmp_path).read_changes(0, 9)) == ["C", "D"]


def test_discarding_what_is_gone_changes_nothing(table: Table, location: str, tmp_path: Path) -> None:
    put(table, *"AB")
    stream = open_stream(location, tmp_path)
    first, _ = stream.read_changes(0, 9)
    stream.discard_changes(first.seq)
    stream.discard_changes(first.seq)
    stream.discard_changes(0)
    assert names(open_stream(location, tmp_path).read_changes(0, 9)) == ["B"]


def test_without_a_discard_everything_comes_again(table: Table, location: str, tmp_path: Path) -> None:
    put(table, *"AB")
    assert names(open_stream(location, tmp_path).read_changes(0, 9)) == ["A", "B"]
    assert names(open_stream(location, tmp_path).read_changes(0, 9)) == ["A", "B"]


def test_the_position_of_another_table_is_not_heeded(table: Table, location: str, tmp_path: Path) -> None:
    put(table, "A")
    stream = open_stream(location, tmp_path)
    stream.discard_changes(stream.read_changes(0, 9)[-1].seq)
    other = create_local_table(tmp_path)
    with open_local_table(other) as opened:
        put(opened, "B")
    assert names(open_stream(other, tmp_path).read_changes(0, 9)) == ["B"]


@pytest.mark.parametrize("seed", range(3))
def test_every_change_is_handled_through_restarts_beside_writers(
    table: Table, location: str, tmp_path: Path, seed: int
) -> None:
    """What is handled twice was not discarded before the restart."""
    chance = random.Random(seed)
    written = [[f"{writer}-{n:03d}" for n in range(60)] for writer in range(3)]
    writers = [threading.Thread(target=put, args=(table, *mine)) for mine in written]
    for writer in writers:
        writer.start()
    handled: list[str] = []
    discarded = 0
    while discarded < 180:
        stream = open_stream(location, tmp_path)
        after = 0
        del handled[discarded:]
        for _ in range(chance.randint(1, 6)):
            assert stream.wait_for_changes(30)
            changes = stream.read_changes(after, chance.randint(1, 9))
            handled += names(changes)
            if changes and chance.random() < 0.8:
                after = changes[-1].seq
                stream.discard_changes(after)
                discarded = len(handled)
            if discarded == 180:
                break
            if changes and after != changes[-1].seq:
                break  # the process ends here, its last batch handled but not discarded
    for writer in writers:
        writer.join()
    assert [[name for name in handled if name.startswith(f"{n}-")] for n in range(3)] == written
    assert len(handled) == 180
    assert open_stream(location, tmp_path).read_changes(0, 9) == []


# --- waiting ------------------------------------------------------------------------------------


def test_waiting_ends_with_a_change_with_the_time_or_with_the_stream(table: Table, stream: DynamoDbStream) -> None:
    assert not stream.wait_for_changes(0)
    writer = threading.Timer(0.05, put, (table, "A"))
    writer.start()
    assert answers_at_once(lambda: stream.wait_for_changes(threading.TIMEOUT_MAX))
    writer.join()
    assert stream.wait_for_changes(0)
    stream.discard_changes(stream.read_changes(0, 9)[-1].seq)
    assert not stream.wait_for_changes(0.01)
    closer = threading.Timer(0.05, stream.close)
    closer.start()
    assert not answers_at_once(lambda: stream.wait_for_changes(threading.TIMEOUT_MAX))
    closer.join()


def test_a_write_of_this_process_wakes_whoever_waits(location: str, tmp_path: Path) -> None:
    url, name = location.split()
    session, writes = anybody(), Writes()
    writes.watch(session)
    ours = aws_client("dynamodb", endpoint_url=url, session=session)
    assert not writes.recent
    ours.get_item(TableName=name, Key={"pk": {"S": "P"}, "sk": {"S": "A"}})
    assert (writes.recent, writes.count) == (False, 0)
    ours.put_item(TableName=name, Item={"pk": {"S": "P"}, "sk": {"S": "A"}})
    assert (writes.recent, writes.count) == (True, 1)


# --- feeding a function -------------------------------------------------------------------------


def test_a_stream_worker_delivers_it(table: Table, location: str, tmp_path: Path) -> None:
    source = StreamSource("outbox", 2, True, True, 1, None, ())
    rows: list[Any] = []
    poisoned: list[str] = []

    def outbox(_: str, event: dict[str, Any]) -> Any:
        for record in event["Records"]:
            change = read_change(record)
            if change.item["sk"] == "poison":
                return {"batchItemFailures": [{"itemIdentifier": change.sequence_number}]}
            rows.append(change.new)
        return {"batchItemFailures": []}

    def give_up(changes: Any, _: int) -> None:
        poisoned.extend(change.key.sk for change in changes)

    table.write([Put({"pk": "P", "sk": "A", "type": "thing", "f": 2.0, "b": b"\x00"}, ABSENT)])
    put(table, "poison", "C")
    worker = StreamWorker(source, open_stream(location, tmp_path), outbox, give_up)
    while not worker.settled(0):
        worker.step(hurry=True)
    assert poisoned == ["poison"]
    assert rows == [
        {"pk": "P", "sk": "A", "type": "thing", "f": 2.0, "b": b"\x00", "version": 1},
        {"pk": "P", "sk": "C", "type": "thing", "version": 0},
    ]
    assert worker.backlog() == 0
    assert open_stream(location, tmp_path).read_changes(0, 9) == []


# --- two days later --------------------------------------------------------------------------------


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """A server of the test's own: ``<url> neve``."""
    with start_servers([Server.DYNAMODB], folder) as running:
        url = running.urls[Server.DYNAMODB]
        create_table(aws_client("dynamodb", endpoint_url=url, session=anybody()), "neve")
        yield f"{url} neve"


def let_two_days_pass(folder: Path) -> None:
    """What DynamoDB Local finds in its file two days later."""
    [database] = folder.rglob("*.db")
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE us SET CreationDateTime = CreationDateTime - 2 * 86400000")
        connection.commit()


def wait_until_forgotten(location: str, folder: Path) -> None:
    """The server looks for old records soon after its start."""
    end = time.monotonic() + PATIENCE_S
    while open_stream(location, folder).read_changes(0, 1):
        assert time.monotonic() < end, "the server keeps old records"
        time.sleep(0.05)


def test_numbers_that_start_over_after_two_days_lose_nothing(tmp_path: Path) -> None:
    """DynamoDB Local forgets records after 24 hours, and counts from 1 once it has forgotten them all."""
    dynamodb_url()  # skips the test where no server can run
    folder = tmp_path / "servers"
    with server(folder) as location, open_local_table(location) as table:
        put(table, *"ABC")
        stream = open_stream(location, tmp_path)
        last = stream.read_changes(0, 9)[-1]
        stream.discard_changes(last.seq)
    let_two_days_pass(folder)
    with server(folder) as location, open_local_table(location) as table:
        wait_until_forgotten(location, tmp_path / "unused")
        put(table, *"DEFG")
        stream = open_stream(location, tmp_path)
        changes = stream.read_changes(0, 9)
        assert names(changes) == ["D", "E", "F", "G"]
        assert changes[0].seq <= last.seq
        stream.discard_changes(changes[1].seq)
        assert names(open_stream(location, tmp_path).read_changes(0, 9)) == ["F", "G"]


def test_after_catching_up_every_committed_change_can_be_read(table: Table, stream: DynamoDbStream) -> None:
    for n in range(20):
        put(table, f"{n:02}")
        stream.catch_up()
        read = names(stream.read_changes(0, 100))
        assert read == [f"{n:02}"], "and the row that went through the stream is not told"
        stream.discard_changes(stream.read_changes(0, 100)[-1].seq)


def test_an_empty_map_comes_through_as_it_was_written(table: Table, stream: DynamoDbStream) -> None:
    row = {"pk": "P", "sk": "A", "type": "thing", "empty": {}, "inner": {"empty": {}, "list": [{}, []]}}
    table.write([Put(row, Expect.ABSENT)])
    stream.catch_up()
    [change] = stream.read_changes(0, 10)
    assert change.new == {**row, "version": 1}
