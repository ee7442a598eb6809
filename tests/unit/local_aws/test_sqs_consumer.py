"""The worker loop on queues that speak SQS, and how those are made from the template. The consumer's side is also what
the contract suite of the Queue port works with."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from local.aws import queues_at_rest, sqs_consumer
from local.aws.queues import create_queues, without_delays
from local.aws.sqs_consumer import LOOK_S, SqsBroker
from local.broker import Broker, Counts
from local.template import read_template
from local.workers.deliveries import Deliveries
from local.workers.queue_worker import QueueWorker
from neve.adapters.aws.clients import aws_client
from neve.adapters.clock import SystemClock
from neve.ports.errors import StoreUnavailable
from neve.ports.queue import Message, QueueName
from tests.contract.engines.patience import answers_at_once
from tests.patience import PATIENCE_S
from tests.unit.aws_world import SESSION, AnsweringServer, Reply, answering_server, json_error, mock_aws

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

TEMPLATE = without_delays(read_template())
SOURCES = {source.queue: source for source in TEMPLATE.queue_sources}
NOW = datetime(2026, 3, 10, tzinfo=UTC)


@pytest.fixture
def client() -> Iterator[SQSClient]:
    with mock_aws(), closing(aws_client("sqs", session=SESSION)) as made:
        yield made


@pytest.fixture
def broker(client: SQSClient) -> SqsBroker:
    return SqsBroker(client, TEMPLATE.queues, create_queues(client, TEMPLATE, delays=False))


class Consumer:
    """A function that fails for what is in ``fails``, by number."""

    def __init__(self) -> None:
        self.fails: set[int] = set()
        self.batches: list[list[int]] = []

    def invoke(self, function: str, event: Any) -> Any:
        bodies = {record["messageId"]: json.loads(record["body"])["n"] for record in event["Records"]}
        self.batches.append(list(bodies.values()))
        failed = [identifier for identifier, n in bodies.items() if n in self.fails]
        return {"batchItemFailures": [{"itemIdentifier": identifier} for identifier in failed]}


@pytest.fixture
def consumer() -> Consumer:
    return Consumer()


def worker(broker: Broker, consumer: Consumer, queue: str) -> QueueWorker:
    return QueueWorker(SOURCES[queue], TEMPLATE.queues[queue], broker, SystemClock(), consumer.invoke)


def send(broker: SqsBroker, queue: QueueName, *numbers: int, group: str = "g") -> None:
    broker.send(queue, [Message({"n": n}, group) for n in numbers])


# --- queues ---------------------------------------------------------------------------------------


def settings(client: SQSClient, url: str) -> dict[str, str]:
    found = client.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    return {str(name): value for name, value in found.items()}


def test_queues_are_those_of_the_template(client: SQSClient) -> None:
    template = read_template()
    urls = create_queues(client, template, delays=True)
    assert set(urls) == set(template.queues)
    extract = settings(client, urls["extract"])
    spec = template.queues["extract"]
    assert spec.delay_s > 0
    assert urls["extract"].endswith("/neve-extract.fifo")
    assert (extract["FifoQueue"], extract["DelaySeconds"]) == ("true", str(spec.delay_s))
    assert extract["VisibilityTimeout"] == str(spec.visibility_s)
    redrive = json.loads(extract["RedrivePolicy"])
    assert redrive["deadLetterTargetArn"].endswith(":neve-extract-dlq.fifo")
    assert int(redrive["maxReceiveCount"]) == spec.max_receives
    assert "FifoQueue" not in settings(client, urls["embed"])
    assert "RedrivePolicy" not in settings(client, urls["embed-dlq"])


def test_queues_that_exist_keep_their_messages_and_take_new_settings(client: SQSClient) -> None:
    template = read_template()
    broker = SqsBroker(client, template.queues, create_queues(client, template, delays=False))
    send(broker, QueueName.EMBED, 1)
    changed = {name: replace(spec, visibility_s=77) for name, spec in template.queues.items()}
    urls = create_queues(client, replace(template, queues=changed), delays=False)
    assert broker.counts("embed").visible == 1
    assert settings(client, urls["embed"])["VisibilityTimeout"] == "77"


def test_without_delays_nothing_waits(client: SQSClient) -> None:
    urls = create_queues(client, read_template(), delays=False)
    assert {settings(client, url)["DelaySeconds"] for url in urls.values()} == {"0"}
    assert {spec.delay_s for spec in TEMPLATE.queues.values()} == {0}


# --- the worker on it -------------------------------------------------------------------------------


def test_what_is_handled_is_deleted_and_what_failed_stays_hidden(broker: SqsBroker, consumer: Consumer) -> None:
    consumer.fails = {2}
    embed = worker(broker, consumer, "embed")
    send(broker, QueueName.EMBED, 1, 2, 3)
    assert embed.counts() == Counts(3, 0, 0, 0)
    assert embed.step(hurry=False)
    assert not embed.step(hurry=False)
    assert [sorted(batch) for batch in consumer.batches] == [[1, 2, 3]]
    assert embed.counts() == Counts(0, 1, 0, 0)
    assert not embed.settled(held=0)
    assert embed.settled(held=1)


def test_a_batch_is_as_large_as_the_template_says(broker: SqsBroker, consumer: Consumer) -> None:
    assert SOURCES["embed"].batch_size > 10
    send(broker, QueueName.EMBED, *range(25))
    assert worker(broker, consumer, "embed").step(hurry=False)
    assert [sorted(batch) for batch in consumer.batches] == [list(range(25))]


def test_a_hurried_drain_brings_failed_messages_back_until_they_are_dead_letters(
    broker: SqsBroker, consumer: Consumer
) -> None:
    consumer.fails = {1}
    compact = worker(broker, consumer, "compact")
    send(broker, QueueName.COMPACT, 1, 2)
    for _ in range(200):
        compact.step(hurry=True)
        compact.bring_back()
        if compact.settled(held=0):
            break
        broker.wait_for_messages(["compact"], 0.1)
    assert compact.counts() == Counts(0, 0, 0, 1)
    assert consumer.batches == [[1]] * (TEMPLATE.queues["compact"].max_receives or 0) + [[2]]


def test_a_function_that_raises_keeps_its_whole_batch(broker: SqsBroker) -> None:
    def fail(function: str, event: Any) -> Any:
        raise RuntimeError("no")

    embed = QueueWorker(SOURCES["embed"], TEMPLATE.queues["embed"], broker, SystemClock(), fail)
    send(broker, QueueName.EMBED, 1, 2)
    assert embed.step(hurry=False)
    assert embed.counts().in_flight == 2


def test_a_delivery_can_be_repeated(broker: SqsBroker, consumer: Consumer) -> None:
    deliveries = Deliveries(consumer.invoke, TEMPLATE.queue_sources)
    spec = TEMPLATE.queues["embed"]
    embed = QueueWorker(SOURCES["embed"], spec, broker, SystemClock(), consumer.invoke, deliveries.remember)
    send(broker, QueueName.EMBED, 7)
    assert embed.step(hurry=False)
    assert deliveries.again("embed", times=2, concurrent=2) == 0
    assert consumer.batches == [[7], [7], [7]]


# --- waiting ----------------------------------------------------------------------------------------


def test_a_send_wakes_the_consumer(broker: SqsBroker) -> None:
    assert broker.receive("embed", 10, NOW) == []
    assert not broker.wait_for_messages(["embed"], 0.01)
    answers: list[bool] = []
    waiting = Thread(target=lambda: answers.append(broker.wait_for_messages(["embed"], 0.9 * LOOK_S)))
    waiting.start()
    send(broker, QueueName.EMBED, 1)
    waiting.join()
    assert answers == [True]
    assert answers_at_once(lambda: broker.wait_for_messages(["embed"], 0.9 * LOOK_S))


def test_a_deletion_wakes_the_consumer_whose_group_waited(broker: SqsBroker) -> None:
    send(broker, QueueName.EXTRACT, 1, 2)
    [first] = broker.receive("extract", 1, NOW)
    assert broker.receive("extract", 1, NOW) == []
    assert not broker.wait_for_messages(["extract"], 0.01)
    assert broker.delete("extract", first.receipt)
    assert broker.wait_for_messages(["extract"], 0.01)
    assert [json.loads(message.body)["n"] for message in broker.receive("extract", 1, NOW)] == [2]


def test_what_another_process_sent_is_looked_for(client: SQSClient, broker: SqsBroker) -> None:
    assert broker.receive("embed", 10, NOW) == []
    assert broker.wait_for_messages(["embed"], LOOK_S + 30)


def test_closing_wakes_the_consumer_and_ends_the_broker(broker: SqsBroker) -> None:
    broker.close()
    assert not broker.wait_for_messages(["embed"], 30)
    for call in (
        lambda: send(broker, QueueName.EMBED, 1),
        lambda: broker.receive("embed", 1, NOW),
        lambda: broker.delete("embed", "r"),
        lambda: broker.release("embed", "r", 0),
        lambda: broker.counts("embed"),
    ):
        with pytest.raises(StoreUnavailable, match="closed"):
            call()


# --- asking less ------------------------------------------------------------------------------------


@pytest.fixture
def asked(client: SQSClient) -> list[str]:
    """The names of the calls that are made of the server, until the test clears them."""
    calls: list[str] = []
    client.meta.events.register("before-call.sqs", lambda model, **_: calls.append(str(model.name)))
    return calls


@pytest.fixture
def alone(client: SQSClient, asked: list[str]) -> SqsBroker:
    made = SqsBroker(client, TEMPLATE.queues, create_queues(client, TEMPLATE, delays=False), alone=True)
    asked.clear()
    return made


def test_a_queue_that_was_seen_empty_is_not_asked_until_something_is_sent(
    alone: SqsBroker, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queues_at_rest, "DEAD_LETTER_GRACE_S", 0.0)
    count_until_known(alone, asked)
    assert alone.receive("embed", 10, NOW) == []
    assert alone.counts("embed") == Counts(0, 0, 0, 0)
    assert not alone.wait_for_messages(["embed"], 0.01)
    assert asked == []
    send(alone, QueueName.EMBED, 1)
    assert alone.counts("embed").visible == 1
    [message] = alone.receive("embed", 1, NOW)
    assert alone.counts("embed").in_flight == 1
    assert alone.delete("embed", message.receipt)
    assert alone.counts("embed") == Counts(0, 0, 0, 0)
    asked.clear()
    assert (alone.receive("embed", 10, NOW), asked) == ([], [])


def test_what_it_did_itself_it_need_not_ask_for(
    alone: SqsBroker, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queues_at_rest, "DEAD_LETTER_GRACE_S", 0.0)
    count_until_known(alone, asked)
    send(alone, QueueName.EMBED, 1, 2)
    first, second = alone.receive("embed", 10, NOW)
    assert alone.receive("embed", 10, NOW) == []
    assert alone.counts("embed") == Counts(0, 2, 0, 0)
    assert alone.delete("embed", first.receipt)
    assert alone.counts("embed") == Counts(0, 1, 0, 0)
    assert alone.delete("embed", second.receipt)
    assert alone.counts("embed") == Counts(0, 0, 0, 0)
    assert asked == ["SendMessageBatch", "ReceiveMessage", "DeleteMessage", "DeleteMessage"]


def count_until_known(broker: SqsBroker, asked: list[str]) -> None:
    """Of a queue that is empty, the server is not asked again once no letter can be on its way."""
    while True:
        asked.clear()
        assert broker.counts("embed") == Counts(0, 0, 0, 0)
        if not asked:
            return


def test_what_is_given_back_waits_again(alone: SqsBroker) -> None:
    assert alone.counts("embed") == Counts(0, 0, 0, 0)
    send(alone, QueueName.EMBED, 1)
    [message] = alone.receive("embed", 10, NOW)
    assert alone.release("embed", message.receipt, 0)
    assert alone.counts("embed").visible == 1
    assert [again.id for again in alone.receive("embed", 10, NOW)] == [message.id]


def test_a_message_that_the_server_drops_is_not_waited_for(alone: SqsBroker) -> None:
    assert alone.counts("extract") == Counts(0, 0, 0, 0)
    for _ in range(2):
        alone.send(QueueName.EXTRACT, [Message({}, "g", dedup_id="same")])
    [message] = alone.receive("extract", 10, NOW)
    assert alone.delete("extract", message.receipt)
    assert alone.receive("extract", 10, NOW) == []
    assert alone.counts("extract") == Counts(0, 0, 0, 0)


def test_a_message_whose_time_is_over_is_looked_for(client: SQSClient) -> None:
    """It comes back by itself."""
    specs = {name: replace(spec, visibility_s=1) for name, spec in TEMPLATE.queues.items()}
    urls = create_queues(client, replace(TEMPLATE, queues=specs), delays=False)
    alone = SqsBroker(client, specs, urls, alone=True)
    assert alone.counts("embed") == Counts(0, 0, 0, 0)
    send(alone, QueueName.EMBED, 1)
    [message] = alone.receive("embed", 10, NOW)
    assert alone.counts("embed") == Counts(0, 1, 0, 0)
    end = time.monotonic() + PATIENCE_S
    while not (again := alone.receive("embed", 10, NOW)) and time.monotonic() < end:
        alone.wait_for_messages(["embed"], 0.1)
    assert [found.id for found in again] == [message.id]


def test_what_another_process_left_is_found(alone: SqsBroker, client: SQSClient) -> None:
    """It knows nothing of a queue that it has not counted."""
    left = SqsBroker(client, TEMPLATE.queues, create_queues(client, TEMPLATE, delays=False))
    send(left, QueueName.EMBED, 1)
    assert alone.counts("embed").visible == 1
    assert len(alone.receive("embed", 10, NOW)) == 1
    assert alone.counts("embed").in_flight == 1


def test_dead_letters_are_counted_once(
    alone: SqsBroker, asked: list[str], consumer: Consumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server needs no time to bury one here."""
    monkeypatch.setattr(queues_at_rest, "DEAD_LETTER_GRACE_S", 0.0)
    consumer.fails = {1}
    compact = worker(alone, consumer, "compact")
    send(alone, QueueName.COMPACT, 1)
    while alone.counts("compact").dlq == 0:
        compact.step(hurry=True)
        compact.bring_back()
        alone.wait_for_messages(["compact"], 0.1)
    while asked:
        asked.clear()
        assert compact.counts() == Counts(0, 0, 0, 1)
    [letter] = alone.receive("compact-dlq", 1, NOW)
    assert alone.delete("compact-dlq", letter.receipt)
    assert compact.counts() == Counts(0, 0, 0, 0)


