"""What a caller of the table sees when DynamoDB refuses, is slow, or loses an answer. The client has production's
retries; only their pauses are left out."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from boto3 import Session
from botocore.config import Config
from botocore.exceptions import ConnectionClosedError
from moto import mock_aws

from local.aws.data_definitions import create_table
from local.engine.file_objects import FileObjects
from neve.adapters.aws.clients import PATIENCE, aws_client
from neve.adapters.dynamodb.errors import ATTEMPTS
from neve.adapters.dynamodb.table import DynamoDbTable
from neve.domain.records.sessions import EventType
from neve.ports.errors import Conflict, StoreUnavailable
from neve.ports.table import Check, Delete, Expect, Index, Key, Put, Table, Version, WriteOp
from neve.store import rows
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.ask.sessions.list_events import list_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.observe.lease import take_lease
from tests.contract.engines.dynamodb_engines import anybody, create_local_table, open_local_table
from tests.unit.dynamodb_proxy import (
    Answer,
    DynamoDbProxy,
    LoseAnswer,
    PassOn,
    Step,
    cancellation,
    dynamodb_proxy,
    refusal,
)
from tests.unit.world import HandClock, World

ABSENT = Expect.ABSENT
SENT = PATIENCE["dynamodb"].attempts
"""How often the client sends one request that keeps failing."""
K = Key("P", "A")
ROW = {"pk": "P", "sk": "A", "type": "thing"}
STORED = {"pk": {"S": "P"}, "sk": {"S": "A"}, "type": {"S": "thing"}, "version": {"N": "1"}}
FOUND = {"Item": STORED}
TWO: list[WriteOp] = [Put(ROW, ABSENT), Check(Key("P", "B"), Version(3))]

Call = Callable[[Table], object]
CALLS: dict[str, tuple[Call, dict[str, Any]]] = {
    "get": (lambda table: table.get(K), FOUND),
    "get_many": (lambda table: table.get_many([K]), {"Responses": {"neve": [STORED]}, "UnprocessedKeys": {}}),
    "query": (lambda table: table.query("P", limit=1), {"Items": [STORED], "Count": 1}),
    "index query": (lambda table: table.query("P", index=Index.RANK, limit=1), {"Items": [STORED], "Count": 1}),
    "put": (lambda table: table.write([Put(ROW, ABSENT)]), {}),
    "each put": (lambda table: table.write_each([Put(ROW, ABSENT)]), {}),
    "delete": (lambda table: table.write([Delete(K)]), {}),
    "transaction": (lambda table: table.write(TWO), {}),
}


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was slept, or would have been."""
    slept: list[float] = []
    unhurried = SimpleNamespace(sleep=slept.append)
    monkeypatch.setattr("neve.adapters.dynamodb.errors.time", unhurried)
    monkeypatch.setattr("botocore.endpoint.time", unhurried)
    return slept


@pytest.fixture
def proxy() -> Iterator[DynamoDbProxy]:
    with dynamodb_proxy() as opened:
        yield opened


@pytest.fixture
def table(proxy: DynamoDbProxy) -> DynamoDbTable:
    return DynamoDbTable(aws_client("dynamodb", endpoint_url=proxy.url, session=anybody()), "neve")


# --- refusals -----------------------------------------------------------------------------------

