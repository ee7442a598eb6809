"""What the embedded queue does beyond the contract, or beyond the patience of a real clock."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local.engine.sqlite_queue import (
    DELIVERABLE_FIFO_GROUP,
    DELIVERABLE_GROUPS,
    DELIVERABLE_OF_GROUP,
    Counts,
    QueueDefinition,
    Received,
    SqliteQueue,
)
from neve.ports.errors import StoreUnavailable
from neve.ports.queue import Message, QueueName
from tests.contract.engines.patience import answers_at_once
from tests.contract.engines.registry import ManualClock

STANDARD, FIFO = QueueName.EMBED, QueueName.EXTRACT
DEFINITIONS = {
    STANDARD: QueueDefinition(fifo=False, visibility_s=60, max_receives=3, dlq="embed-dlq"),
    FIFO: QueueDefinition(fifo=True, visibility_s=90, delay_s=5, max_receives=3, dlq="extract-dlq.fifo"),
    "embed-dlq": QueueDefinition(fifo=False, visibility_s=30),
    "extract-dlq.fifo": QueueDefinition(fifo=True, visibility_s=30),
}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def queue(tmp_path: Path, clock: ManualClock) -> Iterator[SqliteQueue]:
    with closing(SqliteQueue(tmp_path / "queue.db", clock, DEFINITIONS)) as opened:
        yield opened


def message(n: int, group: str = "g", dedup_id: str | None = None) -> Message:
    return Message({"n": n}, group, dedup_id)


def bodies(batch: list[Received]) -> list[str]:
    return [received.body for received in batch]


def test_a_dedup_id_may_be_used_again_after_five_minutes(queue: SqliteQueue, clock: ManualClock) -> None:
    queue.send(FIFO, [message(1, dedup_id="d")])
    clock.advance(299)
    queue.send(FIFO, [message(2, dedup_id="d")])
    assert queue.counts(FIFO) == Counts(visible=1, in_flight=0, delayed=0, dlq=0)
    clock.advance(1)
    queue.send(FIFO, [message(3, dedup_id="d")])
    assert queue.counts(FIFO) == Counts(visible=1, in_flight=0, delayed=1, dlq=0)


def test_dedup_ids_survive_a_restart(tmp_path: Path, clock: ManualClock) -> None:
    for n in range(2):
        with closing(SqliteQueue(tmp_path / "queue.db", clock, DEFINITIONS)) as queue:
            queue.send(FIFO, [message(n, dedup_id="d")])
            clock.advance(5)
            batch = queue.receive(FIFO, 10, clock.now())
            assert bodies(batch) == (['{"n":0}'] if n == 0 else [])
            for received in batch:
                assert queue.delete(FIFO, received.receipt)


def test_a_fifo_batch_holds_one_group(queue: SqliteQueue, clock: ManualClock) -> None:
    queue.send(FIFO, [message(n, group=f"g{n % 2}") for n in range(6)])
    clock.advance(5)
    assert bodies(queue.receive(FIFO, 10, clock.now())) == ['{"n":0}', '{"n":2}', '{"n":4}']
    assert bodies(queue.receive(FIFO, 2, clock.now())) == ['{"n":1}', '{"n":3}']
    assert queue.receive(FIFO, 10, clock.now()) == []


def test_a_delayed_message_holds_back_the_younger_ones_of_its_group(queue: SqliteQueue, clock: ManualClock) -> None:
    queue.send(FIFO, [message(1)])
    clock.advance(5)
    [first] = queue.receive(FIFO, 10, clock.now())
    queue.send(FIFO, [message(2), message(3, group="other")])
    assert queue.release(FIFO, first.receipt, 20)
    clock.advance(6)
    assert bodies(queue.receive(FIFO, 10, clock.now())) == ['{"n":3}']
    assert queue.receive(FIFO, 10, clock.now()) == []
    clock.advance(15)
    assert bodies(queue.receive(FIFO, 10, clock.now())) == ['{"n":1}', '{"n":2}']


def test_a_batch_ends_before_the_first_message_that_is_still_delayed(queue: SqliteQueue, clock: ManualClock) -> None:
    queue.send(FIFO, [message(1)])
    clock.advance(3)
    queue.send(FIFO, [message(2)])
    clock.advance(2)
    [first] = queue.receive(FIFO, 10, clock.now())
    assert first.body == '{"n":1}'
    queue.delete(FIFO, first.receipt)
    assert queue.receive(FIFO, 10, clock.now()) == []
    clock.advance(3)
    assert bodies(queue.receive(FIFO, 10, clock.now())) == ['{"n":2}']


HOUR_S = 3600


def test_a_clock_that_is_set_back_changes_neither_delay_nor_order(queue: SqliteQueue, clock: ManualClock) -> None:
    queue.send(FIFO, [message(1)])
    clock.advance(-HOUR_S)
    queue.send(FIFO, [message(2), message(3, group="other")])
    assert queue.receive(FIFO, 10, clock.now()) == []
    clock.advance(5)
    assert bodies(queue.receive(FIFO, 10, clock.now())) == ['{"n":1}', '{"n":2}']
    assert bodies(queue.receive(FIFO, 10, clock.now())) == ['{"n":3}']


def test_what_was_in_flight_when_the_clock_was_set_back_returns_in_its_time(
    queue: SqliteQueue, clock: ManualClock
) -> None:
    queue.send(STANDARD, [message(1)])
    queue.receive(STANDARD, 10, clock.now())
    clock.advance(-HOUR_S)
    assert queue.receive(STANDARD, 10, clock.now()) == []
    clock.advance(60)
    assert bodies(queue.receive(STANDARD, 10, clock.now())) == ['{"n":1}']


def test_a_dedup_id_is_free_in_its_time_though_the_clock_was_set_back(queue: SqliteQueue, clock: ManualClock) -> None:
    queue.send(FIFO, [message(1, dedup_id="d")])
    clock.advance(-HOUR_S)
    queue.send(FIFO, [message(2, dedup_id="d")])
    assert queue.counts(FIFO).delayed == 1
    clock.advance(300)
    queue.send(FIFO, [message(3, dedup_id="d")])
    assert queue.counts(FIFO) == Counts(visible=1, in_flight=0, delayed=1, dlq=0)


def test_a_clock_that_was_set_back_between_two_starts_hides_nothing(tmp_path: Path, clock: ManualClock) -> None:
    with closing(SqliteQueue(tmp_path / "queue.db", clock, DEFINITIONS)) as queue:
        queue.send(FIFO, [message(1)])
    clock.advance(-HOUR_S)
    with closing(SqliteQueue(tmp_path / "queue.db", clock, DEFINITIONS)) as queue:
        clock.advance(5)
        assert bodies(queue.receive(FIFO, 10, clock.now())) == ['{"n":1}']


def test_a_consumer_that_looks_ahead_sets_no_clock_back(queue: SqliteQueue, clock: ManualClock) -> None:
    """As a drain does."""
    queue.send(STANDARD, [message(1)])
    [first] = queue.receive(STANDARD, 10, clock.now())
    assert queue.release(STANDARD, first.receipt, HOUR_S)
    assert queue.receive(STANDARD, 10, clock.now() + timedelta(seconds=50)) == []
    assert queue.receive(STANDARD, 10, clock.now()) == []
    clock.advance(61)
    assert queue.receive(STANDARD, 10, clock.now()) == []


def test_exhausted_messages_take_no_place_in_a_batch(queue: SqliteQueue, clock: ManualClock) -> None:
    queue.send(STANDARD, [message(1), message(2)])
    for _ in range(3):
        assert len(queue.receive(STANDARD, 10, clock.now())) == 2
        clock.advance(60)
    queue.send(STANDARD, [message(3), message(4), message(5)])
    assert bodies(queue.receive(STANDARD, 3, clock.now())) == ['{"n":3}', '{"n":4}', '{"n":5}']
    assert queue.counts(STANDARD) == Counts(visible=0, in_flight=3, delayed=0, dlq=2)


def test_a_group_whose_head_is_exhausted_delivers_the_rest(queue: SqliteQueue, clock: ManualClock) -> None:
    queue.send(FIFO, [message(1)])
    clock.advance(5)
    for _ in range(3):
        [received] = queue.receive(FIFO, 10, clock.now())
        clock.advance(91)
    queue.send(FIFO, [message(2), message(3)])
    clock.advance(5)
    assert bodies(queue.receive(FIFO, 10, clock.now())) == ['{"n":2}', '{"n":3}']
    [letter] = queue.receive("extract-dlq.fifo", 10, clock.now())
    assert letter.id == received.id
    assert letter.attributes["DeadLetterQueueSourceArn"] == "extract"


def test_attributes_are_those_of_sqs(queue: SqliteQueue, clock: ManualClock) -> None:
    queue.send(FIFO, [message(1, group="t/u/s", dedup_id="d")])
    sent_ms = int(clock.now().timestamp() * 1000)
    clock.advance(5)
    queue.receive(FIFO, 10, clock.now())
    clock.advance(90)
    [received] = queue.receive(FIFO, 10, clock.now())
    assert received.attributes == {
        "ApproximateReceiveCount": "2",
        "SentTimestamp": str(sent_ms),
        "ApproximateFirstReceiveTimestamp": str(sent_ms + 5000),
        "MessageGroupId": "t/u/s",
        "SequenceNumber": f"{1:020d}",
        "MessageDeduplicationId": "d",
    }
    queue.send(STANDARD, [message(1, group="t1", dedup_id="ignored")])
    [received] = queue.receive(STANDARD, 10, clock.now())
    assert received.attributes.keys() == {
        "ApproximateReceiveCount",
        "SentTimestamp",
        "ApproximateFirstReceiveTimestamp",
        "MessageGroupId",
    }


def test_the_consumer_may_say_what_time_it_is(queue: SqliteQueue, clock: ManualClock) -> None:
    queue.send(FIFO, [message(1)])
    assert queue.receive(FIFO, 10, clock.now()) == []
    later = ManualClock()
    later.advance(5)
    assert bodies(queue.receive(FIFO, 10, later.now())) == ['{"n":1}']


def test_counts_follow_a_message_through_its_life(queue: SqliteQueue, clock: ManualClock) -> None:
    assert queue.counts(FIFO) == Counts(0, 0, 0, 0)
    queue.send(FIFO, [message(1, group="a"), message(2, group="b")])
    assert queue.counts(FIFO) == Counts(visible=0, in_flight=0, delayed=2, dlq=0)
    clock.advance(5)
    [first] = queue.receive(FIFO, 1, clock.now())
    assert queue.counts(FIFO) == Counts(visible=1, in_flight=1, delayed=0, dlq=0)
    assert queue.delete(FIFO, first.receipt)
    for _ in range(4):
        queue.receive(FIFO, 1, clock.now())
        clock.advance(90)
    assert queue.counts(FIFO) == Counts(visible=0, in_flight=0, delayed=0, dlq=1)
    assert queue.counts("extract-dlq.fifo") == Counts(visible=1, in_flight=0, delayed=0, dlq=0)
    assert queue.counts(STANDARD) == Counts(0, 0, 0, 0)


def test_a_receipt_is_good_for_its_own_queue_and_delivery_only(queue: SqliteQueue, clock: ManualClock) -> None:
    queue.send(STANDARD, [message(1)])
    [first] = queue.receive(STANDARD, 1, clock.now())
    assert not queue.delete(FIFO, first.receipt)
    assert not queue.release(FIFO, first.receipt, 0)
    assert not queue.delete(STANDARD, "made up")
    clock.advance(60)
    [second] = queue.receive(STANDARD, 1, clock.now())
    assert not queue.release(STANDARD, first.receipt, 0)
    assert not queue.delete(STANDARD, first.receipt)
    assert queue.delete(STANDARD, second.receipt)
    assert not queue.delete(STANDARD, second.receipt)


def test_waiting_ends_when_something_may_be_new_since_the_last_empty_look(
    queue: SqliteQueue, clock: ManualClock
) -> None:
    both = [STANDARD, FIFO]
    assert queue.wait_for_messages(both, 0)
    for name in both:
        queue.receive(name, 10, clock.now())
    assert not queue.wait_for_messages(both, 0)
    queue.send(FIFO, [message(1), message(2)])
    assert not queue.wait_for_messages([STANDARD], 0)
    assert answers_at_once(lambda: queue.wait_for_messages(both, threading.TIMEOUT_MAX))
    clock.advance(5)
    [received] = queue.receive(FIFO, 1, clock.now())
    assert queue.wait_for_messages(both, 0), "another consumer may find the next one"
    assert queue.receive(FIFO, 1, clock.now()) == []
    assert not queue.wait_for_messages(both, 0)
    queue.release(FIFO, received.receipt, 0)
    assert queue.wait_for_messages([FIFO], 0)
    [received] = queue.receive(FIFO, 1, clock.now())
    assert queue.receive(FIFO, 1, clock.now()) == []
    queue.delete(FIFO, received.receipt)
    assert queue.wait_for_messages([FIFO], 0)


def test_a_send_wakes_the_consumer(queue: SqliteQueue, clock: ManualClock) -> None:
    found: list[str] = []

    def consume() -> None:
        while len(found) < 100:
            batch = queue.receive(STANDARD, 3, clock.now())
            found.extend(bodies(batch))
            if not batch:
                assert queue.wait_for_messages([STANDARD], 60)

    consumer = threading.Thread(target=consume)
    consumer.start()
    for n in range(100):
        queue.send(STANDARD, [message(n)])
    consumer.join(60)
    assert found == [f'{{"n":{n}}}' for n in range(100)]


def test_a_dead_letter_wakes_its_consumer(queue: SqliteQueue, clock: ManualClock) -> None:
    queue.send(STANDARD, [message(1)])
    queue.receive("embed-dlq", 1, clock.now())
    for _ in range(4):
        queue.receive(STANDARD, 1, clock.now())
        clock.advance(60)
    assert queue.wait_for_messages(["embed-dlq"], 0)


def test_closing_wakes_the_consumer_and_ends_the_queue(queue: SqliteQueue, clock: ManualClock) -> None:
    queue.receive(STANDARD, 1, clock.now())
    answers: list[bool] = []
    consumer = threading.Thread(target=lambda: answers.append(queue.wait_for_messages([STANDARD], 60)))
    consumer.start()
    queue.close()
    consumer.join(60)
    assert answers == [False]
    with pytest.raises(StoreUnavailable, match="queue: closed"):
        queue.send(STANDARD, [message(1)])
    with pytest.raises(StoreUnavailable, match="queue: closed"):
        queue.receive(STANDARD, 1, clock.now())


def test_an_unknown_queue_is_a_value_error(queue: SqliteQueue, clock: ManualClock) -> None:
    with pytest.raises(ValueError, match="no queue is named compact"):
        queue.send(QueueName.COMPACT, [message(1)])
    with pytest.raises(ValueError, match="no queue is named other"):
        queue.receive("other", 1, clock.now())


@pytest.mark.parametrize(
    ("definition", "reason"),
    [
        (QueueDefinition(fifo=False, visibility_s=1, max_receives=3), "both max_receives and dlq"),
        (QueueDefinition(fifo=False, visibility_s=1, dlq="d"), "both max_receives and dlq"),
        (QueueDefinition(fifo=False, visibility_s=1, max_receives=3, dlq="e"), "e of q is not defined"),
        (QueueDefinition(fifo=True, visibility_s=1, max_receives=3, dlq="d"), "of one type"),
    ],
)
def test_definitions_must_fit_together(tmp_path: Path, definition: QueueDefinition, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        SqliteQueue(tmp_path / "queue.db", ManualClock(), {"q": definition, "d": QueueDefinition(False, 1)})


def test_the_backlog_of_one_group_holds_up_no_other(queue: SqliteQueue, clock: ManualClock) -> None:
    """As a fair queue of SQS."""
    queue.send(STANDARD, [message(n, group="busy") for n in range(20)])
    queue.send(STANDARD, [message(100, group="calm"), message(101, group="calm")])
    assert bodies(queue.receive(STANDARD, 4, clock.now())) == ['{"n":0}', '{"n":100}', '{"n":1}', '{"n":101}']
    queue.send(STANDARD, [message(200, group="new")])
    assert bodies(queue.receive(STANDARD, 2, clock.now())) == ['{"n":200}', '{"n":2}'], "nothing of it is in flight"


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("send"), st.lists(st.sampled_from("abcd"), min_size=1, max_size=6)),
            st.tuples(st.just("receive"), st.integers(1, 6)),
            st.tuples(st.just("delete"), st.integers(0, 20)),
        ),
        max_size=20,
    )
)
def test_whoever_has_less_in_flight_goes_first(history: list[tuple[str, list[str] | int]]) -> None:
    """Of each group the oldest first; what is taken counts as in flight for what follows."""
    clock = ManualClock()
    with TemporaryDirectory() as folder, closing(SqliteQueue(Path(folder) / "q.db", clock, DEFINITIONS)) as queue:
        waiting: list[tuple[int, str]] = []
        flying: list[tuple[str, str]] = []
        sent = 0
        for what, given_ in history:
            if what == "send" and isinstance(given_, list):
                messages = list(enumerate(given_, start=sent))
                sent += len(messages)
                waiting += messages
                queue.send(STANDARD, [message(n, group) for n, group in messages])
            elif what == "receive" and isinstance(given_, int):
                batch = queue.receive(STANDARD, given_, clock.now())
                expected = _fairest(waiting, Counter(group for group, _ in flying), given_)
                assert bodies(batch) == [f'{{"n":{n}}}' for n, _ in expected]
                flying += [(group, one.receipt) for (_, group), one in zip(expected, batch, strict=True)]
                waiting = [one for one in waiting if one not in expected]
            elif flying and isinstance(given_, int):
                _, receipt = flying.pop(given_ % len(flying))
                assert queue.delete(STANDARD, receipt)


def _fairest(waiting: list[tuple[int, str]], flying: Counter[str], limit: int) -> list[tuple[int, str]]:
    placed = []
    for n, group in waiting:
        flying[group] += 1
        placed.append((flying[group], n, group))
    return [(n, group) for _, n, group in sorted(placed)[:limit]]


@pytest.mark.parametrize("statement", [DELIVERABLE_GROUPS, DELIVERABLE_OF_GROUP, DELIVERABLE_FIFO_GROUP])
def test_no_receive_reads_a_backlog(statement: str, queue: SqliteQueue, tmp_path: Path) -> None:
    """It looks each group up in an index, and no message that it does not take."""
    queue.send(STANDARD, [message(n) for n in range(3)])
    asked = dict.fromkeys(("queue", "now", "limit"), 1) if ":queue" in statement else (1, 1, 1, 1)
    with closing(sqlite3.connect(tmp_path / "queue.db")) as connection:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", asked)]
    assert any("messages_of_group" in step for step in plan), plan
    assert [step for step in plan if step.startswith("SCAN messages")] == [], plan
