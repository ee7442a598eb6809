"""What the calls of the chat path consume of DynamoDB's capacity: as DynamoDB Local reports it, and as the service
charges it.

DynamoDB Local 3.1 reports less than the service charges: it rounds the rows of a transaction up once, all together, and
takes nothing for a row that is not there. So each request is also priced by the published rules, row by row
(https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from threading import Lock
from typing import Any, cast

import pytest
from types_boto3_dynamodb import DynamoDBClient

from local.engine.file_objects import FileObjects
from neve.adapters.aws.clients import aws_client
from neve.adapters.dynamodb.table import DynamoDbTable
from neve.adapters.table_rules import INDEX_KEYS, item_size
from neve.attribute_values import plain_item
from neve.domain.records.markers import LiveRow
from neve.domain.records.memories import Kind
from neve.domain.records.sessions import EventType
from neve.ports.table import INDEX_PROJECTION, Index
from neve.store import rows
from neve.store.idempotency import IdempotencyKey
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.core.lag.indexed_row import IndexedRow
from neve.usecases.tell.requests.end_session import end_session
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.tell.sessions.open_session import OpenSession, open_session
from neve.usecases.tell.tenants.report_usage import NewReport, report_usage
from neve.usecases.work.observe.lease import take_lease
from tests.contract.capacity_table import Consumed, committed, every_request, table
from tests.contract.engines.dynamodb_engines import anybody, create_local_table, local_client
from tests.unit.world import HandClock, World

READS = ("GetItem", "BatchGetItem", "Query")
WRITES = ("PutItem", "DeleteItem", "TransactWriteItems")
QUESTION = "Which of the two trains on Friday gets me to Lyon before the museum closes, and do I have to book a seat?"
ANSWER = f"The 9:04 does. {QUESTION} You need no seat reservation on it, and the museum closes at 18:00. " * 2
KB = 1024


@dataclass
class Units:
    written: float = 0.0
    read: float = 0.0


class Meter:
    """Has every answer of a client say what it consumed, and prices every request before it is sent. Safe for threads:
    a request may read beside itself."""

    def __init__(self, client: DynamoDBClient, unmetered: DynamoDBClient, table: str) -> None:
        self.reported, self.charged = Units(), Units()
        self.unmetered = unmetered
        self.table = table
        self._adding = Lock()
        for call in (*READS, *WRITES):
            client.meta.events.register(f"provide-client-params.dynamodb.{call}", cast("Any", self._ask))
            client.meta.events.register(f"after-call.dynamodb.{call}", self._note)

    def reset(self) -> None:
        self.reported, self.charged = Units(), Units()

    def _ask(self, params: dict[str, Any], model: Any, **_: Any) -> dict[str, Any]:
        self._add(self.charged, model.name, self._price_of(model.name, params))
        return params | {"ReturnConsumedCapacity": "TOTAL"}

    def _price_of(self, name: str, params: dict[str, Any]) -> float:
        if name == "BatchGetItem":
            return sum(map(self._price_of_read, params["RequestItems"][self.table]["Keys"]))
        if name == "GetItem":
            return self._price_of_read(params["Key"])
        if name == "Query":
            return self._price_of_query(params)
        if name == "TransactWriteItems":
            return sum(map(self._price_of_write, params["TransactItems"]))
        if name == "PutItem":
            return self._price_of_rows(params, params["Item"], each_kb=1)
        raise AssertionError(f"no price for {name}")

    def _note(self, parsed: dict[str, Any], model: Any, **_: Any) -> None:
        capacity = parsed["ConsumedCapacity"]
        units = sum(one["CapacityUnits"] for one in (capacity if isinstance(capacity, list) else [capacity]))
        self._add(self.reported, model.name, units)

    def _add(self, units: Units, name: str, more: float) -> None:
        with self._adding:
            if name in READS:
                units.read += more
            else:
                units.written += more

    def _price_of_read(self, key: dict[str, Any]) -> int:
        """Consistent: 1 unit for each 4 KB of the row, and 1 for a row that is not there."""
        return max(1, math.ceil(self._size_of(key) / (4 * KB)))

    def _price_of_query(self, params: dict[str, Any]) -> float:
        """1 unit for each 4 KB of all that is found, together; half of that where it may be a moment behind, as in an
        index."""
        found = self.unmetered.query(**params)["Items"]
        units = max(1, math.ceil(sum(item_size(plain_item(item)) for item in found) / (4 * KB)))
        return units if params.get("ConsistentRead") else units / 2

    def _price_of_write(self, operation: dict[str, Any]) -> int:
        """In a transaction: 2 units for each KB of the larger of the old row and the new one, or of the row checked;
        and what the indexes are charged."""
        [(kind, given)] = operation.items()
        if kind == "ConditionCheck":
            return 2 * max(1, math.ceil(self._size_of(given["Key"]) / KB))
        return self._price_of_rows(given, given.get("Item", {}), each_kb=2)

    def _price_of_rows(self, given: dict[str, Any], new: dict[str, Any], *, each_kb: int) -> int:
        key = given["Key"] if "Key" in given else {"pk": new["pk"], "sk": new["sk"]}
        old = self._stored(key)
        units = each_kb * max(1, math.ceil(max(_size(old), _size(new)) / KB))
        return units + sum(_price_of_entries(index, old, new) for index in INDEX_KEYS if index is not Index.MAIN)

    def _size_of(self, key: dict[str, Any]) -> int:
        return _size(self._stored(key))

    def _stored(self, key: dict[str, Any]) -> dict[str, Any]:
        return self.unmetered.get_item(TableName=self.table, Key=key, ConsistentRead=True).get("Item", {})


def _size(row: dict[str, Any]) -> int:
    return item_size(plain_item(row)) if row else 0


def _price_of_entries(index: Index, old: dict[str, Any], new: dict[str, Any]) -> int:
    """1 unit for each KB of what enters, leaves or is changed in an index; another key is leaving and entering. RECENT
    holds the whole row, the others what they project."""

    def entry(row: dict[str, Any]) -> dict[str, Any]:
        keys = set(INDEX_KEYS[index])
        held = keys | {"pk", "sk"} | INDEX_PROJECTION.get(index, frozenset(row))
        return {name: row[name] for name in held if name in row} if keys <= set(row) else {}

    before, after = entry(old), entry(new)
    if before == after:
        return 0
    units = [math.ceil(_size(one) / KB) for one in (before, after) if one]
    moved = bool(before and after) and any(before[name] != after[name] for name in INDEX_KEYS[index])
    return sum(units) if moved else max(units)


@dataclass
class Metered:
    world: World
    meter: Meter

    def append(self, *events: NewEvent, key: IdempotencyKey | None = None) -> None:
        """Afterwards the meter shows this append alone."""
        self.meter.reset()
        append_events(self.world.user("ann").of_session("s1"), events, key)

    def append_to_one_that_was_up_to_date(self, text: str) -> None:
        keys = self.world.user("ann").of_session("s1").keys
        table = DynamoDbTable(self.meter.unmetered, self.meter.table)
        item = table.get(keys.session_head)
        assert item is not None
        table.write([rows.put_session(keys, replace(rows.read_session(item), behind=()))])
        self.append(user_message(text))

    def end(self) -> None:
        self.meter.reset()
        end_session(self.world.user("ann").of_session("s1"))

    def read_pack(self) -> None:
        """Of a caller who has it already."""
        self.meter.reset()
        view = read_pack(self.world.user("ann").of_session("s1"), holds=lambda _: True)
        assert view.state == "not_modified" and view.lag is not None and not view.lag.none

    def read_pack_up_to_date(self) -> None:
        """Of a session whose words and vectors are all there."""
        keys = self.world.user("ann").of_session("s1").keys
        table = DynamoDbTable(self.meter.unmetered, self.meter.table)
        indexed, marker = IndexedRow("s1", 2, embedded=((1, 2),)), table.get(keys.marker)
        assert marker is not None
        observed = replace(rows.read_marker(marker), observed_seq=2)
        table.write([indexed.put(keys, self.world.clock.now()), rows.put_marker(keys, observed)])
        self.meter.reset()
        view = read_pack(self.world.user("ann").of_session("s1"), holds=lambda _: True)
        assert view.state == "not_modified" and view.lag is not None and view.lag.none

    def with_live_rows(self, count: int) -> Metered:
        """A session whose passes have kept so many memories, an hour apart."""
        keys, now = self.world.user("ann").of_session("s1").keys, self.world.clock.now()
        table = DynamoDbTable(self.meter.unmetered, self.meter.table)
        marker = table.get(keys.marker)
        assert marker is not None
        ids = [f"mem_{self.world.ids.ulid(now + timedelta(hours=n))}" for n in range(count)]
        live = tuple(LiveRow(i, (Kind.FACT, Kind.OBSERVATION)[n % 2], 20 + n % 60) for n, i in enumerate(ids))
        table.write([rows.put_marker(keys, replace(rows.read_marker(marker), live=live))])
        return self

    def take_lease(self) -> None:
        self.meter.reset()
        take_lease(self.world.user("ann").of_session("s1"))

    def open_again(self) -> None:
        """A session that is there, with its pack."""
        self.meter.reset()
        assert not open_session(self.world.user("ann"), OpenSession("s1")).created

    def report_usage(self, times: int) -> None:
        """Afterwards the meter shows the last one."""
        for number in range(times):
            self.meter.reset()
            key = IdempotencyKey("POST /v1/users/ann/usage", f"answer-{number}", "a" * 64)
            report_usage(self.world.user("ann").of_session("s1"), USED, key)

    def consumed(self) -> Consumed:
        """By the last call."""
        charged, reported = self.meter.charged, self.meter.reported
        return Consumed((charged.written, charged.read), (reported.written, reported.read))


def metered_world(tmp_path: Path) -> Metered:
    url, name = create_local_table(tmp_path).split()
    client = aws_client("dynamodb", endpoint_url=url, session=anybody())
    clock = HandClock()
    objects = FileObjects(tmp_path / "objects", clock, "http://127.0.0.1")
    world = World(tmp_path, cast("Any", DynamoDbTable(client, name)), objects, clock)
    world.open(title="Plans for Friday", user_meta={"channel": "app", "locale": "fr"})
    world.say("hello", "hi")
    assert read_pack(world.user("ann").of_session("s1")).state == "ready"
    return Metered(world, Meter(client, local_client(url), name))


# --- the requests of docs/access-patterns.md ----------------------------------------------------

CLIENT_ID = "0197f2c4-58f6-7d30-a5a2-6a1c6e0f6f11"
USED = NewReport("claude-opus-5-5", 1, input=412, cache_read=18_034, cache_write=655, output=311)
KEY = IdempotencyKey("POST /v1/users/ann/sessions/s1/events", CLIENT_ID, "a" * 64)


@dataclass(frozen=True)
class Request:
    """``do`` makes it, with a text. ``rows``: which rows it pays for."""

    name: str
    rows: str
    do: Callable[[Metered, str], object]
    texts: tuple[str, ...] = ("ok", QUESTION, ANSWER)
    """It costs the same with each of them."""


def user_message(text: str, client_id: str | None = None) -> NewEvent:
    return NewEvent(EventType.USER_MESSAGE, text, client_id=client_id)


def append_turn(metered: Metered, text: str) -> None:
    metered.append(user_message(text, "c1"), NewEvent(EventType.ASSISTANT_RESPONSE, ANSWER, client_id="c2"))


def append_again(metered: Metered, text: str) -> None:
    for _ in range(2):
        metered.append(user_message(text, CLIENT_ID))


REQUESTS = (
    Request(
        "append of one event",
        "event, session head, check of the user head; both heads and the epoch read",
        lambda metered, text: metered.append(user_message(text)),
    ),
    Request(
        "… with a client id",
        "one row more, looked up first",
        lambda metered, text: metered.append(user_message(text, CLIENT_ID)),
        ("ok", QUESTION, ANSWER, "x" * 600),
    ),
    Request(
        "… with an idempotency key",
        "one row more, looked up first",
        lambda metered, text: metered.append(user_message(text), key=KEY),
    ),
    Request(
        "… of more than 1 KB",
        "2 write units more for each KB of the event's row",
        lambda metered, text: metered.append(user_message(text)),
        ("x" * KB,),
    ),
    Request("append of two events with client ids, in one call", "the heads are paid once", append_turn),
    Request("append of an event that is there already (client id)", "", append_again),
    Request(
        "… to a session whose memory was up to date",
        "it enters the index of sessions that may be behind",
        lambda metered, text: metered.append_to_one_that_was_up_to_date(text),
        ("x" * 20,),
    ),
    Request(
        "… that asks for a compaction",
        "its job's row",
        lambda metered, text: metered.append(NewEvent(EventType.TASK_BOUNDARY, text)),
    ),
    Request(
        "end of a session",
        "session head, job, check of the user head; both heads and the job read",
        lambda metered, _: metered.end(),
        ("",),
    ),
    Request(
        "pack, 304",
        "user head and session head; in one query epoch, marker, and how far the session is indexed",
        lambda metered, _: metered.read_pack(),
        ("",),
    ),
    Request(
        "… of a session whose memory is up to date",
        "the same",
        lambda metered, _: metered.read_pack_up_to_date(),
        ("",),
    ),
    Request(
        "… of a session with 100 live rows",
        "the same",
        lambda metered, _: metered.with_live_rows(100).read_pack(),
        ("",),
    ),
    Request(
        "lease of a pass",
        "the marker, with the list of live rows",
        lambda metered, _: metered.take_lease(),
        ("",),
    ),
    Request(
        "… where the session has 500 live rows",
        "a marker of 10 KB",
        lambda metered, _: metered.with_live_rows(500).take_lease(),
        ("",),
    ),
    Request(
        "session, opened again",
        "both heads, which session is newest; its state in one query. The pack is the one that its epoch names;"
        " for the user's lag sessions behind, three rows of each, and what the search index lacks",
        lambda metered, _: metered.open_again(),
        ("",),
    ),
    Request(
        "usage of a prompt, with an idempotency key",
        "its session, user and day, the record, check of the user head; besides them session head and epoch read",
        lambda metered, _: metered.report_usage(2),
        ("",),
    ),
    Request(
        "… the first one of a user's day",
        "user and day enter the index of those that have any",
        lambda metered, _: metered.report_usage(1),
        ("",),
    ),
)


def measure(request: Request, folder: Path) -> Consumed:
    """On a new table, and a log that has two events. The same for every text of the request."""
    found = set()
    for number, text in enumerate(request.texts):
        (folder / str(number)).mkdir(parents=True)
        metered = metered_world(folder / str(number))
        request.do(metered, text)
        found.add(metered.consumed())
    [consumed] = found
    return consumed


@pytest.mark.parametrize("request_", REQUESTS, ids=[request.name for request in REQUESTS])
def test_a_request_consumes_what_the_document_says(request_: Request, tmp_path: Path) -> None:
    measured = {request_.name: measure(request_, tmp_path)}
    [*_, line] = table(measured, {request_.name: request_.rows}).splitlines()
    assert line in committed().splitlines(), f"{line}: write the table with python -m tests.contract.capacity_table"


def test_the_document_has_these_requests_and_no_others() -> None:
    named = [line.split(" | ")[0].removeprefix("| ") for line in committed().splitlines()[2:]]
    assert named == [request.name for request in every_request()]