THROTTLED = refusal("ProvisionedThroughputExceededException")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "fault",
    [
        THROTTLED,
        refusal("ThrottlingException"),
        refusal("RequestLimitExceeded"),
        refusal("InternalServerError", 500),
        Answer(503, {}),
    ],
    ids=["provisioned", "throttling", "limit", "500", "503"],
)
def test_a_passing_fault_is_not_seen(
    table: DynamoDbTable, proxy: DynamoDbProxy, pauses: list[float], call: str, fault: Step
) -> None:
    work, answer = CALLS[call]
    proxy.script.append(Answer(200, answer))
    undisturbed = work(table)
    proxy.script.extend([fault, fault, Answer(200, answer)])
    assert work(table) == undisturbed
    assert len(proxy.requests) == 1 + SENT
    assert len(pauses) == 2


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("fault", "reason", "sent"),
    [
        (THROTTLED, "ProvisionedThroughputExceededException (400)", SENT),
        (refusal("InternalServerError", 500), "InternalServerError (500)", SENT),
        (refusal("ExpiredTokenException"), "ExpiredTokenException (400)", 1),
        (refusal("UnrecognizedClientException"), "UnrecognizedClientException (400)", 1),
        (refusal("AccessDeniedException"), "AccessDeniedException (400)", 1),
        (refusal("InvalidSignatureException"), "InvalidSignatureException (400)", 1),
        (refusal("RequestTimeTooSkewed", 403), "RequestTimeTooSkewed (403)", 1),
        (refusal("ResourceNotFoundException"), "ResourceNotFoundException (400)", 1),
    ],
    ids=["throttled", "500", "expired", "unknown client", "denied", "signature expired", "skewed clock", "no table"],
)
def test_a_lasting_fault_is_an_unavailable_store_and_never_an_empty_one(
    table: DynamoDbTable, proxy: DynamoDbProxy, call: str, fault: Step, reason: str, sent: int
) -> None:
    work, _ = CALLS[call]
    proxy.script.extend([fault] * sent)
    with pytest.raises(StoreUnavailable) as unavailable:
        work(table)
    assert unavailable.value.store == "table"
    assert unavailable.value.reason.endswith(f": {reason}")
    assert len(proxy.requests) == sent


@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_the_service_finds_malformed_is_a_value_error(
    table: DynamoDbTable, proxy: DynamoDbProxy, call: str
) -> None:
    proxy.script.append(refusal("ValidationException"))
    with pytest.raises(ValueError, match="as the test says"):
        CALLS[call][0](table)
    assert len(proxy.requests) == 1


@pytest.mark.parametrize("call", CALLS)
def test_nobody_at_the_endpoint_is_an_unavailable_store(call: str) -> None:
    with dynamodb_proxy() as gone:
        pass
    table = DynamoDbTable(aws_client("dynamodb", endpoint_url=gone.url, session=anybody()), "neve")
    with pytest.raises(StoreUnavailable, match="EndpointConnectionError"):
        CALLS[call][0](table)


def test_an_answer_that_does_not_come_in_time_is_an_unavailable_store(proxy: DynamoDbProxy) -> None:
    config = Config(read_timeout=0.05, retries={"total_max_attempts": 1, "mode": "standard"})
    over = threading.Event()
    proxy.script.append(LoseAnswer(lambda: over.wait(20), carried_out=False))
    try:
        with pytest.raises(StoreUnavailable, match="ReadTimeoutError"):
            DynamoDbTable(anybody().client("dynamodb", endpoint_url=proxy.url, config=config), "neve").get(K)
    finally:
        over.set()


def test_without_credentials_the_store_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    table = DynamoDbTable(aws_client("dynamodb", session=Session(region_name="us-east-1")), "neve")
    with pytest.raises(StoreUnavailable, match="NoCredentialsError"):
        table.get(K)


# --- transactions -------------------------------------------------------------------------------


FAILED = "ConditionalCheckFailed"


def test_failed_expectations_are_named_whatever_else_went_wrong(table: DynamoDbTable, proxy: DynamoDbProxy) -> None:
    proxy.script.append(
        cancellation(
            "None", "ConditionalCheckFailed", "TransactionConflict", "ConditionalCheckFailed", "ThrottlingError"
        )
    )
    with pytest.raises(Conflict) as conflict:
        table.write([Put({**ROW, "sk": str(n)}, ABSENT) for n in range(5)])
    assert conflict.value.failed == (1, 3)
    assert len(proxy.requests) == 1


