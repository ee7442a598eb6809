"""What goes wrong between the SQS adapter and SQS, on the real client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from botocore.config import Config

from neve.adapters.aws.clients import aws_client
from neve.adapters.aws.sqs_queue import ATTEMPTS, MAX_BATCH_BYTES, SqsQueue
from neve.ports.errors import StoreUnavailable
from neve.ports.queue import Message, QueueName
from tests.unit.aws_world import SESSION, AnsweringServer, Reply, answering_server, json_error, mock_aws

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

URLS = {
    QueueName.EMBED: "http://127.0.0.1/000000000000/neve-embed",
    QueueName.EXTRACT: "http://127.0.0.1/000000000000/neve-extract.fifo",
}


@pytest.fixture
def server() -> Iterator[AnsweringServer]:
    with answering_server() as running:
        yield running


@pytest.fixture
def client(server: AnsweringServer) -> Iterator[SQSClient]:
    with closing(aws_client("sqs", endpoint_url=server.url, session=SESSION)) as made:
        yield made


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def queue(client: SQSClient, pauses: list[float]) -> SqsQueue:
    return SqsQueue(client, URLS, pauses.append)


def messages(count: int, **more: Any) -> list[Message]:
    return [Message({"n": n}, group=f"g{n}", **more) for n in range(count)]


def answer(sent: list[int], failed: list[tuple[int, str, bool]] | None = None) -> Reply:
    """Of a batch: the positions that were sent, and (position, code, the sender's fault) of those that were not."""
    body = {
        "Successful": [{"Id": str(n), "MessageId": f"m{n}", "MD5OfMessageBody": "0" * 32} for n in sent],
        "Failed": [{"Id": str(n), "Code": code, "SenderFault": fault} for n, code, fault in failed or []],
    }
    return Reply(body=body, headers={"content-type": "application/x-amz-json-1.0"})


def numbers(server: AnsweringServer) -> list[list[int]]:
    """Of the messages of each request."""
    return [
        [json.loads(entry["MessageBody"])["n"] for entry in entries(server, at)] for at in range(len(server.requests))
    ]


def entries(server: AnsweringServer, at: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.requests[at].json()["Entries"]
    return found


def test_what_a_batch_refused_is_sent_again(server: AnsweringServer, queue: SqsQueue, pauses: list[float]) -> None:
    server.replies = [
        answer([0, 3], [(1, "InternalError", False), (2, "RequestThrottled", False)]),
        answer([2], [(1, "InternalError", False)]),
        answer([1]),
    ]
    queue.send(QueueName.EMBED, messages(4))
    assert numbers(server) == [[0, 1, 2, 3], [1, 2], [1]]
    assert len(pauses) == 2
    assert all(0 <= pause < 1 for pause in pauses)


def test_what_stays_refused_is_unavailable_and_ends_the_sending(server: AnsweringServer, queue: SqsQueue) -> None:
    server.replies = [answer(list(range(1, 10)), [(0, "InternalError", False)])]
    server.otherwise = answer([], [(0, "InternalError", False)])
    with pytest.raises(
        StoreUnavailable, match=r"1 of 10 messages were refused \(InternalError\), the others were sent"
    ):
        queue.send(QueueName.EMBED, messages(12))
    assert numbers(server) == [list(range(10)), *[[0]] * (ATTEMPTS - 1)]


def test_an_entry_that_the_answer_does_not_mention_was_not_sent(server: AnsweringServer, queue: SqsQueue) -> None:
    server.replies = [answer([0])]
    server.otherwise = answer([])
    with pytest.raises(StoreUnavailable, match="not mentioned"):
        queue.send(QueueName.EMBED, messages(2))
    assert numbers(server) == [[0, 1], [1], [1]]


def test_a_fault_of_the_sender_is_not_repeated(server: AnsweringServer, queue: SqsQueue, pauses: list[float]) -> None:
    server.replies = [answer([0], [(1, "InvalidMessageContents", True)])]
    with pytest.raises(StoreUnavailable, match="InvalidMessageContents"):
        queue.send(QueueName.EMBED, messages(2))
    assert (len(server.requests), pauses) == (1, [])


def test_a_fifo_message_keeps_its_dedup_id_when_it_is_sent_again(server: AnsweringServer, queue: SqsQueue) -> None:
    server.replies = [answer([], [(0, "InternalError", False)]), answer([0])]
    queue.send(QueueName.EXTRACT, messages(1))
    first, second = entries(server, 0), entries(server, 1)
    assert first == second
    assert len(first[0]["MessageDeduplicationId"]) == 32


def test_a_fifo_group_is_in_a_batch_once(server: AnsweringServer, queue: SqsQueue) -> None:
    """Were 0 and 1 in one batch and 0 refused, it would arrive behind 1."""
    server.replies = [answer([0, 1]), answer([0, 1]), answer([0])]
    groups = ["a", "b", "a", "c", "a"]
    queue.send(QueueName.EXTRACT, [Message({"n": n}, group) for n, group in enumerate(groups)])
    assert numbers(server) == [[0, 1], [2, 3], [4]]


def test_a_batch_stays_below_its_bytes(server: AnsweringServer, queue: SqsQueue) -> None:
    server.replies = [answer([0, 1]), answer([0, 1]), answer([0])]
    text = "é" * (MAX_BATCH_BYTES // 4 - 20)
    queue.send(QueueName.EMBED, [Message({"n": n, "text": text}, "g") for n in range(5)])
    assert numbers(server) == [[0, 1], [2, 3], [4]]
    assert sum(len(entry["MessageBody"].encode()) for entry in entries(server, 0)) <= MAX_BATCH_BYTES


def test_characters_that_sqs_refuses_are_escaped(server: AnsweringServer, queue: SqsQueue) -> None:
    server.replies = [answer([0])]
    queue.send(QueueName.EMBED, [Message({"n": "\x00\x1f\ufffe\uffff"}, "g")])
    [entry] = entries(server, 0)
    assert not {"\x00", "\x1f", "\ufffe", "\uffff"} & set(entry["MessageBody"])
    assert json.loads(entry["MessageBody"]) == {"n": "\x00\x1f\ufffe\uffff"}


@pytest.mark.parametrize("given", ["x" * 129, "with blank", "naïve"])
def test_an_id_that_sqs_refuses_is_hashed(server: AnsweringServer, queue: SqsQueue, given: str) -> None:
    server.replies = [answer([0])]
    queue.send(QueueName.EXTRACT, [Message({"n": 1}, given, given)])
    [entry] = entries(server, 0)
    assert entry["MessageGroupId"] == entry["MessageDeduplicationId"]
    assert len(entry["MessageGroupId"]) == 64


def test_an_id_that_sqs_takes_stays_as_it_is(server: AnsweringServer, queue: SqsQueue) -> None:
    server.replies = [answer([0])]
    queue.send(QueueName.EMBED, [Message({"n": 1}, "acme/ann@x:1", "ignored")])
    [entry] = entries(server, 0)
    assert entry["MessageGroupId"] == "acme/ann@x:1"
    assert "MessageDeduplicationId" not in entry


def test_throttling_is_repeated_by_the_sdk(server: AnsweringServer, queue: SqsQueue) -> None:
    server.replies = [json_error(400, "RequestThrottled"), answer([0])]
    queue.send(QueueName.EMBED, messages(1))
    assert numbers(server) == [[0], [0]]


@pytest.mark.parametrize(
    ("status", "code", "attempts"),
    [
        (400, "RequestThrottled", 3),
        (503, "ServiceUnavailable", 3),
        (403, "ExpiredTokenException", 1),
        (403, "AccessDeniedException", 1),
        (400, "KmsThrottled", 1),
    ],
)
def test_a_refusal_for_good_is_unavailable_and_names_its_code(
    server: AnsweringServer, queue: SqsQueue, status: int, code: str, attempts: int
) -> None:
    server.otherwise = json_error(status, code)
    with pytest.raises(StoreUnavailable, match=f"SendMessageBatch: {code}") as caught:
        queue.send(QueueName.EMBED, messages(1))
    assert "ann" not in str(caught.value)
    assert len(server.requests) == attempts


def test_a_lost_answer_is_asked_for_again(server: AnsweringServer, queue: SqsQueue) -> None:
    server.replies = [Reply(lost=True), answer([0])]
    queue.send(QueueName.EXTRACT, messages(1))
    assert entries(server, 0) == entries(server, 1)


def test_an_answer_that_is_none_is_unavailable(server: AnsweringServer, queue: SqsQueue) -> None:
    server.otherwise = Reply(body=b"<html>", headers={"content-type": "text/html"})
    with pytest.raises(StoreUnavailable):
        queue.send(QueueName.EMBED, messages(1))


def test_no_server_is_unavailable() -> None:
    with answering_server() as gone:
        url = gone.url
    with closing(aws_client("sqs", endpoint_url=url, session=SESSION)) as client:
        queue = SqsQueue(client, URLS)
        with pytest.raises(StoreUnavailable, match="EndpointConnectionError"):
            queue.send(QueueName.EMBED, messages(1))


def test_a_server_that_does_not_answer_is_unavailable(server: AnsweringServer) -> None:
    server.otherwise = Reply(delay_s=1.0)
    config = Config(read_timeout=0.05, retries={"total_max_attempts": 2, "mode": "standard"})
    with closing(SESSION.client("sqs", endpoint_url=server.url, config=config)) as client:
        queue = SqsQueue(client, URLS)
        with pytest.raises(StoreUnavailable, match="ReadTimeoutError"):
            queue.send(QueueName.EMBED, messages(1))


def test_a_queue_that_was_deleted_is_unavailable() -> None:
    with mock_aws(), closing(aws_client("sqs", session=SESSION)) as client:
        url = client.create_queue(QueueName="neve-embed")["QueueUrl"]
        client.delete_queue(QueueUrl=url)
        with pytest.raises(StoreUnavailable, match=r"NonExistentQueue|QueueDoesNotExist"):
            SqsQueue(client, {QueueName.EMBED: url}).send(QueueName.EMBED, messages(1))


def test_a_queue_without_a_url_is_a_value_error(queue: SqsQueue) -> None:
    with pytest.raises(ValueError, match="no queue is named compact"):
        queue.send(QueueName.COMPACT, messages(1))
