"""What a stream's reader does when shards end, places are lost and iterators expire: a stream in memory stands in, for
DynamoDB Local keeps one shard for hours."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from botocore.hooks import HierarchicalEmitter

from local.aws import dynamodb_stream
from local.aws.dynamodb_stream import DynamoDbStream, ParallelShards
from local.aws.writes import Writes
from neve.ports.errors import StoreUnavailable

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/neve/stream/1"


def failure(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "as the test says"}}, "GetRecords")


class Shard:
    def __init__(self, parent: str | None = None) -> None:
        self.parent = parent
        self.records: list[dict[str, Any]] = []
        self.ended = False


class StreamInMemory:
    """The calls of both clients that the reader makes. Iterators are ``<shard>|<index>``; ``failures`` come first."""

    def __init__(self) -> None:
        self.arn = ARN
        self.shards: dict[str, Shard] = {}
        self.failures: list[Exception] = []
        self.opened: list[str] = []
        self._number = 0

    def add(self, shard: str, *names: str) -> None:
        for name in names:
            self._number += 1
            keys = {"pk": {"S": "P"}, "sk": {"S": name}}
            record = {"Keys": keys, "NewImage": keys, "SequenceNumber": f"{self._number:021d}"}
            self.shards[shard].records.append({"eventID": name, "eventName": "INSERT", "dynamodb": record})

    def describe_table(self, TableName: str) -> Any:  # noqa: N803
        return {"Table": {"LatestStreamArn": self.arn}}

    def describe_stream(self, StreamArn: str, ExclusiveStartShardId: str = "") -> Any:  # noqa: N803
        """One shard a page, newest first."""
        names = sorted(self.shards, reverse=True)
        name, *rest = names[names.index(ExclusiveStartShardId) + 1 if ExclusiveStartShardId else 0 :]
        shard = self.shards[name]
        ends = {"EndingSequenceNumber": "9"} if shard.ended else {}
        listed = {"ShardId": name, "SequenceNumberRange": {"StartingSequenceNumber": "1", **ends}}
        listed |= {"ParentShardId": shard.parent} if shard.parent else {}
        return {"StreamDescription": {"Shards": [listed], **({"LastEvaluatedShardId": name} if rest else {})}}

    def get_shard_iterator(
        self,
        StreamArn: str,  # noqa: N803
        ShardId: str,  # noqa: N803
        ShardIteratorType: str,  # noqa: N803
        SequenceNumber: str = "",  # noqa: N803
    ) -> Any:
        self.opened.append(f"{ShardId} {ShardIteratorType}")
        numbers = [record["dynamodb"]["SequenceNumber"] for record in self.shards[ShardId].records]
        at = sum(number < SequenceNumber for number in numbers) if ShardIteratorType == "AT_SEQUENCE_NUMBER" else 0
        return {"ShardIterator": f"{ShardId}|{at}"}

    def get_records(self, ShardIterator: str, Limit: int) -> Any:  # noqa: N803
        if self.failures:
            raise self.failures.pop(0)
        name, _, at = ShardIterator.partition("|")
        shard, start = self.shards[name], int(at)
        found = shard.records[start : start + Limit]
        following = start + len(found)
        ended = shard.ended and following == len(shard.records)
        return {"Records": found} | ({} if ended else {"NextShardIterator": f"{name}|{following}"})


@pytest.fixture
def server() -> StreamInMemory:
    server = StreamInMemory()
    server.shards["shard-1"] = Shard()
    return server


def reader(server: StreamInMemory, folder: Path) -> DynamoDbStream:
    return DynamoDbStream(cast("Any", server), cast("Any", server), "neve", folder / "position.json", Writes())


def names(stream: DynamoDbStream, after: int = 0) -> list[str]:
    return [change.key.sk for change in stream.read_changes(after, 99)]


def handle(stream: DynamoDbStream, count: int) -> None:
    stream.discard_changes(stream.read_changes(0, count)[-1].seq)


def roll_over(server: StreamInMemory, old: str, new: str) -> None:
    server.shards[old].ended = True
    server.shards[new] = Shard(parent=old)


def test_a_new_shard_is_read_behind_its_parent(server: StreamInMemory, tmp_path: Path) -> None:
    stream = reader(server, tmp_path)
    server.add("shard-1", "A", "B")
    assert names(stream) == ["A", "B"]
    roll_over(server, "shard-1", "shard-2")
    server.add("shard-2", "C")
    assert names(stream) == ["A", "B", "C"]
    roll_over(server, "shard-2", "shard-0")  # its name says nothing about its age
    server.add("shard-0", "D")
    assert names(stream) == ["A", "B", "C", "D"]
    assert names(reader(server, tmp_path)) == ["A", "B", "C", "D"]


def test_a_shard_may_end_before_its_child_is_there(server: StreamInMemory, tmp_path: Path) -> None:
    server.add("shard-1", "A")
    server.shards["shard-1"].ended = True
    stream = reader(server, tmp_path)
    assert names(stream) == ["A"]
    assert names(stream) == ["A"]
    server.shards["shard-2"] = Shard("shard-1")
    server.add("shard-2", "B")
    assert names(stream) == ["A", "B"]


@pytest.mark.parametrize("handled", range(1, 6))
def test_a_restart_goes_on_in_whichever_shard_it_was(server: StreamInMemory, tmp_path: Path, handled: int) -> None:
    server.add("shard-1", "A", "B")
    roll_over(server, "shard-1", "shard-2")
    roll_over(server, "shard-2", "shard-3")
    server.add("shard-3", "C", "D", "E")
    handle(reader(server, tmp_path), handled)
    assert names(reader(server, tmp_path)) == ["A", "B", "C", "D", "E"][handled:]


def test_a_shard_that_is_gone_is_forgotten(server: StreamInMemory, tmp_path: Path) -> None:
    server.add("shard-1", "A")
    roll_over(server, "shard-1", "shard-2")
    server.add("shard-2", "B")
    stream = reader(server, tmp_path)
    handle(stream, 1)
    del server.shards["shard-1"]
    restarted = reader(server, tmp_path)
    assert names(restarted) == ["B"]
    handle(restarted, 1)
    assert "shard-1" not in (tmp_path / "position.json").read_text()


@pytest.mark.parametrize(
    "code", ["ExpiredIteratorException", "TrimmedDataAccessException", "ResourceNotFoundException"]
)
def test_a_lost_place_is_found_again(server: StreamInMemory, tmp_path: Path, code: str) -> None:
    server.add("shard-1", "A", "B")
    stream = reader(server, tmp_path)
    assert names(stream) == ["A", "B"]
    server.add("shard-1", "C")
    server.failures.append(failure(code))
    assert names(stream) == ["A", "B", "C"]


def test_a_place_that_was_trimmed_is_the_beginning_of_what_is_left(server: StreamInMemory, tmp_path: Path) -> None:
    server.add("shard-1", "A", "B", "C")
    handle(reader(server, tmp_path), 1)
    server.failures.append(failure("TrimmedDataAccessException"))
    del server.shards["shard-1"].records[:2]
    assert names(reader(server, tmp_path)) == ["C"]


def test_a_place_that_stays_lost_is_no_endless_loop(server: StreamInMemory, tmp_path: Path) -> None:
    server.add("shard-1", "A")
    stream = reader(server, tmp_path)
    server.failures += [failure("ExpiredIteratorException")] * 2
    assert names(stream) == []
    assert names(stream) == ["A"]


def test_an_idle_reader_looks_up_its_place_again(
    server: StreamInMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers that start over in a shard would otherwise be behind an iterator that is ahead of them."""
    monkeypatch.setattr(dynamodb_stream, "IDLE_S", 0.0)
    server.add("shard-1", "A", "B")
    stream = reader(server, tmp_path)
    handle(stream, 2)
    assert names(stream) == []
    server.shards["shard-1"].records.clear()
    server._number = 0
    server.add("shard-1", "C")
    assert names(stream) == ["C"]


