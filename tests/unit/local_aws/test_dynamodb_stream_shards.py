"""What a stream's reader does when shards end, places are lost and iterators expire: a stream in memory stands in, for
DynamoDB Local keeps one shard for hours."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from local.aws import dynamodb_stream
from local.aws.dynamodb_stream import DynamoDbStream, ParallelShards
from neve.ports import StoreUnavailable

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
            told = {"Keys": keys, "NewImage": keys, "SequenceNumber": f"{self._number:021d}"}
            self.shards[shard].records.append({"eventID": name, "eventName": "INSERT", "dynamodb": told})

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
def kept() -> StreamInMemory:
    kept = StreamInMemory()
    kept.shards["shard-1"] = Shard()
    return kept


def reader(kept: StreamInMemory, folder: Path) -> DynamoDbStream:
    return DynamoDbStream(cast("Any", kept), cast("Any", kept), "neve", folder / "position.json")


def names(stream: DynamoDbStream, after: int = 0) -> list[str]:
    return [change.key.sk for change in stream.read_changes(after, 99)]


def handle(stream: DynamoDbStream, count: int) -> None:
    stream.discard_changes(stream.read_changes(0, count)[-1].seq)


def roll_over(kept: StreamInMemory, old: str, new: str) -> None:
    kept.shards[old].ended = True
    kept.shards[new] = Shard(parent=old)


def test_a_new_shard_is_read_behind_its_parent(kept: StreamInMemory, tmp_path: Path) -> None:
    stream = reader(kept, tmp_path)
    kept.add("shard-1", "A", "B")
    assert names(stream) == ["A", "B"]
    roll_over(kept, "shard-1", "shard-2")
    kept.add("shard-2", "C")
    assert names(stream) == ["A", "B", "C"]
    roll_over(kept, "shard-2", "shard-0")  # its name says nothing about its age
    kept.add("shard-0", "D")
    assert names(stream) == ["A", "B", "C", "D"]
    assert names(reader(kept, tmp_path)) == ["A", "B", "C", "D"]


def test_a_shard_may_end_before_its_child_is_there(kept: StreamInMemory, tmp_path: Path) -> None:
    kept.add("shard-1", "A")
    kept.shards["shard-1"].ended = True
    stream = reader(kept, tmp_path)
    assert names(stream) == ["A"]
    assert names(stream) == ["A"]
    kept.shards["shard-2"] = Shard("shard-1")
    kept.add("shard-2", "B")
    assert names(stream) == ["A", "B"]


@pytest.mark.parametrize("handled", range(1, 6))
def test_a_restart_goes_on_in_whichever_shard_it_was(kept: StreamInMemory, tmp_path: Path, handled: int) -> None:
    kept.add("shard-1", "A", "B")
    roll_over(kept, "shard-1", "shard-2")
    roll_over(kept, "shard-2", "shard-3")
    kept.add("shard-3", "C", "D", "E")
    handle(reader(kept, tmp_path), handled)
    assert names(reader(kept, tmp_path)) == ["A", "B", "C", "D", "E"][handled:]


def test_a_shard_that_is_gone_is_forgotten(kept: StreamInMemory, tmp_path: Path) -> None:
    kept.add("shard-1", "A")
    roll_over(kept, "shard-1", "shard-2")
    kept.add("shard-2", "B")
    stream = reader(kept, tmp_path)
    handle(stream, 1)
    del kept.shards["shard-1"]
    restarted = reader(kept, tmp_path)
    assert names(restarted) == ["B"]
    handle(restarted, 1)
    assert "shard-1" not in (tmp_path / "position.json").read_text()


@pytest.mark.parametrize(
    "code", ["ExpiredIteratorException", "TrimmedDataAccessException", "ResourceNotFoundException"]
)
def test_a_lost_place_is_found_again(kept: StreamInMemory, tmp_path: Path, code: str) -> None:
    kept.add("shard-1", "A", "B")
    stream = reader(kept, tmp_path)
    assert names(stream) == ["A", "B"]
    kept.add("shard-1", "C")
    kept.failures.append(failure(code))
    assert names(stream) == ["A", "B", "C"]


def test_a_place_that_was_trimmed_is_the_beginning_of_what_is_left(kept: StreamInMemory, tmp_path: Path) -> None:
    kept.add("shard-1", "A", "B", "C")
    handle(reader(kept, tmp_path), 1)
    kept.failures.append(failure("TrimmedDataAccessException"))
    del kept.shards["shard-1"].records[:2]
    assert names(reader(kept, tmp_path)) == ["C"]


def test_a_place_that_stays_lost_is_no_endless_loop(kept: StreamInMemory, tmp_path: Path) -> None:
    kept.add("shard-1", "A")
    stream = reader(kept, tmp_path)
    kept.failures += [failure("ExpiredIteratorException")] * 2
    assert names(stream) == []
    assert names(stream) == ["A"]


def test_an_idle_reader_looks_up_its_place_again(
    kept: StreamInMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers that begin anew in a shard would otherwise be behind an iterator that is ahead of them."""
    monkeypatch.setattr(dynamodb_stream, "IDLE_S", 0.0)
    kept.add("shard-1", "A", "B")
    stream = reader(kept, tmp_path)
    handle(stream, 2)
    assert names(stream) == []
    kept.shards["shard-1"].records.clear()
    kept._number = 0
    kept.add("shard-1", "C")
    assert names(stream) == ["C"]


def test_open_shards_beside_each_other_are_refused(kept: StreamInMemory, tmp_path: Path) -> None:
    kept.shards["shard-2"] = Shard()
    with pytest.raises(ParallelShards, match="shard-1"):
        names(reader(kept, tmp_path))


@pytest.mark.parametrize(
    "error",
    [failure("InternalServerError"), EndpointConnectionError(endpoint_url="http://127.0.0.1")],
    ids=["500", "down"],
)
def test_a_server_that_fails_is_an_unavailable_store_and_nothing_is_lost(
    kept: StreamInMemory, tmp_path: Path, error: Exception
) -> None:
    kept.add("shard-1", "A")
    stream = reader(kept, tmp_path)
    assert names(stream) == ["A"]
    kept.add("shard-1", "B")
    kept.failures.append(error)
    with pytest.raises(StoreUnavailable, match="stream"):
        names(stream)
    assert names(stream) == ["A", "B"]


def test_an_earlier_table_of_the_same_name_is_another(kept: StreamInMemory, tmp_path: Path) -> None:
    kept.add("shard-1", "A")
    handle(reader(kept, tmp_path), 1)
    kept.arn = f"{ARN}2"
    assert names(reader(kept, tmp_path)) == ["A"]


def test_a_closed_stream_asks_no_more(kept: StreamInMemory, tmp_path: Path) -> None:
    kept.add("shard-1", "A")
    stream = reader(kept, tmp_path)
    stream.close()
    kept.failures.append(AssertionError("asked"))
    assert names(stream) == []
    assert not stream.wait_for_changes(5)