@pytest.mark.parametrize(
    "reasons",
    [
        ("TransactionConflict", "None"),
        ("ThrottlingError", "None"),
        ("None", "ProvisionedThroughputExceeded"),
        ("TransactionConflict", "ThrottlingError"),
    ],
)
def test_a_transaction_cancelled_for_the_moment_is_sent_again_under_its_token(
    table: DynamoDbTable, proxy: DynamoDbProxy, pauses: list[float], reasons: tuple[str, ...]
) -> None:
    proxy.script.extend([cancellation(*reasons)] * (ATTEMPTS - 1) + [Answer(200, {})])
    table.write(TWO)
    assert proxy.operations() == ["TransactWriteItems"] * ATTEMPTS
    assert len({body["ClientRequestToken"] for _, body in proxy.requests}) == 1
    assert len(pauses) == ATTEMPTS - 1


def test_two_writes_have_two_tokens(table: DynamoDbTable, proxy: DynamoDbProxy) -> None:
    proxy.script.extend([Answer(200, {})] * 2)
    table.write(TWO)
    table.write(TWO)
    assert len({body["ClientRequestToken"] for _, body in proxy.requests}) == 2


def test_a_transaction_that_always_meets_another_is_a_conflict(table: DynamoDbTable, proxy: DynamoDbProxy) -> None:
    proxy.script.extend([cancellation("TransactionConflict", "None")] * ATTEMPTS)
    with pytest.raises(Conflict) as conflict:
        table.write(TWO)
    assert conflict.value.failed == ()
    assert len(proxy.requests) == ATTEMPTS


@pytest.mark.parametrize("first", ["ThrottlingError", "ProvisionedThroughputExceeded"])
def test_a_transaction_that_is_always_throttled_is_an_unavailable_store(
    table: DynamoDbTable, proxy: DynamoDbProxy, first: str
) -> None:
    proxy.script.extend([cancellation(first, "TransactionConflict")] * ATTEMPTS)
    with pytest.raises(StoreUnavailable, match=f"{first}, TransactionConflict|TransactionConflict, {first}"):
        table.write(TWO)
    assert len(proxy.requests) == ATTEMPTS


def test_a_transaction_cancelled_for_good_is_not_sent_again(table: DynamoDbTable, proxy: DynamoDbProxy) -> None:
    proxy.script.append(cancellation("AccessDenied", "TransactionConflict"))
    with pytest.raises(StoreUnavailable, match="AccessDenied, TransactionConflict"):
        table.write(TWO)
    proxy.script.append(refusal("TransactionCanceledException"))
    with pytest.raises(StoreUnavailable, match="TransactionCanceledException"):
        table.write(TWO)
    proxy.script.append(cancellation("ValidationError", "None"))
    with pytest.raises(ValueError, match="as the test says"):
        table.write(TWO)
    assert len(proxy.requests) == 3


def test_a_transaction_still_in_progress_is_asked_for_again(table: DynamoDbTable, proxy: DynamoDbProxy) -> None:
    proxy.script.extend([refusal("TransactionInProgressException"), Answer(200, {})])
    table.write(TWO)
    first, second = (body["ClientRequestToken"] for _, body in proxy.requests)
    assert first == second


@pytest.mark.parametrize("call", ["put", "delete"])
def test_a_single_write_waits_for_a_transaction_on_its_row(
    table: DynamoDbTable, proxy: DynamoDbProxy, pauses: list[float], call: str
) -> None:
    busy = refusal("TransactionConflictException")
    proxy.script.extend([busy] * (ATTEMPTS - 1) + [Answer(200, {})])
    CALLS[call][0](table)
    assert len(pauses) == ATTEMPTS - 1
    proxy.script.extend([busy] * ATTEMPTS)
    with pytest.raises(Conflict) as conflict:
        CALLS[call][0](table)
    assert conflict.value.failed == ()


def test_a_row_on_which_a_transaction_stays_is_named_and_the_others_are_written(
    table: DynamoDbTable, proxy: DynamoDbProxy
) -> None:
    busy = refusal("TransactionConflictException")
    proxy.script.extend([busy] * ATTEMPTS)
    assert table.write_each([Put(ROW, ABSENT)]) == [0]
    proxy.script.extend([Answer(200, {})] * 3)
    assert table.write_each([Put({**ROW, "sk": sk}) for sk in "ABC"]) == []


