"""What a caller sees while OpenSearch fails: recall and the embed worker on the real adapter, over loopback HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing

import pytest
from pytest import MonkeyPatch

from neve.adapters.opensearch import bulk_writes
from neve.adapters.opensearch.client import open_search_client
from neve.adapters.opensearch.index import OpenSearchIndex
from neve.adapters.opensearch.mapping import MAPPING_VERSION
from neve.ports.queue import QueueName
from neve.ports.search import Owner
from tests.faults.calls import Caller, is_degraded
from tests.faults.deliveries import deliver, deliver_all
from tests.unit.recall_world import RecallWorld
from tests.unit.search_stub import (
    DONE,
    INDEX,
    SHARDS,
    Behaviour,
    HangUp,
    Reply,
    SearchStub,
    found,
    hit,
    item_error,
    refusal,
    search_stub,
    written,
)

FAILURES: dict[str, Behaviour] = {
    "429": refusal(429, "es_rejected_execution_exception"),
    "503": refusal(503, "cluster_block_exception"),
    "a shard failed": found(_shards=SHARDS | {"failed": 1, "successful": 0}),
    "timed out": found(timed_out=True),
    "expired credentials": refusal(403, "security_exception"),
    "skewed clock": Reply({"message": "Signature expired: it is now another time"}, 403),
}
for_every_failure = pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)


def mapping(world: RecallWorld, version: int = MAPPING_VERSION) -> Reply:
    model = world.embedder.model
    about = {"model": model.tag, "dimensions": model.dimensions, "mapping": version}
    return Reply({INDEX: {"mappings": {"_meta": about}}})


@pytest.fixture
def stub(world: RecallWorld) -> Iterator[SearchStub]:
    """The world's index is this server behind the adapter."""
    with search_stub() as running, closing(open_search_client(running.url)) as client:
        world.search = OpenSearchIndex(client, "passages", world.embedder.model)
        running.next["_mapping"] = [mapping(world)]
        yield running


@pytest.fixture
def kayak(world: RecallWorld) -> str:
    """A memory that only the index finds."""
    identifier = world.remember("a kayak trip on the river")
    world.change(identifier, rev_at=None)
    return identifier


def its_hit(world: RecallWorld, identifier: str) -> Behaviour:
    return found(hit(Owner(world.tenant.id, "ann"), identifier, 0.95))


# --- recall -------------------------------------------------------------------------------------


@for_every_failure
def test_a_failed_keyword_leg_is_named_and_the_vector_leg_answers(
    world: RecallWorld, caller: Caller, stub: SearchStub, kayak: str, failure: Behaviour
) -> None:
    stub.next["_search"] = [its_hit(world, kayak), failure]
    reply = caller.recall()
    assert is_degraded(reply, "lexical:error")
    assert (reply.json["result_state"], [one["id"] for one in reply.json["hits"]]) == ("found", [kayak])
    assert {leg: report["status"] for leg, report in reply.json["legs"].items()} == {
        "lexical": "error",
        "vector": "complete",
    }


@for_every_failure
def test_a_failed_vector_leg_is_named_and_the_keyword_leg_answers(
    world: RecallWorld, caller: Caller, stub: SearchStub, kayak: str, failure: Behaviour
) -> None:
    """The keyword leg asks twice: how often the words occur, then who holds them."""
    stub.next["_search"] = [failure, found(), its_hit(world, kayak)]
    reply = caller.recall()
    assert is_degraded(reply, "vector:error")
    assert (reply.json["result_state"], [one["id"] for one in reply.json["hits"]]) == ("found", [kayak])


@for_every_failure
def test_without_both_legs_nothing_is_known_of_what_is_there(
    world: RecallWorld, caller: Caller, stub: SearchStub, kayak: str, failure: Behaviour
) -> None:
    stub.next["_search"] = [failure, failure]
    reply = caller.recall()
    assert is_degraded(reply, "lexical:error", "vector:error")
    assert (reply.json["result_state"], reply.json["hits"]) == ("not_searched", [])
    assert "recall_id" in reply.json, "it is in the ledger as it went"


def test_a_leg_whose_connection_is_lost_once_is_asked_again(
    world: RecallWorld, caller: Caller, stub: SearchStub, kayak: str
) -> None:
    stub.next["_search"] = [HangUp(), found(), its_hit(world, kayak), its_hit(world, kayak)]
    reply = caller.recall()
    assert (reply.json["degraded"], [one["id"] for one in reply.json["hits"]]) == ([], [kayak])


