"""The change stream of a table in DynamoDB Local, as the local stream worker reads it: what an event source mapping
does on AWS, with its position kept in a file."""

from __future__ import annotations

import json
import math
import os
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from botocore.exceptions import ClientError

from local.aws.writes import Writes
from local.engine.sqlite_table import Change
from neve.adapters.aws.errors import error_code, translated
from neve.attribute_values import plain_item
from neve.ports.errors import StoreUnavailable
from neve.ports.table import Key

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodbstreams import DynamoDBStreamsClient

LOOK_S = 2.0
"""How often a waiting reader asks for what another process wrote."""
FIRST_LOOK_S, MAX_LOOK_S = 0.04, 0.3
PAGE = 1000
"""The most that one GetRecords gives."""
IDLE_S = 60.0
"""A reader that found nothing for so long looks up its place again."""
MARKS = "STREAM#MARK"
"""Partition of the rows that ``catch_up`` writes."""
CATCH_UP_S, MARK_LOOK_S = 60.0, 0.01
CAUGHT_UP_S = 30.0
"""So long a reader that has caught up with its table asks nothing, unless this process writes."""
LOST_PLACE = frozenset({"ExpiredIteratorException", "TrimmedDataAccessException", "ResourceNotFoundException"})


class ParallelShards(Exception):
    """The stream has several open shards. DynamoDB Local keeps one; between two there is no order to deliver in."""


class _Place(NamedTuple):
    """A record in its shard. ``event_id`` tells it from another with the same number: DynamoDB Local counts from 1
    again once it has forgotten all records, which it does after a day or two."""

    number: str
    event_id: str


class _Read(NamedTuple):
    change: Change
    shard: str
    place: _Place