def test_open_shards_beside_each_other_are_refused(server: StreamInMemory, tmp_path: Path) -> None:
    server.shards["shard-2"] = Shard()
    with pytest.raises(ParallelShards, match="shard-1"):
        names(reader(server, tmp_path))


@pytest.mark.parametrize(
    "error",
    [failure("InternalServerError"), EndpointConnectionError(endpoint_url="http://127.0.0.1")],
    ids=["500", "down"],
)
def test_a_server_that_fails_is_an_unavailable_store_and_nothing_is_lost(
    server: StreamInMemory, tmp_path: Path, error: Exception
) -> None:
    server.add("shard-1", "A")
    stream = reader(server, tmp_path)
    assert names(stream) == ["A"]
    server.add("shard-1", "B")
    server.failures.append(error)
    with pytest.raises(StoreUnavailable, match="stream"):
        names(stream)
    assert names(stream) == ["A", "B"]


def test_an_earlier_table_of_the_same_name_is_another(server: StreamInMemory, tmp_path: Path) -> None:
    server.add("shard-1", "A")
    handle(reader(server, tmp_path), 1)
    server.arn = f"{ARN}2"
    assert names(reader(server, tmp_path)) == ["A"]


def test_a_closed_stream_asks_no_more(server: StreamInMemory, tmp_path: Path) -> None:
    server.add("shard-1", "A")
    stream = reader(server, tmp_path)
    stream.close()
    server.failures.append(AssertionError("asked"))
    assert names(stream) == []
    assert not stream.wait_for_changes(5)


# --- asking less ------------------------------------------------------------------------------------