def test_an_index_of_an_older_mapping_is_not_searched(
    world: RecallWorld, caller: Caller, stub: SearchStub, kayak: str
) -> None:
    stub.next["_mapping"] = [mapping(world, MAPPING_VERSION - 1)] * 10
    reply = caller.recall()
    assert is_degraded(reply, "lexical:error", "vector:error")
    assert reply.json["result_state"] == "not_searched"
    assert stub.asked["_search"] == []


# --- writing to the index -----------------------------------------------------------------------


ATTEMPTS = len(bulk_writes.MAX_PAUSE_S) + 1

not_taken = pytest.mark.parametrize(
    "failures",
    [
        [refusal(429, "es_rejected_execution_exception")] * ATTEMPTS,
        [refusal(503, "cluster_block_exception")],
        [refusal(403, "security_exception")],
        [written(item_error(429, "es_rejected_execution_exception"))] * ATTEMPTS,
        [written(item_error(400, "strict_dynamic_mapping_exception"))],
    ],
    ids=["429", "503", "expired credentials", "429 of a line", "mapping conflict"],
)


@pytest.fixture
def hurried(monkeypatch: MonkeyPatch) -> None:
    """An index without room is asked again at once."""
    monkeypatch.setattr(bulk_writes, "MAX_PAUSE_S", [0.001] * (ATTEMPTS - 1))


def test_what_the_index_has_no_room_for_at_first_is_not_hidden_for_minutes(
    world: RecallWorld, caller: Caller, stub: SearchStub, hurried: None
) -> None:
    identifier = world.remember("a kayak trip on the river")
    stub.next["_bulk"] = [refusal(429, "es_rejected_execution_exception")]
    assert deliver_all(world, world.dispatch()) == []
    assert world.memory(identifier).rev_at is None


@not_taken
def test_a_memory_whose_words_the_index_did_not_take_stays_due_and_can_be_recalled(
    world: RecallWorld, caller: Caller, stub: SearchStub, failures: list[Behaviour], hurried: None
) -> None:
    identifier = world.remember("a kayak trip on the river")
    messages = world.dispatch()
    stub.next["_bulk"] = list(failures)
    assert deliver_all(world, messages) == messages
    assert world.memory(identifier).rev_at is not None
    found_meanwhile = caller.recall().json
    assert [one["id"] for one in found_meanwhile["hits"]] == [identifier], "new rows are read from the table"
    assert deliver_all(world, messages) == []
    assert world.memory(identifier).rev_at is None
    assert json.loads(stub.asked["_bulk"][-1].splitlines()[1])["item_id"] == identifier


@not_taken
def test_a_memory_whose_vector_the_index_did_not_take_stays_due_and_can_be_recalled(
    world: RecallWorld, caller: Caller, stub: SearchStub, failures: list[Behaviour], hurried: None
) -> None:
    identifier = world.remember("a kayak trip on the river")
    assert deliver(QueueName.INDEX, world.dispatch()) == []
    messages = world.taken(QueueName.EMBED)
    stub.next["_bulk"] = list(failures)
    assert deliver(QueueName.EMBED, messages) == messages
    assert world.memory(identifier).rev_at is not None
    stub.next["_search"] = [found(), found(), its_hit(world, identifier)]
    found_meanwhile = caller.recall().json
    assert [one["id"] for one in found_meanwhile["hits"]] == [identifier], "the index has its words"
    assert deliver(QueueName.EMBED, messages) == []
    assert world.memory(identifier).rev_at is None


def test_of_a_batch_only_the_row_that_the_index_cannot_take_comes_again(world: RecallWorld, stub: SearchStub) -> None:
    """Lines of one request: the first is taken, the second is not, and then each is tried by itself."""
    good, bad = world.remember("a kayak trip"), world.remember("a tent")
    ordered = sorted(world.dispatch(), key=lambda message: message.body["id"] == bad)
    bad_line = item_error(400, "illegal_argument_exception")
    stub.next["_bulk"] = [written(DONE, bad_line), written(DONE), written(bad_line)]
    assert deliver_all(world, ordered) == [ordered[1]]
    assert (world.memory(good).rev_at, world.memory(bad).rev_at is None) == (None, False)
    assert deliver_all(world, [ordered[1]]) == []
    assert world.memory(bad).rev_at is None