def test_a_message_that_comes_back_later_is_looked_for_then(alone: SqsBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who did not know of it would look again after ``LOOK_S`` only, which is too late."""
    monkeypatch.setattr(sqs_consumer, "LOOK_S", 2 * PATIENCE_S)
    send(alone, QueueName.EMBED, 1)
    [message] = alone.receive("embed", 1, NOW)
    assert alone.release("embed", message.receipt, 0.5)
    end = time.monotonic() + PATIENCE_S
    while not (again := alone.receive("embed", 1, NOW)) and time.monotonic() < end:
        alone.wait_for_messages(["embed"], 0.1)
    assert [found.id for found in again] == [message.id]


def test_what_failed_on_its_way_may_have_arrived(server: AnsweringServer) -> None:
    queue = {"embed": f"{server.url}/1/neve-embed"}
    empty = {"ApproximateNumberOfMessages": "0", "ApproximateNumberOfMessagesNotVisible": "0"}
    empty["ApproximateNumberOfMessagesDelayed"] = "0"
    counted = Reply(body={"Attributes": empty}, headers={"content-type": "application/x-amz-json-1.0"})
    with closing(aws_client("sqs", endpoint_url=server.url, session=SESSION)) as made:
        specs = {"embed": replace(TEMPLATE.queues["embed"], dead_letters=None)}
        alone = SqsBroker(made, specs, queue, alone=True)
        server.replies = [counted]
        assert alone.counts("embed") == Counts(0, 0, 0, 0)
        server.otherwise = json_error(403, "AccessDeniedException")
        assert alone.receive("embed", 1, NOW) == []
        with pytest.raises(StoreUnavailable):
            send(alone, QueueName.EMBED, 1)
        server.replies = [received(1)]
        assert len(alone.receive("embed", 1, NOW)) == 1


# --- refusals ---------------------------------------------------------------------------------------


def test_a_receipt_that_is_none_changes_nothing(broker: SqsBroker) -> None:
    send(broker, QueueName.EMBED, 1)
    assert not broker.delete("embed", "not-a-receipt")
    assert not broker.release("embed", "not-a-receipt", 0)
    assert broker.counts("embed").visible == 1


def test_a_queue_that_nobody_made_is_a_value_error(broker: SqsBroker) -> None:
    for call in (
        lambda: broker.receive("other", 1, NOW),
        lambda: broker.delete("other", "r"),
        lambda: broker.release("other", "r", 0),
        lambda: broker.counts("other"),
    ):
        with pytest.raises(ValueError, match="no queue is named other"):
            call()


@pytest.fixture
def server() -> Iterator[AnsweringServer]:
    with answering_server() as running:
        yield running


@pytest.fixture
def shaky(server: AnsweringServer) -> Iterator[SqsBroker]:
    with closing(aws_client("sqs", endpoint_url=server.url, session=SESSION)) as made:
        yield SqsBroker(made, TEMPLATE.queues, {"embed": f"{server.url}/1/neve-embed"})


def received(count: int) -> Reply:
    attributes = {"ApproximateReceiveCount": "1", "SentTimestamp": "1", "MessageGroupId": "g"}
    body = '{"n": 1}'
    one = {"Body": body, "ReceiptHandle": "r", "Attributes": attributes}
    found = [{**one, "MessageId": f"m{n}"} for n in range(count)]
    return Reply(body={"Messages": found}, headers={"content-type": "application/x-amz-json-1.0"})


def test_what_came_before_a_failure_is_delivered(server: AnsweringServer, shaky: SqsBroker) -> None:
    server.replies = [received(10)]
    server.otherwise = json_error(403, "AccessDeniedException")
    assert len(shaky.receive("embed", 50, NOW)) == 10
    with pytest.raises(StoreUnavailable, match="ReceiveMessage: AccessDeniedException"):
        shaky.receive("embed", 50, NOW)


def test_every_call_translates(server: AnsweringServer, shaky: SqsBroker) -> None:
    server.otherwise = json_error(403, "ExpiredToken")
    for call in (
        lambda: shaky.delete("embed", "r"),
        lambda: shaky.release("embed", "r", 0),
        lambda: shaky.counts("embed"),
    ):
        with pytest.raises(StoreUnavailable, match="ExpiredToken"):
            call()