class WatchedTable(StreamInMemory):
    """Its writes are of this process: each is a moment on its way, and then in the stream."""

    def __init__(self) -> None:
        super().__init__()
        self.shards["shard-1"] = Shard()
        self.asked = 0
        self.writes = Writes()
        self.events = HierarchicalEmitter()
        self.writes.watch(cast("Any", self))

    def put_item(self, TableName: str, Item: Any) -> None:  # noqa: N803
        """A mark."""
        keys = {name: Item[name] for name in ("pk", "sk")}
        self.add("shard-1", Item["sk"]["S"])
        self.shards["shard-1"].records[-1]["dynamodb"]["Keys"] = keys

    def get_records(self, ShardIterator: str, Limit: int) -> Any:  # noqa: N803
        self.asked += 1
        return super().get_records(ShardIterator, Limit)

    def begin(self, *rows: str) -> dict[str, Any]:
        """botocore's context of the call."""
        context: dict[str, Any] = {}
        puts = [{"Put": {"Item": {"pk": {"S": "P"}, "sk": {"S": row}}}} for row in rows]
        params = {"TransactItems": [*puts, {"ConditionCheck": {"Key": {"pk": {"S": "P"}, "sk": {"S": "C"}}}}]}
        self.events.emit("provide-client-params.dynamodb.TransactWriteItems", params=params, context=context)
        self.events.emit("before-call.dynamodb.TransactWriteItems", params={}, context=context)
        return context

    def end(self, context: dict[str, Any], *rows: str, status: int = 200, attempts: int = 1) -> None:
        """``status`` 0: no answer came."""
        self.add("shard-1", *rows)
        parsed = {"ResponseMetadata": {"HTTPStatusCode": status, "RetryAttempts": attempts - 1}}
        event = f"after-call{'' if status else '-error'}.dynamodb.TransactWriteItems"
        self.events.emit(event, parsed=parsed, context=context)

    def reader(self, folder: Path) -> DynamoDbStream:
        made = cast("Any", self)
        return DynamoDbStream(made, made, "neve", folder / "position.json", self.writes)


def test_a_reader_that_has_caught_up_asks_nothing_until_something_is_written(tmp_path: Path) -> None:
    table = WatchedTable()
    stream = table.reader(tmp_path)
    table.end(table.begin("A"), "A")
    stream.catch_up()
    assert names(stream) == ["A"]
    handle(stream, 1)
    before = table.asked
    stream.catch_up()
    assert names(stream) == []
    assert not stream.wait_for_changes(0)
    assert table.asked == before
    table.end(table.begin("B"), "B")
    assert stream.wait_for_changes(0)
    assert names(stream) == ["B"]


@pytest.fixture
def caught_up(tmp_path: Path) -> tuple[WatchedTable, DynamoDbStream]:
    table = WatchedTable()
    stream = table.reader(tmp_path)
    stream.catch_up()
    table.asked = 0
    return table, stream


def test_a_write_is_looked_for_until_it_was_read(caught_up: tuple[WatchedTable, DynamoDbStream]) -> None:
    table, stream = caught_up
    table.end(table.begin("A", "B"), "A")
    assert names(stream) == ["A"]
    assert names(stream) == ["A"]
    table.add("shard-1", "B")
    assert names(stream) == ["A", "B"]
    asked = table.asked
    stream.catch_up()
    assert names(stream) == ["A", "B"]
    assert table.asked == asked


def test_each_change_of_a_row_is_looked_for(caught_up: tuple[WatchedTable, DynamoDbStream]) -> None:
    table, stream = caught_up
    for context in [table.begin("A"), table.begin("A")]:
        table.end(context)
    table.add("shard-1", "A")
    assert names(stream) == ["A"]
    table.add("shard-1", "A")
    assert names(stream) == ["A", "A"]


@pytest.mark.parametrize(("status", "attempts", "looked_for"), [(400, 1, False), (400, 2, True), (500, 1, True)])
def test_a_refused_write_is_not_looked_for(
    caught_up: tuple[WatchedTable, DynamoDbStream], status: int, attempts: int, looked_for: bool
) -> None:
    """Unless an earlier attempt may have been carried out."""
    table, stream = caught_up
    table.end(table.begin("A"), status=status, attempts=attempts)
    assert names(stream) == []
    assert bool(table.asked) == looked_for


def test_a_write_that_changed_nothing_is_looked_for_until_the_stream_is_caught_up_with(
    caught_up: tuple[WatchedTable, DynamoDbStream],
) -> None:
    table, stream = caught_up
    table.end(table.begin("A"))
    assert names(stream) == []
    assert table.asked == 1
    stream.catch_up()
    asked = table.asked
    table.end(table.begin("B"), "B")
    assert names(stream) == ["B"]
    assert names(stream) == ["B"]
    assert table.asked == asked + 1


@pytest.mark.parametrize("status", [200, 0])
def test_a_write_that_goes_on_meanwhile_is_not_missed(tmp_path: Path, status: int) -> None:
    """Of one that failed nobody knows whether it was carried out."""
    table = WatchedTable()
    stream = table.reader(tmp_path)
    going_on = table.begin("A")
    stream.catch_up()
    table.end(going_on, "A", status=status)
    assert names(stream) == ["A"]
    handle(stream, 1)
    stream.catch_up()
    table.begin("B")
    table.add("shard-1", "B")  # it is there, its answer is not
    assert names(stream) == ["B"]
