"""What asks for a compaction: an append, the end of a session, a prompt that is too long; and that nothing is lost on
the way to the worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from neve.domain.errors import NeveError
from neve.domain.records.jobs import Job
from neve.domain.records.sessions import EventType
from neve.ports.queue import QueueName
from neve.ports.table import MAX_WRITE_OPS, WriteOp
from neve.store import rows
from neve.store.idempotency import IdempotencyKey
from neve.store.stream_records import Change
from neve.usecases.ask.sessions.read_sessions import get_session
from neve.usecases.tell.requests.end_session import end_session
from neve.usecases.tell.sessions.append_events import Appended, NewEvent, append_events
from neve.usecases.work.background.dispatch_changes import dispatch_changes
from neve.usecases.work.background.refill_queues import refill_queues
from neve.usecases.work.erase.erase_user import begin_erasure
from tests.unit.world import World


@pytest.fixture
def world(new_world: World) -> World:
    new_world.with_policy(window=2_000)
    new_world.open()
    return new_world


def scope_of(world: World) -> Any:
    return world.user("ann").of_session("s1")


def append(world: World, *tokens: int, **more: Any) -> Appended:
    events = [NewEvent(EventType.USER_MESSAGE, "u" * (n * 16 // 5), **more) for n in tokens]
    return append_events(scope_of(world), events)


def jobs(world: World) -> list[dict[str, Any]]:
    return list(world.table.query(world.tenant.keys.jobs, limit=100).items)


def tell(world: World, *items: dict[str, Any]) -> list[tuple[QueueName, dict[str, Any]]]:
    """What the outbox sends for rows that are new."""
    world.queue.sent.clear()
    dispatch_changes(world, [Change("1", None, item) for item in items])
    return [(queue, dict(message.body)) for queue, message in world.queue.sent]


# --- an append --------------------------------------------------------------------------------------


def test_it_is_one_read_and_one_transaction(world: World) -> None:
    world.table.calls.clear()

    append(world, 1_000)

    assert world.table.calls == {"get_many": 1, "write": 1}


def test_the_largest_append_fits_a_transaction(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    real = world.table.write

    def write(ops: Sequence[WriteOp]) -> None:
        sizes.append(len(ops))
        real(ops)

    monkeypatch.setattr(world.table, "write", write)
    events = [NewEvent(EventType.USER_MESSAGE, "u" * 320, client_id=f"c{n}") for n in range(48)]

    appended = append_events(scope_of(world), events, IdempotencyKey("POST /events", "k", "k"))

    assert appended.compaction == "queued"
    assert sizes == [MAX_WRITE_OPS]


def test_a_lost_answer_costs_no_second_job(world: World) -> None:
    world.table.lose_response = True

    appended = append(world, 1_000)

    assert appended.compaction == "queued"
    [job] = jobs(world)
    assert f"job_{job['sk']}" == appended.compaction_job_id


def test_a_lost_answer_without_a_job_says_so(world: World) -> None:
    world.table.lose_response = True

    assert append(world, 10).compaction == "none"


def test_what_a_compaction_has_put_away_counts_no_more(world: World) -> None:
    append(world, 990)
    epoch = get_session(scope_of(world)).epoch
    settled = replace(epoch, epoch=1, covers_from=1, covers_to=1, settled_tokens=600)
    world.table.write([rows.put_epoch(scope_of(world).keys, settled, world.clock.now())])

    assert append(world, 609).compaction == "none"
    assert append(world, 1).compaction == "queued"


# --- to the worker ----------------------------------------------------------------------------------


def test_the_row_is_the_message(world: World) -> None:
    job_id = append(world, 1_000).compaction_job_id
    [item] = jobs(world)

    sent = tell(world, item)

    assert sent == [
        (
            QueueName.COMPACT,
            {
                "work": "compact",
                "tenant": "acme",
                "user": "ann",
                "session": "s1",
                "incarnation": 1,
                "job_id": job_id,
                "reason": "tokens",
            },
        )
    ]
    assert world.queue.sent[0][1].dedup_id == job_id
    assert tell(world, item) == sent, "a record that comes twice is the same message"


def test_a_job_that_was_sent_already_is_not_sent_again(world: World) -> None:
    scope = scope_of(world)
    job = Job("job_1", "compact", "queued", "2026-03-10T09:30:00.000Z", user_id="ann", session_id="s1")
    world.table.write([rows.put_job(scope.keys, job)])

    assert tell(world, *jobs(world)) == []


def test_a_queue_that_was_lost_is_filled_from_the_jobs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id = append(world, 1_000).compaction_job_id
    monkeypatch.setattr("neve.usecases.work.background.refill_queues.all_tenants", lambda _: ["acme"])
    monkeypatch.setattr("neve.usecases.work.background.refill_queues._requeue_user", lambda *_: 0)

    refill_queues(world, lambda _: None)

    compactions = [dict(message.body) for queue, message in world.queue.sent if queue is QueueName.COMPACT]
    assert [(one["job_id"], one["reason"]) for one in compactions] == [(job_id, "tokens")]


# --- the end ----------------------------------------------------------------------------------------


def test_the_end_closes_the_session_and_queues_its_compaction_at_once(world: World) -> None:
    append(world, 10)

    job = end_session(scope_of(world), "PARTIAL")

    head = get_session(scope_of(world)).head
    assert (head.status, head.outcome) == ("closed", "PARTIAL")
    [(queue, body)] = tell(world, *jobs(world))
    assert (queue, body["job_id"], body["reason"]) == (QueueName.COMPACT, job.id, "end")


def test_who_ends_it_again_gets_the_same_job(world: World) -> None:
    first = end_session(scope_of(world), "PARTIAL")

    assert end_session(scope_of(world)).id == first.id
    assert get_session(scope_of(world)).head.outcome == "PARTIAL"
    assert end_session(scope_of(world), "SUCCESS").id == first.id
    assert get_session(scope_of(world)).head.outcome == "SUCCESS"
    assert len(jobs(world)) == 1


def test_an_append_opens_it_again_and_another_end_is_another_job(world: World) -> None:
    first = end_session(scope_of(world), "SUCCESS")
    append(world, 10)

    head = get_session(scope_of(world)).head
    assert (head.status, head.outcome) == ("open", None)
    assert end_session(scope_of(world)).id != first.id


def test_an_append_that_was_faster_is_not_lost(world: World) -> None:
    append(world, 10)
    world.table.before_write = lambda: void(append(world, 10))

    job = end_session(scope_of(world))

    head = get_session(scope_of(world)).head
    assert (head.status, head.last_seq) == ("closed", 2)
    assert [row["sk"] for row in jobs(world)] == [job.id.removeprefix("job_")]


def void(_: object) -> None:
    return None


@pytest.mark.parametrize(("state", "refused_as"), [("active", "session_not_found"), ("erasing", "erasing")])
def test_what_cannot_be_ended(world: World, state: str, refused_as: str) -> None:
    """Of a user who is being erased, the rows may be gone before the erasure is done."""
    if state == "erasing":
        begin_erasure(world.table, scope_of(world).keys)

    with pytest.raises(NeveError) as refusal:
        end_session(world.user("ann").of_session("nope"))

    assert refusal.value.code == refused_as
