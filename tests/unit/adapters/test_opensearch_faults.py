"""What a caller sees when OpenSearch fails under the adapter, over real HTTP on loopback."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch
from pytest import MonkeyPatch

from neve.adapters.opensearch import bulk_writes
from neve.adapters.opensearch.client import open_search_client
from neve.adapters.opensearch.index import ForeignPassage, OpenSearchIndex
from neve.adapters.opensearch.mapping import MAPPING_VERSION
from neve.adapters.opensearch.places import ALIAS_TTL_S
from neve.caching import Caches
from neve.domain.recall.query import shape
from neve.ports.errors import StoreUnavailable
from neve.ports.search import Owner, SearchFilter
from tests.contract.engines.passages import passage, vector
from tests.unit.recall_world import RecallWorld
from tests.unit.search_stub import (
    DONE,
    INDEX,
    MODEL,
    SHARDS,
    Behaviour,
    HangUp,
    Reply,
    SearchStub,
    Silence,
    found,
    hit,
    item_error,
    refusal,
    search_stub,
    written,
)
from tests.unit.world import HandClock

ADA, BOB = Owner("t1", "ada"), Owner("t1", "bob")
EAST = vector(1, 0, 0, 0)
ANYWHERE = SearchFilter()
KAYAK = shape("kayak").text_query

Call = Callable[[OpenSearchIndex], Any]
READS: dict[str, tuple[str, Call]] = {
    "search_text": ("_search", lambda index: index.search_text(ADA, KAYAK, ANYWHERE, 5)),
    "search_vector": ("_search", lambda index: index.search_vector(ADA, EAST, ANYWHERE, 5)),
    "count": ("_count", lambda index: index.count(ADA)),
    "model": ("_mapping", lambda index: index.model()),
}
WRITES: dict[str, tuple[str, Call]] = {
    "upsert": ("_bulk", lambda index: index.upsert(ADA, [passage("a", "kayak", vector=EAST), passage("b", "tent")])),
    "trim": ("_bulk", lambda index: index.trim(ADA, "a", keep=0, version=1)),
    "trim, looking": ("_mget", lambda index: index.trim(ADA, "a", keep=0, version=1)),
    "erase": ("_refresh", lambda index: index.erase(ADA)),
}
CALLS = READS | WRITES
NO_ROOM = refusal(429, "es_rejected_execution_exception")
ATTEMPTS = len(bulk_writes.MAX_PAUSE_S) + 1
EVERY_CALL = pytest.mark.parametrize(("operation", "call"), CALLS.values(), ids=CALLS)


@pytest.fixture
def stub() -> Iterator[SearchStub]:
    with search_stub() as running:
        yield running


@pytest.fixture
def client(stub: SearchStub) -> Iterator[OpenSearch]:
    with closing(open_search_client(stub.url)) as opened:
        yield opened


@pytest.fixture
def index(client: OpenSearch, monkeypatch: MonkeyPatch) -> OpenSearchIndex:
    """It asks again at once."""
    monkeypatch.setattr(bulk_writes, "MAX_PAUSE_S", [0.001] * (ATTEMPTS - 1))
    return OpenSearchIndex(client, "passages", MODEL)


# --- the whole request fails --------------------------------------------------------------------


@EVERY_CALL
@pytest.mark.parametrize(
    "failure",
    [
        NO_ROOM,
        refusal(503, "cluster_block_exception"),
        refusal(500, "some_exception"),
        refusal(403, "security_exception"),
        Reply(b"<html>504 Gateway Time-out</html>", 504),
        Reply(b"<html>half an answ"),
        Reply({"no": "such answer"}),
    ],
    ids=["429", "503", "500", "403", "504", "not JSON", "another shape"],
)
def test_a_refused_request_is_an_unavailable_store(
    stub: SearchStub, index: OpenSearchIndex, operation: str, call: Call, failure: Behaviour
) -> None:
    """A write that there is no room for is tried further times; no search is."""
    attempts = ATTEMPTS if (failure, operation) == (NO_ROOM, "_bulk") else 1
    stub.next[operation] = [failure] * attempts
    with pytest.raises(StoreUnavailable) as caught:
        call(index)
    assert caught.value.store == "search" and "quotes the query" not in str(caught.value)
    assert len(stub.asked[operation]) == attempts


@EVERY_CALL
def test_a_lost_connection_is_tried_once_more(
    stub: SearchStub, index: OpenSearchIndex, operation: str, call: Call
) -> None:
    stub.next[operation] = [HangUp()]
    call(index)
    assert len(stub.asked[operation]) >= 2


@EVERY_CALL
def test_a_connection_that_is_lost_twice(stub: SearchStub, index: OpenSearchIndex, operation: str, call: Call) -> None:
    stub.next[operation] = [HangUp(), HangUp()]
    with pytest.raises(StoreUnavailable):
        call(index)
    assert len(stub.asked[operation]) == 2


@pytest.mark.parametrize("kind", ["no_shard_available_action_exception", "index_not_found_exception"])
def test_a_document_that_was_not_looked_up_is_not_taken_for_gone(
    stub: SearchStub, index: OpenSearchIndex, kind: str
) -> None:
    stub.next["_mget"] = [Reply({"docs": [{"_id": "any", "error": {"type": kind}}]})]
    with pytest.raises(StoreUnavailable):
        index.trim(ADA, "a", keep=0, version=1)
    assert not stub.asked["_bulk"]


@pytest.mark.parametrize(("operation", "call"), READS.values(), ids=READS)
def test_an_answer_that_does_not_come_is_not_asked_for_again(stub: SearchStub, operation: str, call: Call) -> None:
    stub.next[operation] = [Silence()]
    client = open_search_client(stub.url, read_s=1.0)
    with closing(client), pytest.raises(StoreUnavailable, match="ConnectionTimeout"):
        call(OpenSearchIndex(client, "passages", MODEL))
    assert len(stub.asked[operation]) == 1


@pytest.mark.parametrize("call", [call for _, call in CALLS.values()], ids=CALLS)
def test_nobody_listens(call: Call) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        client = open_search_client(f"http://127.0.0.1:{taken.getsockname()[1]}")
        with closing(client), pytest.raises(StoreUnavailable):
            call(OpenSearchIndex(client, "passages", MODEL))


# --- part of it fails ---------------------------------------------------------------------------

CUT_SHORT = [
    found(hit(ADA, "a"), _shards=SHARDS | {"failed": 1, "successful": 0}),
    found(hit(ADA, "a"), timed_out=True),
]


@pytest.mark.parametrize("call", [READS["search_text"][1], READS["search_vector"][1]], ids=["text", "vector"])
@pytest.mark.parametrize("partial", CUT_SHORT, ids=["a shard failed", "timed out"])
def test_a_partial_answer_is_no_answer(stub: SearchStub, index: OpenSearchIndex, call: Call, partial: Reply) -> None:
    stub.next["_search"] = [partial]
    with pytest.raises(StoreUnavailable):
        call(index)


def test_a_keyword_leg_whose_second_request_fails_returns_nothing(stub: SearchStub, index: OpenSearchIndex) -> None:
    stub.next["_search"] = [found(), refusal(503, "cluster_block_exception")]
    with pytest.raises(StoreUnavailable):
        index.search_text(ADA, KAYAK, ANYWHERE, 5)
    assert len(stub.asked["_search"]) == 2


def test_a_count_or_a_refresh_without_a_shard_is_no_answer(stub: SearchStub, index: OpenSearchIndex) -> None:
    failed = SHARDS | {"failed": 1}
    stub.next["_count"] = [Reply({"count": 3, "_shards": failed})]
    with pytest.raises(StoreUnavailable):
        index.count(ADA)
    stub.next["_refresh"] = [Reply({"_shards": failed})]
    with pytest.raises(StoreUnavailable):
        index.erase(ADA)


def test_newer_passages_in_the_index_are_no_failure(stub: SearchStub, index: OpenSearchIndex) -> None:
    stub.next["_bulk"] = [written(item_error(409, "version_conflict_engine_exception"), DONE)]
    WRITES["upsert"][1](index)
    assert len(stub.asked["_bulk"]) == 1


OVERTAKEN = item_error(409, "version_conflict_engine_exception")


@pytest.mark.parametrize("other", [DONE, OVERTAKEN])
def test_a_write_that_was_overtaken_returns_when_searches_see_what_is_newer(
    stub: SearchStub, index: OpenSearchIndex, other: dict[str, Any]
) -> None:
    """One line that is written waits for a refresh of its own."""
    stub.next["_bulk"] = [written(OVERTAKEN, other)]
    WRITES["upsert"][1](index)
    assert len(stub.asked["_refresh"]) == (other is OVERTAKEN)


NO_ROOM_FOR_ONE = item_error(429, "es_rejected_execution_exception")


def test_what_there_was_no_room_for_is_sent_again_by_itself(stub: SearchStub, index: OpenSearchIndex) -> None:
    stub.next["_bulk"] = [written(NO_ROOM_FOR_ONE, DONE), NO_ROOM]
    WRITES["upsert"][1](index)
    both, *again = ([json.loads(line) for line in body.splitlines()] for body in stub.asked["_bulk"])
    assert [line["item_id"] for line in both[1::2]] == ["a", "b"]
    assert again == [both[:2], both[:2]]


def test_a_line_that_there_is_no_room_for_fails_the_call_in_the_end(stub: SearchStub, index: OpenSearchIndex) -> None:
    stub.next["_bulk"] = [written(NO_ROOM_FOR_ONE, DONE), *[written(NO_ROOM_FOR_ONE)] * (ATTEMPTS - 1)]
    with pytest.raises(StoreUnavailable, match="no room for 1 of 2 writes"):
        WRITES["upsert"][1](index)
    assert len(stub.asked["_bulk"]) == ATTEMPTS


def test_large_writes_go_in_parts_and_what_lacks_in_parts_again(
    stub: SearchStub, index: OpenSearchIndex, monkeypatch: MonkeyPatch
) -> None:
    """One line a part. What is behind a part that there is no room for waits for the next attempt."""
    monkeypatch.setattr(bulk_writes, "MAX_CHARACTERS", 1)
    stub.next["_bulk"] = [written(DONE), NO_ROOM, written(DONE), written(NO_ROOM_FOR_ONE), written(OVERTAKEN)]
    index.upsert(ADA, [passage(name, "kayak") for name in "abc"])
    sent = [json.loads(body.splitlines()[1])["item_id"] for body in stub.asked["_bulk"]]
    assert sent == ["a", "b", "b", "c", "c"]
    assert len(stub.asked["_mget"]) == 1, "the outcome of c is known: something newer was there"


@pytest.mark.parametrize("status", [503, 500])
def test_one_line_of_a_bulk_request_that_failed_for_now_fails_the_call(
    stub: SearchStub, index: OpenSearchIndex, status: int
) -> None:
    stub.next["_bulk"] = [written(DONE, item_error(status, "es_rejected_execution_exception"))]
    with pytest.raises(StoreUnavailable, match=f"es_rejected_execution_exception \\({status}\\)"):
        WRITES["upsert"][1](index)


def test_an_index_of_another_mapping_is_unavailable_and_a_bad_passage_is_not(
    stub: SearchStub, index: OpenSearchIndex
) -> None:
    """The embed worker tries a ValueError row by row, so that one bad row does not hold up the others."""
    stub.next["_bulk"] = [written(DONE, item_error(400, "strict_dynamic_mapping_exception"))]
    with pytest.raises(StoreUnavailable, match="strict_dynamic_mapping_exception"):
        WRITES["upsert"][1](index)
    stub.next["_bulk"] = [written(DONE, item_error(400, "illegal_argument_exception"))]
    with pytest.raises(ValueError, match="id-1: illegal_argument_exception"):
        WRITES["upsert"][1](index)


def test_an_index_that_older_code_made_is_not_used(stub: SearchStub, index: OpenSearchIndex) -> None:
    stub.next["_mapping"] = [Reply({INDEX: {"mappings": {"_meta": {"model": "m", "dimensions": 4, "mapping": 0}}}})]
    with pytest.raises(StoreUnavailable, match="reindex"):
        index.search_text(ADA, KAYAK, ANYWHERE, 5)
    assert stub.asked["_search"] == []


# --- the index goes away ------------------------------------------------------------------------


@pytest.mark.parametrize("call", [READS["search_text"][1], READS["search_vector"][1], READS["count"][1]])
def test_an_index_that_is_not_there_is_not_an_empty_one(stub: SearchStub, index: OpenSearchIndex, call: Call) -> None:
    stub.next["_mapping"] = [refusal(404, "index_not_found_exception")]
    with pytest.raises(StoreUnavailable, match="no index"):
        call(index)


@pytest.mark.parametrize(
    ("operation", "call", "gone"),
    [
        (*READS["search_text"], refusal(404, "index_not_found_exception")),
        (*WRITES["upsert"], written(item_error(404, "index_not_found_exception"), DONE)),
    ],
    ids=["search", "bulk"],
)
def test_an_index_that_was_deleted_is_looked_up_again(
    stub: SearchStub, index: OpenSearchIndex, operation: str, call: Call, gone: Behaviour
) -> None:
    stub.next[operation] = [gone]
    with pytest.raises(StoreUnavailable):
        call(index)
    call(index)
    assert len(stub.asked["_mapping"]) == 2


def test_the_index_behind_the_alias_is_looked_up_again_after_a_while(stub: SearchStub, client: OpenSearch) -> None:
    clock = HandClock()
    index = OpenSearchIndex(client, "passages", MODEL, caches=Caches(clock.now))
    for _ in range(3):
        index.model()
    assert len(stub.asked["_mapping"]) == 1
    clock.move(seconds=ALIAS_TTL_S)
    index.model()
    assert len(stub.asked["_mapping"]) == 2


# --- another owner's passage --------------------------------------------------------------------


@pytest.mark.parametrize("foreign", [BOB, Owner("t2", "ada")])
def test_a_passage_of_another_owner_is_never_returned(stub: SearchStub, index: OpenSearchIndex, foreign: Owner) -> None:
    answer = found(hit(ADA, "a"), hit(foreign, "b"))
    stub.next["_search"] = [answer, found(), answer]
    with pytest.raises(ForeignPassage):
        index.search_vector(ADA, EAST, ANYWHERE, 5)
    with pytest.raises(ForeignPassage):
        index.search_text(ADA, KAYAK, ANYWHERE, 5)


# --- what recall and the embed worker make of it ------------------------------------------------


@pytest.fixture
def world(tmp_path: Path, client: OpenSearch) -> Iterator[RecallWorld]:
    with closing(RecallWorld.make(tmp_path)) as made:
        made.search = OpenSearchIndex(client, "passages", made.embedder.model)
        yield made


def _model_of(world: RecallWorld) -> Reply:
    about = {
        "model": world.embedder.model.tag,
        "dimensions": world.embedder.model.dimensions,
        "mapping": MAPPING_VERSION,
    }
    return Reply({INDEX: {"mappings": {"_meta": about}}})


def test_recall_says_which_leg_failed_and_answers_from_the_other(stub: SearchStub, world: RecallWorld) -> None:
    identifier = world.remember("a kayak trip on the river")
    world.change(identifier, rev_at=None)
    stub.next["_mapping"] = [_model_of(world)]
    stub.next["_search"] = [found(hit(Owner(world.tenant.id, "ann"), identifier, 0.95)), refusal(503, "x")]
    answer = world.ask("kayak")
    assert answer.degraded == ["lexical:error"]
    assert [one.id for one in answer.hits] == [identifier]
    stub.next["_search"] = [refusal(503, "x"), refusal(429, "x")]
    answer = world.ask("kayak")
    assert answer.degraded == ["lexical:error", "vector:error"] and answer.hits == []


def test_a_failed_write_leaves_the_message_on_the_queue_and_the_row_due(stub: SearchStub, world: RecallWorld) -> None:
    identifier = world.remember("a kayak trip on the river")
    messages = world.dispatch()
    stub.next["_mapping"] = [_model_of(world)]
    stub.next["_bulk"] = [written(item_error(503, "unavailable_shards_exception"))]
    failures = world.words(messages)
    assert [type(error) for error in failures.values()] == [StoreUnavailable]
    left = world.memory(identifier)
    assert left.rev_at is not None and left.words_at is None
    assert world.embed(messages) == {}
    assert world.memory(identifier).rev_at is None
    assert json.loads(stub.asked["_bulk"][-1].splitlines()[1])["item_id"] == identifier


# --- the client ---------------------------------------------------------------------------------


@pytest.mark.parametrize("endpoint", ["http://search.example.com", "ftp://127.0.0.1", "127.0.0.1:9200"])
def test_passages_are_not_sent_in_the_clear(endpoint: str) -> None:
    with pytest.raises(ValueError, match="https"):
        open_search_client(endpoint)


def test_requests_to_a_domain_are_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("AWS_ACCESS_KEY_ID", "AK"), ("AWS_SECRET_ACCESS_KEY", "SK"), ("AWS_SESSION_TOKEN", "ST")):
        monkeypatch.setenv(name, value)
    with closing(open_search_client("https://search-x.eu-west-1.es.amazonaws.com", region="eu-west-1")) as client:
        [connection] = client.transport.connection_pool.connections
        headers = connection.http_auth("GET", "https://search-x.eu-west-1.es.amazonaws.com/a?b=c", b"{}")
    assert "/eu-west-1/es/aws4_request" in headers["Authorization"] and headers["X-Amz-Security-Token"] == "ST"


def test_without_credentials_there_is_no_client_for_a_domain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="credentials"):
        open_search_client("https://search-x.eu-west-1.es.amazonaws.com", region="eu-west-1")
