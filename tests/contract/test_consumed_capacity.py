"""What the calls of the chat path consume of DynamoDB's capacity: as DynamoDB Local reports it, and as the service
charges it.

DynamoDB Local 3.1 reports less than the service charges: it rounds the rows of a transaction up once, all together, and
takes nothing for a row that is not there. So each request is also priced by the published rules, row by row
(https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from types_boto3_dynamodb import DynamoDBClient

from local.engine.file_objects import FileObjects
from neve.adapters.aws.clients import aws_client
from neve.adapters.dynamodb.table import DynamoDbTable
from neve.adapters.table_rules import INDEX_KEYS, item_size
from neve.attribute_values import plain_item
from neve.domain.records import EventType
from neve.ports import Index
from neve.store.idempotency import IdempotencyKey
from neve.usecases.pack.read_pack import read_pack
from neve.usecases.sessions.append_events import NewEvent, append_events
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

    def __str__(self) -> str:
        return f"{self.written:g} write + {self.read:g} read units"


class Meter:
    """Has every answer of a client say what it consumed, and prices every request before it is sent."""

    def __init__(self, client: DynamoDBClient, unmetered: DynamoDBClient, table: str) -> None:
        self.reported, self.charged = Units(), Units()
        self._unmetered = unmetered
        self._table = table
        for call in (*READS, *WRITES):
            client.meta.events.register(f"provide-client-params.dynamodb.{call}", cast("Any", self._ask))
            client.meta.events.register(f"after-call.dynamodb.{call}", self._note)

    def reset(self) -> None:
        self.reported, self.charged = Units(), Units()

    def _ask(self, params: dict[str, Any], model: Any, **_: Any) -> dict[str, Any]:
        if model.name == "BatchGetItem":
            self.charged.read += sum(map(self._price_of_read, params["RequestItems"][self._table]["Keys"]))
        elif model.name == "TransactWriteItems":
            self.charged.written += sum(map(self._price_of_write, params["TransactItems"]))
        else:
            raise AssertionError(f"no price for {model.name}")
        return params | {"ReturnConsumedCapacity": "TOTAL"}

    def _note(self, parsed: dict[str, Any], model: Any, **_: Any) -> None:
        units = sum(one["CapacityUnits"] for one in parsed["ConsumedCapacity"])
        if model.name in READS:
            self.reported.read += units
        else:
            self.reported.written += units

    def _price_of_read(self, key: dict[str, Any]) -> int:
        """Consistent: 1 unit for each 4 KB of the row, and 1 for a row that is not there."""
        return max(1, math.ceil(self._size_of(key) / (4 * KB)))

    def _price_of_write(self, operation: dict[str, Any]) -> int:
        """In a transaction: 2 units for each KB of the larger of the old row and the new one, or of the row checked."""
        [(kind, given)] = operation.items()
        new = given.get("Item", {})
        assert not set(new) & INDEX_ATTRIBUTES, "an index entry has a price that is not counted here"
        key = given["Key"] if kind != "Put" else {"pk": new["pk"], "sk": new["sk"]}
        return 2 * max(1, math.ceil(max(self._size_of(key), item_size(plain_item(new))) / KB))

    def _size_of(self, key: dict[str, Any]) -> int:
        stored = self._unmetered.get_item(TableName=self._table, Key=key, ConsistentRead=True).get("Item", {})
        return item_size(plain_item(stored)) if stored else 0


INDEX_ATTRIBUTES = {name for index, pair in INDEX_KEYS.items() if index is not Index.MAIN for name in pair}


@dataclass
class Metered:
    world: World
    meter: Meter

    def append(self, *events: NewEvent, key: IdempotencyKey | None = None) -> None:
        """Afterwards the meter shows this append alone."""
        self.meter.reset()
        append_events(self.world.user("ann").of_session("s1"), events, key)

    def check(self, call: str, written: int, read: int) -> None:
        """``written`` and ``read``: the most that may be charged, and reported."""
        meter = self.meter
        print(f"{call}: charged {meter.charged}, DynamoDB Local reports {meter.reported}")
        assert (meter.reported.read > 0, meter.reported.written > 0) == (read > 0, written > 0)
        for units in (meter.charged, meter.reported):
            assert units.written <= written
            assert units.read <= read


@pytest.fixture
def metered(tmp_path: Path) -> Metered:
    url, name = create_local_table(tmp_path).split()
    client = aws_client("dynamodb", endpoint_url=url, session=anybody())
    clock = HandClock()
    objects = FileObjects(tmp_path / "objects", clock, "http://127.0.0.1")
    world = World(tmp_path, cast("Any", DynamoDbTable(client, name)), objects, clock)
    world.open(title="Plans for Friday", user_meta={"channel": "app", "locale": "fr"})
    world.say("hello", "hi")
    assert read_pack(world.user("ann").of_session("s1")).state == "ready"
    return Metered(world, Meter(client, local_client(url), name))


@pytest.mark.parametrize("text", ["ok", QUESTION, ANSWER], ids=["short", "question", "answer"])
def test_an_append_of_one_event_costs_6_writes_and_3_reads(metered: Metered, text: str) -> None:
    """The event, the session's head and the check of the user's head; two rows read."""
    metered.append(NewEvent(EventType.USER_MESSAGE, text))
    metered.check("append of one event", 6, 3)


@pytest.mark.parametrize("text", ["ok", QUESTION, ANSWER], ids=["short", "question", "answer"])
def test_a_client_id_costs_2_writes_and_1_read_more(metered: Metered, text: str) -> None:
    metered.append(NewEvent(EventType.USER_MESSAGE, text, client_id="0197f2c4-58f6-7d30-a5a2-6a1c6e0f6f11"))
    metered.check("append of one event with a client id", 8, 4)


def test_an_idempotency_key_costs_as_much_as_a_client_id(metered: Metered) -> None:
    key = IdempotencyKey("POST /v1/users/ann/sessions/s1/events", "0197f2c4-58f6-7d30-a5a2-6a1c6e0f6f11", "a" * 64)
    metered.append(NewEvent(EventType.USER_MESSAGE, QUESTION), key=key)
    metered.check("append of one event with an idempotency key", 8, 3)


def test_a_turn_in_one_call_pays_the_heads_once(metered: Metered) -> None:
    user = NewEvent(EventType.USER_MESSAGE, QUESTION, client_id="c1")
    assistant = NewEvent(EventType.ASSISTANT_RESPONSE, ANSWER, client_id="c2")
    metered.append(user, assistant)
    metered.check("append of two events with client ids", 12, 4)


def test_a_repeated_append_writes_nothing(metered: Metered) -> None:
    event = NewEvent(EventType.USER_MESSAGE, QUESTION, client_id="c1")
    metered.append(event)
    metered.append(event)
    metered.check("append of one event again", 0, 4)


def test_a_pack_that_has_not_changed_costs_2_reads(metered: Metered) -> None:
    world = metered.world
    view = read_pack(world.user("ann").of_session("s1"), holds=lambda _: True)
    assert view.state == "not_modified"
    metered.check("pack, 304", 0, 2)


def test_the_largest_text_that_is_still_a_small_event(metered: Metered) -> None:
    """A row of up to 1 KB is small: this much text fits beside the row's other attributes."""
    text = "x" * 600
    metered.append(NewEvent(EventType.USER_MESSAGE, text, client_id="0197f2c4-58f6-7d30-a5a2-6a1c6e0f6f11"))
    metered.check("append of 600 bytes with a client id", 8, 4)
    metered.append(NewEvent(EventType.USER_MESSAGE, "x" * KB))
    assert metered.meter.charged.written == 8, "a row above 1 KB costs 2 units more"
