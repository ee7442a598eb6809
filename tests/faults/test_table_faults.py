"""What a caller sees while DynamoDB refuses, is busy, or loses an answer: the functions on the real adapter, and
DynamoDB Local behind a proxy that answers as a test says."""

from __future__ import annotations

import pytest

from neve.adapters.aws.clients import PATIENCE
from neve.adapters.dynamodb.errors import ATTEMPTS
from tests.faults.calls import TURN, Caller, is_degraded, is_refused_for_now
from tests.unit.dynamodb_proxy import Answer, DynamoDbProxy, LoseAnswer, PassOn, Step, cancellation, refusal

SENT = PATIENCE["dynamodb"].attempts
"""How often the SDK sends one request that keeps failing."""
FOR_GOOD = 200
"""More requests than a call makes."""
REFUSALS: dict[str, Step] = {
    "throttled": refusal("ProvisionedThroughputExceededException"),
    "busy": Answer(503, {}),
    "expired credentials": refusal("ExpiredTokenException"),
    "skewed clock": refusal("InvalidSignatureException"),
}
for_every_refusal = pytest.mark.parametrize("refused", REFUSALS.values(), ids=REFUSALS)


@pytest.fixture(autouse=True)
def _session(dynamodb: DynamoDbProxy, caller: Caller) -> None:
    assert caller.open().status == 200


def for_the_next(dynamodb: DynamoDbProxy, *steps: Step) -> None:
    dynamodb.script.clear()
    dynamodb.script.extend(steps)


# --- refused for good ---------------------------------------------------------------------------


@for_every_refusal
def test_an_append_is_refused_stores_nothing_and_may_be_repeated(
    dynamodb: DynamoDbProxy, caller: Caller, refused: Step
) -> None:
    """The read works and the transaction does not."""
    for_the_next(dynamodb, PassOn(), *[refused] * FOR_GOOD)
    assert is_refused_for_now(caller.append())
    for_the_next(dynamodb)
    assert caller.log() == []
    for _ in range(2):
        reply = caller.append()
        assert (reply.status, reply.json["seqs"]) == (201, [1, 2])
    assert caller.log() == list(TURN)


@for_every_refusal
def test_reads_of_the_chat_path_answer_and_say_what_is_missing(
    dynamodb: DynamoDbProxy, caller: Caller, refused: Step
) -> None:
    whole = caller.pack()
    for_the_next(dynamodb, *[refused] * FOR_GOOD)
    pack = caller.pack()
    assert is_degraded(pack, "pack:unavailable")
    assert (pack.json["state"], "text" in pack.json) == ("unavailable", False)
    assert (pack.headers["Cache-Control"], "ETag" in pack.headers) == ("no-store", False)
    recalled = caller.recall()
    assert is_degraded(recalled, "hydrate:error", "ledger:error")
    assert (recalled.json["result_state"], recalled.json["hits"]) == ("not_searched", [])
    assert is_refused_for_now(caller.open()), "the row of a session must be written"
    for_the_next(dynamodb)
    assert (caller.pack().text, caller.pack().headers["ETag"]) == (whole.text, whole.headers["ETag"])


# --- transactions -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reasons",
    [
        ("TransactionConflict", "None", "None", "None"),
        ("ThrottlingError", "TransactionConflict", "None", "ProvisionedThroughputExceeded"),
        ("ConditionalCheckFailed", "ThrottlingError", "None", "None"),
        ("None", "ConditionalCheckFailed", "None", "TransactionConflict"),
    ],
    ids=" ".join,
)
def test_a_cancelled_append_is_made_again_and_is_there_once(
    dynamodb: DynamoDbProxy, caller: Caller, reasons: tuple[str, ...]
) -> None:
    for_the_next(dynamodb, PassOn(), cancellation(*reasons))
    reply = caller.append(client_ids=False)
    assert (reply.status, reply.json["seqs"]) == (201, [1, 2])
    assert caller.log() == list(TURN)


def test_an_append_that_is_always_cancelled_is_refused_and_stores_nothing(
    dynamodb: DynamoDbProxy, caller: Caller
) -> None:
    mixed = cancellation("ThrottlingError", "None", "TransactionConflict", "None")
    for_the_next(dynamodb, PassOn(), *[mixed] * ATTEMPTS)
    assert is_refused_for_now(caller.append())
    assert not dynamodb.script, "as many attempts as the adapter may make"
    assert caller.log() == []


# --- a lost answer ------------------------------------------------------------------------------


def test_an_append_whose_answer_was_lost_is_acknowledged_and_there_once(
    dynamodb: DynamoDbProxy, caller: Caller
) -> None:
    for_the_next(dynamodb, PassOn(), LoseAnswer())
    reply = caller.append(client_ids=False)
    assert (reply.status, reply.json["seqs"]) == (201, [1, 2])
    assert caller.log() == list(TURN)


def test_an_append_that_never_got_an_answer_is_refused_and_recognised_when_it_is_repeated(
    dynamodb: DynamoDbProxy, caller: Caller
) -> None:
    for_the_next(dynamodb, PassOn(), *[LoseAnswer()] * SENT)
    once = {"Idempotency-Key": "turn-1"}
    assert is_refused_for_now(caller.append(client_ids=False, headers=once))
    reply = caller.append(client_ids=False, headers=once)
    assert (reply.status, reply.json["seqs"]) == (201, [1, 2])
    assert caller.log() == list(TURN)


# --- unprocessed items --------------------------------------------------------------------------


def unprocessed(dynamodb: DynamoDbProxy) -> Step:
    """As an answer that has none of the rows that were asked for, and says so. A pack is read in two calls, of which
    the first is no batch."""
    wanted = next(body for operation, body in reversed(dynamodb.requests) if operation == "BatchGetItem")
    return Answer(200, {"Responses": {}, "UnprocessedKeys": wanted["RequestItems"]})


def test_rows_that_were_not_processed_are_read_again(dynamodb: DynamoDbProxy, caller: Caller) -> None:
    whole = caller.pack()
    caller.pack()
    for_the_next(dynamodb, PassOn(), unprocessed(dynamodb))
    again = caller.pack()
    assert not dynamodb.script
    assert (again.status, again.text) == (200, whole.text)


def test_rows_that_stay_unprocessed_are_not_missing_rows(dynamodb: DynamoDbProxy, caller: Caller) -> None:
    """A session that cannot be read is no unknown session, which would be a 404."""
    caller.pack()
    caller.pack()
    for_the_next(dynamodb, PassOn(), *[unprocessed(dynamodb)] * FOR_GOOD)
    assert is_degraded(caller.pack(), "pack:unavailable")
    assert is_refused_for_now(caller.append())
    for_the_next(dynamodb)
    assert caller.append().status == 201