class DynamoDbStream:
    """The part of ``SqliteTable`` that a stream worker uses. Safe for threads; one reader of a position file at a time.

    A change is delivered at least once: again when the process ended before ``discard_changes`` returned. ``seq`` is
    the stream's own number of it. Shards are read one after another, in the order in which they were opened. All
    methods raise StoreUnavailable."""

    def __init__(
        self,
        streams: DynamoDBStreamsClient,
        dynamodb: DynamoDBClient,
        table_name: str,
        position: Path,
        writes: Writes,
    ) -> None:
        """``position``: the file that remembers what was handled. One of another table, or of an earlier table of this
        name, is not heeded. ``writes``: those after which somebody who waits looks at once; where they are watched,
        nobody else writes to the table. ``dynamodb``: not watched, or every mark would be news."""
        self._streams = streams
        self._writes = writes
        self._dynamodb = dynamodb
        self._table = table_name
        self._marks: set[str] = set()
        with translated("stream"):
            self._arn = dynamodb.describe_table(TableName=table_name)["Table"]["LatestStreamArn"]
        self._position = position
        self._handled: dict[str, _Place] = _read_position(position, self._arn)
        self._read: dict[str, _Place] = dict(self._handled)
        self._finished: set[str] = set()
        self._shard: str | None = None
        self._iterator: str | None = None
        self._found_at = time.monotonic()
        self._asked, self._asked_at = -1, -math.inf
        self._caught_up: int | None = None
        self._caught_up_at = -math.inf
        self._waiting: deque[_Read] = deque()
        self._lock = threading.Lock()
        self._closed = threading.Event()

    def read_changes(self, after: int, limit: int) -> list[Change]:
        """The first ``limit`` changes behind the one numbered ``after``, or behind the last one discarded when there is
        none of that number, in the order in which they were made."""
        with self._lock:
            skipped = next((at + 1 for at, read in enumerate(self._waiting) if read.change.seq == after), 0)
            while len(self._waiting) < skipped + limit and not self._nothing_new() and self._read_page():
                pass
            return [read.change for read in list(self._waiting)[skipped : skipped + limit]]

    def discard_changes(self, through: int) -> None:
        """Forget the changes up to and including ``through``, a number that ``read_changes`` gave: they have been
        handled."""
        with self._lock:
            if not any(read.change.seq == through for read in self._waiting):
                return
            while True:
                read = self._waiting.popleft()
                self._handled[read.shard] = read.place
                if read.change.seq == through:
                    break
            _write_position(self._position, self._arn, self._handled)

    def catch_up(self) -> None:
        """Until every change that was committed before this call can be read: the stream is a moment behind its table.
        A row of our own goes through it, which nobody is told of, unless nothing was written since the last one.
        Raises StoreUnavailable when it does not come out."""
        with self._lock:
            if self._nothing_new():
                return
        mark, ended, unread = uuid4().hex, self._writes.ended, self._writes.unread()
        with translated("stream"):
            self._dynamodb.put_item(TableName=self._table, Item={"pk": {"S": MARKS}, "sk": {"S": mark}})
        end = time.monotonic() + CATCH_UP_S
        while not self._closed.is_set():
            with self._lock:
                self._read_page()
                if mark in self._marks:
                    self._marks.discard(mark)
                    self._writes.forget(unread)
                    self._caught_up, self._caught_up_at = ended, time.monotonic()
                    return
            if time.monotonic() > end:
                raise StoreUnavailable("stream", f"it is more than {CATCH_UP_S:.0f} s behind its table")
            self._closed.wait(MARK_LOOK_S)

    def wait_for_changes(self, timeout_s: float) -> bool:
        """Until there is a change that was not discarded; False when the time is over or the stream was closed."""
        end = time.monotonic() + timeout_s
        writes_seen, look_s = -1, FIRST_LOOK_S
        while not self._closed.is_set():
            if self._writes.count != writes_seen:
                writes_seen, look_s = self._writes.count, FIRST_LOOK_S
            if self._look(writes_seen, look_s):
                return True
            left = end - time.monotonic()
            if left <= 0:
                return False
            self._wait_for_news(writes_seen, min(left, look_s if self._writes.recent else LOOK_S))
            look_s = min(2 * look_s, MAX_LOOK_S)
        return False

    def close(self) -> None:
        """Whoever waits stops waiting."""
        self._closed.set()
        self._notify_waiting()

    def _look(self, writes_seen: int, every_s: float) -> bool:
        """Whether changes wait. Asks the stream, unless somebody did so a moment ago and nothing was written since."""
        with self._lock:
            if self._waiting:
                return True
            if self._asked == writes_seen and time.monotonic() - self._asked_at < every_s:
                return False
            return not self._nothing_new() and self._read_page()

    def _nothing_new(self) -> bool:
        """All that was written has been read."""
        if self._caught_up is None or time.monotonic() - self._caught_up_at > CAUGHT_UP_S:
            return False
        return self._caught_up == self._writes.ended or self._writes.all_read

    def _wait_for_news(self, writes_seen: int, timeout_s: float) -> None:
        """Until something was written, somebody else has read on, or the time is over."""

        def news() -> bool:
            return bool(self._waiting) or self._closed.is_set() or self._writes.count != writes_seen

        with self._writes.moved:
            self._writes.moved.wait_for(news, timeout_s)

    def _notify_waiting(self) -> None:
        with self._writes.moved:
            self._writes.moved.notify_all()

    # --- reading --------------------------------------------------------------------------------

    def _read_page(self) -> bool:
        """Whether new changes wait now. Goes on to the next shard when one has ended."""
        lost = False
        while not self._closed.is_set():
            if self._iterator is None and not self._open_shard():
                return False
            records = self._next_records()
            if records is None:
                if lost:
                    return False
                lost = True
                continue
            self._keep(records)
            if records:
                return True
            if self._iterator is not None:
                self._look_again_when_idle()
                return False
        return False

    def _next_records(self) -> list[Any] | None:
        """None when the place in the shard has to be looked up again."""
        iterator, self._iterator = self._iterator, None
        self._asked, self._asked_at = self._writes.count, time.monotonic()
        with translated("stream"):
            try:
                answer = self._streams.get_records(ShardIterator=str(iterator), Limit=PAGE)
            except ClientError as error:
                if error_code(error) in LOST_PLACE:
                    return None
                raise
        self._iterator = answer.get("NextShardIterator")
        if self._iterator is None and self._shard is not None:
            self._finished.add(self._shard)
        return list(answer["Records"])

    def _keep(self, records: Iterable[Any]) -> None:
        shard = str(self._shard)
        for record in records:
            place, key = _place(record), record["dynamodb"]["Keys"]
            if key["pk"]["S"] == MARKS:
                self._marks.add(key["sk"]["S"])
            else:
                self._waiting.append(_Read(_change(record), shard, place))
                self._writes.read((key["pk"]["S"], key["sk"]["S"]))
            self._read[shard] = place
            self._found_at = time.monotonic()
        if self._waiting:
            self._notify_waiting()

    def _look_again_when_idle(self) -> None:
        if time.monotonic() - self._found_at > IDLE_S:
            self._found_at = time.monotonic()
            self._iterator = None

    # --- shards ---------------------------------------------------------------------------------

    def _open_shard(self) -> bool:
        """Stand behind the last record read of the oldest shard that has not ended; False when there is none."""
        listed = self._shards()
        names = {shard["ShardId"] for shard in listed}
        for known in (self._read, self._handled):
            for gone in known.keys() - names:
                del known[gone]
        for name in _oldest_first(listed):
            if name not in self._finished:
                self._shard, self._iterator = name, self._iterator_after(name, self._read.get(name))
                if self._iterator is not None:
                    return True
                self._finished.add(name)
        return False

    def _iterator_after(self, shard: str, place: _Place | None) -> str | None:
        """None when the shard ends with that record. What follows a record is trusted only while the record is there:
        once it was trimmed, all that is left in the shard is younger."""
        if place is not None:
            with translated("stream"):
                try:
                    at = self._streams.get_shard_iterator(
                        StreamArn=self._arn,
                        ShardId=shard,
                        ShardIteratorType="AT_SEQUENCE_NUMBER",
                        SequenceNumber=place.number,
                    )["ShardIterator"]
                    answer = self._streams.get_records(ShardIterator=at, Limit=1)
                except ClientError as error:
                    if error_code(error) not in LOST_PLACE:
                        raise
                else:
                    if [_place(record) for record in answer["Records"]] == [place]:
                        return answer.get("NextShardIterator")
        with translated("stream"):
            return self._streams.get_shard_iterator(
                StreamArn=self._arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON"
            )["ShardIterator"]

    def _shards(self) -> list[Any]:
        shards: list[Any] = []
        behind: dict[str, Any] = {}
        while True:
            with translated("stream"):
                answer = self._streams.describe_stream(StreamArn=self._arn, **behind)["StreamDescription"]
            shards += answer["Shards"]
            if "LastEvaluatedShardId" not in answer:
                return shards
            behind = {"ExclusiveStartShardId": answer["LastEvaluatedShardId"]}