def test_each_row_is_tried_though_the_store_refuses_one(table: DynamoDbTable, proxy: DynamoDbProxy) -> None:
    proxy.script.extend([refusal("AccessDeniedException"), Answer(200, {}), Answer(200, {})])
    with pytest.raises(StoreUnavailable):
        table.write_each([Put({**ROW, "sk": sk}) for sk in "ABC"])
    assert len(proxy.requests) == 3


def test_each_row_is_written_with_what_the_caller_is_known_by(
    table: DynamoDbTable, proxy: DynamoDbProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log line, or a recorder of calls, beside each request."""
    caller: ContextVar[str] = ContextVar("caller", default="nobody")
    seen: list[str] = []
    put = table._put

    def noting(one: Put) -> None:
        seen.append(caller.get())
        put(one)

    monkeypatch.setattr(table, "_put", noting)
    proxy.script.extend([Answer(200, {})] * 2)
    caller.set("the outbox")
    table.write_each([Put({**ROW, "sk": sk}) for sk in "AB"])
    assert seen == ["the outbox"] * 2


# --- unprocessed keys ---------------------------------------------------------------------------


def some_of(*found: str, left: tuple[str, ...] = ()) -> Answer:
    rest = {"neve": {"Keys": [{"pk": {"S": "P"}, "sk": {"S": sk}} for sk in left], "ConsistentRead": True}}
    images = [STORED | {"sk": {"S": sk}} for sk in found]
    return Answer(200, {"Responses": {"neve": images}, "UnprocessedKeys": rest if left else {}})


def test_unprocessed_keys_are_asked_for_again(table: DynamoDbTable, proxy: DynamoDbProxy, pauses: list[float]) -> None:
    proxy.script.extend(
        [some_of("A", left=("B", "C")), some_of(left=("B", "C")), some_of("C", left=("B",)), some_of("B")]
    )
    found = table.get_many([Key("P", sk) for sk in "ABCD"])
    assert {key.sk for key in found} == {"A", "B", "C"}
    asked = [[key["sk"]["S"] for key in body["RequestItems"]["neve"]["Keys"]] for _, body in proxy.requests]
    assert asked == [["A", "B", "C", "D"], ["B", "C"], ["B", "C"], ["B"]]
    assert all(body["RequestItems"]["neve"]["ConsistentRead"] for _, body in proxy.requests)
    assert len(pauses) == 3


def test_only_a_reader_who_says_so_gets_an_older_row(table: DynamoDbTable, proxy: DynamoDbProxy) -> None:
    proxy.script.extend([some_of("A"), some_of("A")])
    for eventual in (False, True):
        table.get_many([Key("P", "A")], eventual=eventual)
    assert [body["RequestItems"]["neve"]["ConsistentRead"] for _, body in proxy.requests] == [True, False]


def test_keys_that_stay_unprocessed_are_an_unavailable_store_not_missing_rows(
    table: DynamoDbTable, proxy: DynamoDbProxy
) -> None:
    proxy.script.extend([some_of("A", left=("B",))] + [some_of(left=("B",))] * (ATTEMPTS - 1))
    with pytest.raises(StoreUnavailable, match="1 keys left unprocessed"):
        table.get_many([K, Key("P", "B")])
    assert len(proxy.requests) == ATTEMPTS


def test_pauses_grow_but_stay_short(
    table: DynamoDbTable, proxy: DynamoDbProxy, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neve.adapters.dynamodb.errors.random", SimpleNamespace(uniform=max))
    proxy.script.extend([cancellation("TransactionConflict", "None")] * ATTEMPTS)
    with pytest.raises(Conflict):
        table.write(TWO)
    assert pauses == sorted(pauses)
    assert len(set(pauses)) == ATTEMPTS - 1
    assert sum(pauses) < 1


# --- a lost answer ------------------------------------------------------------------------------


@pytest.fixture
def location(tmp_path: Path) -> str:
    return create_local_table(tmp_path)


@pytest.fixture
def direct(location: str) -> Iterator[Table]:
    """The same table, past the proxy."""
    with open_local_table(location) as opened:
        yield opened


@pytest.fixture
def real(location: str) -> Iterator[DynamoDbProxy]:
    """A proxy before DynamoDB Local."""
    with dynamodb_proxy(location.split()[0]) as opened:
        yield opened


@pytest.fixture
def proxied(real: DynamoDbProxy, location: str) -> DynamoDbTable:
    return DynamoDbTable(aws_client("dynamodb", endpoint_url=real.url, session=anybody()), location.split()[1])


def world_on(table: Table, folder: Path) -> World:
    clock = HandClock()
    return World(folder, cast("Any", table), FileObjects(folder / "objects", clock, "http://127.0.0.1"), clock)


def texts(world: World) -> list[str]:
    page = list_events(world.user("ann").of_session("s1"), 1, 200)
    assert [event.seq for event in page.events] == list(range(1, len(page.events) + 1))
    return [str(event.content) for event in page.events]


def test_a_single_put_knows_its_own_row(proxied: DynamoDbTable, direct: Table, real: DynamoDbProxy) -> None:
    real.script.append(LoseAnswer())
    proxied.write([Put({**ROW, "n": 1}, ABSENT)])
    real.script.append(LoseAnswer())
    proxied.write([Put({**ROW, "n": 2}, Version(1))])
    assert real.operations() == ["PutItem"] * 4
    assert direct.get(K) == {**ROW, "n": 2, "version": 2}
    with pytest.raises(Conflict) as conflict:
        proxied.write([Put({**ROW, "n": 2}, Version(1))])
    assert conflict.value.failed == (0,)


def test_each_of_several_puts_knows_its_own_row(proxied: DynamoDbTable, direct: Table, real: DynamoDbProxy) -> None:
    direct.write([Put({**ROW, "sk": "C"}, ABSENT)])
    real.script.extend([LoseAnswer(), LoseAnswer()])
    assert proxied.write_each([Put({**ROW, "sk": sk, "n": 1}, ABSENT) for sk in "ABC"]) == [2]
    found = direct.get_many([Key("P", sk) for sk in "ABC"])
    assert {key.sk: item.get("n") for key, item in found.items()} == {"A": 1, "B": 1, "C": None}


def test_a_twin_of_a_put_that_never_arrived_is_a_conflict(
    proxied: DynamoDbTable, direct: Table, real: DynamoDbProxy
) -> None:
    """Another writer put the same content at the same version meanwhile. Only one of the two may think it won."""
    real.script.append(LoseAnswer(lambda: direct.write([Put(ROW, ABSENT)]), carried_out=False))
    with pytest.raises(Conflict):
        proxied.write([Put(ROW, ABSENT)])


def test_a_lost_put_behind_which_another_wrote_is_a_conflict(
    proxied: DynamoDbTable, direct: Table, real: DynamoDbProxy
) -> None:
    real.script.append(LoseAnswer(lambda: direct.write([Put({**ROW, "by": "another"}, Version(1))])))
    with pytest.raises(Conflict) as conflict:
        proxied.write([Put({**ROW, "by": "us"}, ABSENT)])
    assert conflict.value.failed == (0,)
    assert direct.get(K) == {**ROW, "by": "another", "version": 2}


def test_a_single_delete_and_a_check_succeed_once(proxied: DynamoDbTable, direct: Table, real: DynamoDbProxy) -> None:
    direct.write([Put(ROW, ABSENT)])
    real.script.append(LoseAnswer())
    proxied.write([Check(K, Version(1))])
    real.script.append(LoseAnswer())
    proxied.write([Delete(K, Version(1))])
    assert direct.get(K) is None
    with pytest.raises(Conflict):
        proxied.write([Delete(K, Version(1))])


def test_an_unconditional_write_is_repeated(proxied: DynamoDbTable, direct: Table, real: DynamoDbProxy) -> None:
    real.script.append(LoseAnswer())
    proxied.write([Put(ROW)])
    assert direct.get(K) == {**ROW, "version": 0}
    real.script.append(LoseAnswer())
    proxied.write([Delete(K)])
    assert direct.get(K) is None


def test_an_append_whose_answer_was_lost_is_there_once(
    proxied: DynamoDbTable, direct: Table, real: DynamoDbProxy, tmp_path: Path
) -> None:
    world = world_on(proxied, tmp_path)
    world.open()
    real.requests.clear()
    real.script.extend([PassOn(), LoseAnswer()])
    assert world.say("hello", "hi").seqs == [1, 2]
    assert real.operations() == ["BatchGetItem", "TransactWriteItems", "TransactWriteItems"]
    assert world.say("more").seqs == [3]
    assert texts(world) == ["hello", "hi", "more"]


def test_an_append_is_recognised_behind_another_writer(
    proxied: DynamoDbTable, direct: Table, real: DynamoDbProxy, tmp_path: Path
) -> None:
    world, other = world_on(proxied, tmp_path), world_on(direct, tmp_path)
    world.open()
    real.script.extend([PassOn(), LoseAnswer(lambda: other.say("another"))])
    assert world.say("ours").seqs == [1]
    assert texts(world) == ["ours", "another"]


def test_an_append_that_stays_without_an_answer_may_be_repeated(
    proxied: DynamoDbTable, direct: Table, real: DynamoDbProxy, tmp_path: Path
) -> None:
    world = world_on(proxied, tmp_path)
    world.open()
    events = [NewEvent(EventType.USER_MESSAGE, "hello", client_id="c1")]
    real.script.extend([PassOn(), *[LoseAnswer()] * SENT])
    with pytest.raises(StoreUnavailable, match="ConnectionClosedError"):
        append_events(world.user("ann").of_session("s1"), events)
    assert append_events(world.user("ann").of_session("s1"), events).seqs == [1]
    assert texts(world) == ["hello"]


def test_a_lease_whose_answer_was_lost_is_held(
    proxied: DynamoDbTable, direct: Table, real: DynamoDbProxy, tmp_path: Path
) -> None:
    """One write with a condition: a Conflict here would leave the session locked until the lease runs out."""
    world = world_on(proxied, tmp_path)
    world.open()
    real.script.extend([PassOn(), LoseAnswer()])
    leased = take_lease(world.user("ann").of_session("s1"))
    stored = direct.get(world.tenant.keys.of_user("ann").of_session("s1").marker)
    assert stored is not None
    assert rows.read_marker(stored) == leased
    assert leased.lease_token == 1


def test_an_append_is_recognised_where_request_tokens_are_ignored(tmp_path: Path) -> None:
    """moto fails the repeated transaction on its own first time, as the service would after ten minutes."""
    with mock_aws():
        client = aws_client("dynamodb", session=anybody())
        create_table(client, "neve")
        world = world_on(DynamoDbTable(client, "neve"), tmp_path)
        world.open()
        lose: deque[str] = deque(["TransactWriteItems"])

        def lose_answer(**_: Any) -> None:
            if lose:
                raise ConnectionClosedError(endpoint_url=lose.popleft())

        client.meta.events.register_last("before-send.dynamodb.TransactWriteItems", lose_answer)
        assert world.say("hello", "hi").seqs == [1, 2]
        assert not lose
        assert texts(world) == ["hello", "hi"]


# --- on the chat path ---------------------------------------------------------------------------


def test_a_pack_from_an_unavailable_table_is_no_error(
    table: DynamoDbTable, proxy: DynamoDbProxy, tmp_path: Path
) -> None:
    world = world_on(table, tmp_path)
    proxy.script.extend([THROTTLED] * SENT)
    view = read_pack(world.user("ann").of_session("s1"))
    assert (view.state, view.degraded) == ("unavailable", ("pack:unavailable",))
