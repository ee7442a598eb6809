"""What every Queue does, seen from the consumer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from local.limits.lineage import HEADER, invoked
from neve.ports.queue import Message, QueueName
from tests.contract.engines.endless_writer import SEEDS, killed_after_some_writes
from tests.contract.engines.harnesses import (
    DELAY_S,
    DELAYED_FIFO,
    FIFO,
    MAX_RECEIVES,
    SHORT,
    SHORT_FIFO,
    SHORT_VISIBILITY_S,
    STANDARD,
    VISIBILITY_S,
    Delivery,
    QueueHarness,
)
from tests.contract.engines.registry import QUEUES
from tests.ids import AWKWARD

BOTH = pytest.mark.parametrize("name", [STANDARD, FIFO])
BOTH_SHORT = pytest.mark.parametrize("name", [SHORT, SHORT_FIFO])


def message(n: int, group: str = "g", dedup_id: str | None = None) -> Message:
    return Message({"n": n}, group, dedup_id)


def numbers(deliveries: list[Delivery]) -> list[int]:
    return [delivery.body["n"] for delivery in deliveries]


def drained(queues: QueueHarness, name: QueueName) -> list[int]:
    """Everything that can be had now, deleted as it comes."""
    found: list[int] = []
    while batch := queues.receive(name):
        found += numbers(batch)
        for delivery in batch:
            queues.delete(name, delivery.receipt)
    return found


def test_a_group_is_named_after_a_user_of_any_id(queues: QueueHarness) -> None:
    """Each is one of its own, whatever a queue calls it."""
    queues.queue.send(FIFO, [message(n, f"t1#{name}") for n, name in enumerate(AWKWARD)])
    found: list[Delivery] = []
    while batch := queues.receive(FIFO):
        found += batch
    assert sorted(numbers(found)) == list(range(len(AWKWARD)))
    assert len({delivery.group for delivery in found}) == len(AWKWARD)


# --- both kinds ---------------------------------------------------------------------------------


@BOTH
def test_a_message_arrives_with_its_body_and_is_gone_after_deletion(queues: QueueHarness, name: QueueName) -> None:
    body: dict[str, Any] = {"n": 1, "text": "naïve 日本 😀 \n", "flags": [True, None, 1.5], "deep": {"a": {}}}
    queues.queue.send(name, [Message(body, group="t1")])
    [delivery] = queues.receive(name)
    assert delivery.body == body
    assert delivery.group == "t1"
    assert delivery.receives == 1
    assert delivery.sent_ms > 0
    assert queues.receive(name) == []
    queues.delete(name, delivery.receipt)
    assert queues.receive(name) == []


@BOTH
def test_a_message_carries_the_chain_that_it_was_sent_in(queues: QueueHarness, name: QueueName) -> None:
    """Lambda counts with it; nothing else has one."""
    came_from = {"eventSource": "aws:sqs", "attributes": {HEADER: "Lineage=index:3"}}
    with invoked("embed", {"Records": [came_from]}, may_recurse=False):
        queues.queue.send(name, [message(1), message(2)])
    queues.queue.send(name, [message(3)])
    traces: dict[int, str | None] = {}
    while batch := queues.receive(name):
        for delivery in batch:
            traces[delivery.body["n"]] = delivery.trace
            queues.delete(name, delivery.receipt)
    assert traces == {1: "Lineage=index:3,embed:1", 2: "Lineage=index:3,embed:1", 3: None}


@BOTH_SHORT
def test_a_deleted_message_does_not_come_again(queues: QueueHarness, name: QueueName) -> None:
    queues.queue.send(name, [message(1)])
    [delivery] = queues.receive(name)
    queues.delete(name, delivery.receipt)
    queues.pass_time(SHORT_VISIBILITY_S + 1)
    assert queues.receive(name) == []


@BOTH_SHORT
def test_a_message_that_is_not_deleted_comes_again(queues: QueueHarness, name: QueueName) -> None:
    queues.queue.send(name, [message(1)])
    [first] = queues.receive(name)
    queues.pass_time(SHORT_VISIBILITY_S + 1)
    [again] = queues.receive(name)
    assert (again.body, again.receives, again.sent_ms) == (first.body, 2, first.sent_ms)
    assert again.receipt != first.receipt


@BOTH_SHORT
def test_a_released_message_comes_again_at_once_or_later(queues: QueueHarness, name: QueueName) -> None:
    queues.queue.send(name, [message(1), message(2)])
    batch = queues.receive(name)
    assert sorted(numbers(batch)) == [1, 2]
    for delivery in batch:
        queues.release(name, delivery.receipt, 0)
    batch = queues.receive(name)
    assert sorted(numbers(batch)) == [1, 2]
    for delivery in batch:
        queues.release(name, delivery.receipt, VISIBILITY_S)
    queues.pass_time(SHORT_VISIBILITY_S + 1)
    assert queues.receive(name) == []


@BOTH
def test_a_stale_receipt_deletes_nothing(queues: QueueHarness, name: QueueName) -> None:
    queues.queue.send(name, [message(1)])
    [first] = queues.receive(name)
    queues.release(name, first.receipt, 0)
    [second] = queues.receive(name)
    queues.delete(name, first.receipt)
    queues.release(name, second.receipt, 0)
    queues.pass_time(1)
    letters = queues.receive(name) or queues.dead_letters(name)
    assert numbers(letters) == [1]


@BOTH
def test_what_is_never_handled_ends_as_a_dead_letter(queues: QueueHarness, name: QueueName) -> None:
    queues.queue.send(name, [message(1), message(2)])
    for _ in range(MAX_RECEIVES):
        batch = queues.receive(name)
        assert sorted(numbers(batch)) == [1, 2]
        queues.delete(name, next(delivery.receipt for delivery in batch if delivery.body["n"] == 2))
        queues.release(name, next(delivery.receipt for delivery in batch if delivery.body["n"] == 1), 0)
        queues.queue.send(name, [message(2)])
    batch = queues.receive(name)
    assert numbers(batch) == [2]
    [letter] = queues.dead_letters(name)
    assert letter.body == {"n": 1}
    assert letter.group == "g"
    assert letter.source is not None
    assert letter.source.endswith(name)


@BOTH
def test_a_batch_has_at_most_the_wanted_size(queues: QueueHarness, name: QueueName) -> None:
    queues.queue.send(name, [message(n) for n in range(5)])
    batch = queues.receive(name, 2)
    assert len(batch) == 2
    for delivery in batch:
        queues.delete(name, delivery.receipt)
    assert sorted(numbers(batch) + drained(queues, name)) == list(range(5))


def test_queues_do_not_mix(queues: QueueHarness) -> None:
    queues.queue.send(STANDARD, [message(1)])
    queues.queue.send(FIFO, [message(2)])
    assert numbers(queues.receive(FIFO)) == [2]
    assert numbers(queues.receive(STANDARD)) == [1]


def test_more_messages_than_one_request_takes(queues: QueueHarness) -> None:
    queues.queue.send(STANDARD, [message(n) for n in range(35)])
    queues.queue.send(STANDARD, [])
    assert sorted(drained(queues, STANDARD)) == list(range(35))


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (Message({"n": object()}, "g"), "not JSON serializable"),
        (Message({"n": float("nan")}, "g"), "not JSON compliant"),
        (Message({"n": "x" * 263_000}, "g"), "at most 262144"),
        (Message({"n": "\ud800"}, "g"), "surrogates"),
        (Message({"n": 1}, ""), "needs a group"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_a_malformed_message_is_a_value_error_and_sends_nothing(
    queues: QueueHarness, bad: Message, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        queues.queue.send(STANDARD, [message(1), bad])
    assert queues.receive(STANDARD) == []


# --- FIFO ---------------------------------------------------------------------------------------


def test_a_group_arrives_in_the_order_of_its_sends(queues: QueueHarness) -> None:
    for n in range(0, 24, 3):
        queues.queue.send(FIFO, [message(n), message(n + 1), message(n + 2)])
    assert drained(queues, FIFO) == list(range(24))


def test_a_group_waits_while_one_of_its_messages_is_in_flight(queues: QueueHarness) -> None:
    queues.queue.send(FIFO, [message(1, "a"), message(2, "a"), message(3, "b")])
    [first] = queues.receive(FIFO, 1)
    assert first.body["n"] == 1
    assert drained(queues, FIFO) == [3]
    queues.delete(FIFO, first.receipt)
    assert drained(queues, FIFO) == [2]


def test_a_released_message_keeps_its_place_in_the_group(queues: QueueHarness) -> None:
    queues.queue.send(FIFO, [message(n) for n in (1, 2, 3)])
    first, second, third = queues.receive(FIFO)
    queues.delete(FIFO, first.receipt)
    queues.release(FIFO, second.receipt, 0)
    assert queues.receive(FIFO) == []
    queues.release(FIFO, third.receipt, 0)
    assert drained(queues, FIFO) == [2, 3]


def test_a_dead_letter_lets_its_group_go_on(queues: QueueHarness) -> None:
    queues.queue.send(FIFO, [message(1), message(2)])
    for _ in range(MAX_RECEIVES):
        [poison] = queues.receive(FIFO, 1)
        assert poison.body["n"] == 1
        queues.release(FIFO, poison.receipt, 0)
    assert drained(queues, FIFO) == [2]
    assert numbers(queues.dead_letters(FIFO)) == [1]


def test_a_delayed_queue_delivers_after_its_delay(queues: QueueHarness) -> None:
    queues.queue.send(DELAYED_FIFO, [message(1), message(2)])
    assert queues.receive(DELAYED_FIFO) == []
    queues.pass_time(DELAY_S + 0.2)
    assert drained(queues, DELAYED_FIFO) == [1, 2]


def test_a_dedup_id_is_taken_once_also_after_deletion(queues: QueueHarness) -> None:
    queues.queue.send(FIFO, [message(1, dedup_id="d1"), message(2, dedup_id="d1"), message(3, dedup_id="d2")])
    assert drained(queues, FIFO) == [1, 3]
    queues.queue.send(FIFO, [message(4, dedup_id="d1"), message(5, "other", dedup_id="d2"), message(6, dedup_id="d3")])
    assert drained(queues, FIFO) == [6]


def test_without_a_dedup_id_equal_messages_are_two(queues: QueueHarness) -> None:
    queues.queue.send(FIFO, [message(1), message(1)])
    assert drained(queues, FIFO) == [1, 1]


def test_a_standard_queue_ignores_dedup_ids(queues: QueueHarness) -> None:
    queues.queue.send(STANDARD, [message(1, dedup_id="d1"), message(2, dedup_id="d1")])
    assert sorted(drained(queues, STANDARD)) == [1, 2]


def test_groups_and_dedup_ids_may_be_long(queues: QueueHarness) -> None:
    """Tenant, user and session ids have up to 128 characters each; they share the first 390 here."""
    long = "/".join(letter * 130 for letter in "tus")
    queues.queue.send(FIFO, [message(1, f"{long}1", f"{long}1"), message(2, f"{long}2", f"{long}2")])
    queues.queue.send(FIFO, [message(3, f"{long}1", f"{long}1"), message(4, f"{long}1", f"{long}4")])
    held: list[Delivery] = queues.receive(FIFO, 1)
    assert numbers(held) == [1]
    assert drained(queues, FIFO) == [2]
    queues.delete(FIFO, held[0].receipt)
    assert drained(queues, FIFO) == [4]


# --- concurrency and crashes --------------------------------------------------------------------


def test_eight_consumers_share_the_work(queues: QueueHarness) -> None:
    queues.queue.send(STANDARD, [message(n) for n in range(60)])
    with ThreadPoolExecutor(8) as pool:
        found = [n for part in pool.map(lambda _: drained(queues, STANDARD), range(8)) for n in part]
    assert sorted(found) == list(range(60))


def test_eight_senders_lose_nothing(queues: QueueHarness) -> None:
    def send_ten(thread: int) -> None:
        for n in range(10):
            queues.queue.send(FIFO, [message(thread * 10 + n, group=f"g{thread}")])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(send_ten, range(8)))
    found = drained(queues, FIFO)
    assert sorted(found) == list(range(80))
    for thread in range(8):
        own = [n for n in found if n // 10 == thread]
        assert own == sorted(own)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_killed_sender_loses_nothing_acknowledged(queue_engine: str, tmp_path: Path, seed: int) -> None:
    engine = QUEUES[queue_engine]
    location = engine.create(tmp_path)
    acknowledged = killed_after_some_writes("queue", queue_engine, location, seed)
    with engine.connect(location) as queues:
        found = sorted(drained(queues, STANDARD))
    assert found == list(range(len(found)))
    assert acknowledged <= len(found) <= acknowledged + 1