def _oldest_first(shards: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every shard behind its parent; one whose parent is no longer listed comes first. Raises ParallelShards."""
    parents: dict[str, str] = {shard["ShardId"]: shard.get("ParentShardId", "") for shard in shards}
    open_now = [shard for shard in shards if "EndingSequenceNumber" not in shard["SequenceNumberRange"]]
    if len(open_now) > 1:
        raise ParallelShards(", ".join(shard["ShardId"] for shard in open_now))

    def generation(name: str) -> int:
        parent = parents[name]
        return 1 + generation(parent) if parent in parents else 0

    return sorted(parents, key=lambda name: (generation(name), name))


def _place(record: Mapping[str, Any]) -> _Place:
    return _Place(record["dynamodb"]["SequenceNumber"], record["eventID"])


def _change(record: Mapping[str, Any]) -> Change:
    """The kind of event is in the images: DynamoDB Local gives removals of expired rows a name of its own."""
    changed = record["dynamodb"]
    images = [changed.get(part) for part in ("Keys", "OldImage", "NewImage")]
    keys, old, new = (image and plain_item({name: _typed(value) for name, value in image.items()}) for image in images)
    return Change(int(changed["SequenceNumber"]), Key(**keys), old, new)


def _typed(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """DynamoDB Local's streams leave the type of an empty map out, which DynamoDB does not."""
    if not value or "M" in value:
        return {"M": {name: _typed(part) for name, part in value.get("M", {}).items()}}
    return {"L": [_typed(part) for part in value["L"]]} if "L" in value else value


# --- the position file --------------------------------------------------------------------------


def _read_position(path: Path, arn: str) -> dict[str, _Place]:
    """Nothing handled yet, when the file is not there or of another stream."""
    try:
        stored = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    return {shard: _Place(*place) for shard, place in stored["shards"].items()} if stored["stream"] == arn else {}


def _write_position(path: Path, arn: str, handled: Mapping[str, _Place]) -> None:
    """Whole or not at all."""
    partial = path.with_name(f"{path.name}.partial")
    with partial.open("w", encoding="utf-8") as file:
        json.dump({"stream": arn, "shards": handled}, file)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
