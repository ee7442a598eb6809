"""The outbox: which change becomes which message."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from functions.embed import app as embed_app
from functions.outbox import app as outbox_app
from local.workers.worker_events import sequence_number, stream_event
from neve import observability, wiring
from neve.domain.records.memories import Status
from neve.domain.records.sessions import EventType
from neve.domain.times import iso
from neve.ports.queue import QueueName
from neve.store.keys import SessionKeys
from neve.store.stream_records import Change, read_change
from neve.usecases.core.jobs.messages.observation import observation_job_id
from neve.usecases.core.tenants.usage import usage_put
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.background.dispatch_changes import dispatch_changes
from tests.unit.recall_world import RecallWorld

USER, ASSISTANT = EventType.USER_MESSAGE, EventType.ASSISTANT_RESPONSE
BOUNDARY = EventType.TASK_BOUNDARY


@pytest.fixture
def world(recall_world: RecallWorld) -> RecallWorld:
    recall_world.dispatch()
    return recall_world


def append(world: RecallWorld, *types: EventType) -> None:
    events = [NewEvent(kind, "text", event_data={"tool_use_id": "t", "name": "n"}) for kind in types]
    append_events(world.user("ann").of_session("s1"), events)


def observed(world: RecallWorld) -> list[int]:
    """The last seq of each observation that was asked for since the last call."""
    world.dispatch()
    asked = [message.body["last_seq"] for queue, message in world.queue.sent if queue is QueueName.EXTRACT]
    world.queue.sent.clear()
    return asked


# --- memories -----------------------------------------------------------------------------------


def test_a_memory_is_embedded_when_it_comes_when_its_rev_moves_and_when_it_goes(world: RecallWorld) -> None:
    tea = world.remember("tea")
    base = {"kind": "memory", "tenant": world.tenant.id, "user": "ann", "incarnation": 1, "id": tea}
    assert [message.body for message in world.dispatch()] == [base | {"rev": 1}]
    world.change(tea, last_used_at="2027-01-01T00:00:00.000Z")
    assert world.dispatch() == []
    world.change(tea, status=Status.RESOLVED, rev=2)
    assert [message.body for message in world.dispatch()] == [base | {"rev": 2}]
    delete_memory(world.user("ann"), tea, None)
    assert [message.body for message in world.dispatch()] == [base | {"rev": 2}]


def test_changes_of_one_row_in_one_batch_are_one_message(world: RecallWorld) -> None:
    tea = world.remember("tea")
    world.change(tea, rev=2)
    world.change(tea, rev=3)
    messages = world.dispatch()
    assert [message.body["rev"] for message in messages] == [3]
    assert messages[0].group == f"{world.tenant.id}#ann"


# --- events -------------------------------------------------------------------------------------


def test_events_of_one_session_in_one_batch_are_one_message(world: RecallWorld) -> None:
    append(world, USER, ASSISTANT)
    append(world, USER)
    assert [message.body for message in world.dispatch()] == [
        {
            "kind": "events",
            "tenant": world.tenant.id,
            "user": "ann",
            "incarnation": 1,
            "session": "s1",
            "seq_from": 1,
            "seq_to": 3,
        }
    ]


def test_a_complete_turn_is_observed(world: RecallWorld) -> None:
    append(world, USER, ASSISTANT)
    world.dispatch()
    [(queue, message)] = world.queue.sent
    assert queue is QueueName.EXTRACT
    assert message.body["job_id"] == observation_job_id(SessionKeys(world.tenant.id, "ann", "s1"), 1, 2)
    assert message.dedup_id == message.body["job_id"] and message.body["last_seq"] == 2


def test_half_a_turn_is_not(world: RecallWorld) -> None:
    append(world, USER)
    assert observed(world) == []
    append(world, ASSISTANT)
    assert observed(world) == [2]
    append(world, USER)
    assert observed(world) == [], "the turn before it was complete already"
    append(world, EventType.TOOL_CALL, EventType.TOOL_RESULT)
    assert observed(world) == []
    append(world, USER)
    assert observed(world) == [6], "a later user message ends a turn without an answer"


@pytest.mark.parametrize("boundaries", [1, 3])
def test_a_boundary_does_not_count_as_the_end_of_a_turn(world: RecallWorld, boundaries: int) -> None:
    append(world, USER, ASSISTANT)
    assert observed(world) == [2]
    for _ in range(boundaries):
        append(world, BOUNDARY)
    assert observed(world) == []
    append(world, USER)
    assert observed(world) == [], "the turn before the boundary was complete already"
    append(world, BOUNDARY)
    append(world, USER)
    assert observed(world) == [boundaries + 5], "a later user message ends a turn, whatever stands between them"


def test_many_boundaries_are_read_page_by_page(world: RecallWorld) -> None:
    """The stream is everybody's: with a read for each, a thousand of one session held it up for seconds."""
    append(world, USER)
    for _ in range(10):
        append(world, *[BOUNDARY] * 45)
    observed(world)
    append(world, USER)
    world.rows.calls.clear()
    assert observed(world) == [452]
    assert world.rows.calls["get"] + world.rows.calls["query"] < 20, world.rows.calls


def test_a_log_may_begin_with_boundaries(world: RecallWorld) -> None:
    append(world, BOUNDARY)
    append(world, BOUNDARY)
    append(world, USER)
    assert observed(world) == []


def test_a_turn_that_came_in_several_batches_is_observed(world: RecallWorld) -> None:
    append(world, USER)
    append(world, ASSISTANT)
    changes = world.rows.read_changes(0, 100)
    for record in stream_event(changes)["Records"]:
        dispatch_changes(world, [read_change(record)])
    asked = [message.body["last_seq"] for queue, message in world.queue.sent if queue is QueueName.EXTRACT]
    assert asked == [2]


def test_records_that_come_again_ask_for_the_same_again(world: RecallWorld) -> None:
    world.remember("tea")
    append(world, USER, ASSISTANT)
    changes = [read_change(record) for record in stream_event(world.rows.read_changes(0, 100))["Records"]]
    dispatch_changes(world, changes)
    first = list(world.queue.sent)
    dispatch_changes(world, changes)
    assert world.queue.sent == first + first


# --- the ledger ---------------------------------------------------------------------------------


def test_a_recall_that_surfaced_events_moves_memories_only(world: RecallWorld) -> None:
    append(world, USER)
    tea = world.remember("text of a memory")
    world.pump()
    assert set(world.found("text")) == {tea, "evt:s1:1"}
    world.pump()
    assert world.memory(tea).last_accessed_at is not None


def test_older_news_and_a_lost_race_do_not_move_the_access_back(world: RecallWorld) -> None:
    tea = world.remember("tea")
    world.pump()
    world.ask("tea")
    older = [read_change(record) for record in stream_event(world.rows.read_changes(0, 100))["Records"]]
    world.clock.move(hours=1)
    world.ask("tea")
    world.rows.before_write = lambda: world.change(tea, last_used_at="2027-01-01T00:00:00.000Z")
    world.pump()
    row = world.memory(tea)
    assert (row.last_accessed_at, row.last_used_at) == ("2026-03-10T10:30:00.000Z", "2027-01-01T00:00:00.000Z")
    dispatch_changes(world, older)
    assert world.memory(tea).last_accessed_at == "2026-03-10T10:30:00.000Z"


def test_a_conversation_notes_an_access_once_in_ten_minutes(world: RecallWorld) -> None:
    """Neither a write nor, in the process that knows of it, a read."""
    tea = world.remember("tea")
    world.pump()
    began = world.clock.now()
    for minutes, noted, reads in ((0, 0, 1), (3, 0, 0), (9.9, 0, 0), (10, 10, 1), (19, 10, 0), (21, 21, 1)):
        world.clock.freeze(began + timedelta(minutes=minutes))
        world.ask("tea")
        world.rows.calls.clear()
        world.dispatch()
        assert world.rows.calls.get("get_many", 0) == reads, minutes
        assert world.rows.calls.get("write_each", 0) == reads, minutes
        assert world.memory(tea).last_accessed_at == iso(began + timedelta(minutes=noted))


def test_another_process_reads_when_it_was_noted_and_writes_nothing(world: RecallWorld) -> None:
    tea = world.remember("tea")
    world.ask("tea")
    world.pump()
    before = world.memory(tea)
    world.clock.move(minutes=5)
    world.forget()
    world.ask("tea")
    world.pump()
    assert world.memory(tea) == before


def test_a_memory_that_is_gone_by_then_is_left_out(world: RecallWorld) -> None:
    tea = world.remember("tea")
    world.ask("tea")
    delete_memory(world.user("ann"), tea, None)
    world.pump()
    assert world.rows.get(world.tenant.keys.of_user("ann").memory(tea)) is None


# --- records ------------------------------------------------------------------------------------


def test_a_record_is_read_with_every_type_a_row_can_hold() -> None:
    image = {
        "text": {"S": "tea"},
        "n": {"N": "-3"},
        "share": {"N": "0.5"},
        "flag": {"BOOL": False},
        "raw": {"B": "AAH/"},
        "list": {"L": [{"N": "1"}, {"S": "x"}]},
        "map": {"M": {"a": {"L": []}}},
    }
    change = read_change({"dynamodb": {"SequenceNumber": "7", "NewImage": image}})
    assert change == Change(
        "7",
        None,
        {
            "text": "tea",
            "n": -3,
            "share": 0.5,
            "flag": False,
            "raw": b"\x00\x01\xff",
            "list": [1, "x"],
            "map": {"a": []},
        },
    )
    with pytest.raises(ValueError, match="without images"):
        read_change({"dynamodb": {"SequenceNumber": "7"}})
    with pytest.raises(ValueError, match="SS"):
        read_change({"dynamodb": {"SequenceNumber": "7", "NewImage": {"x": {"SS": ["1"]}}}})


# --- the functions ------------------------------------------------------------------------------


@pytest.fixture
def installed(world: RecallWorld) -> RecallWorld:
    wiring.install(world)
    return world


def outbox(changes: Any) -> list[dict[str, str]]:
    failures: list[dict[str, str]] = outbox_app.handler(stream_event(changes), None)["batchItemFailures"]
    return failures


def test_a_batch_that_works_names_no_failure(installed: RecallWorld) -> None:
    installed.remember("tea")
    assert outbox(installed.rows.read_changes(0, 100)) == []
    assert len(installed.queue.sent) == 1


def test_a_batch_that_fails_is_named_from_its_first_failure_on(
    installed: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed.open("s2")
    tea = installed.remember("tea")
    changes = installed.rows.read_changes(0, 100)

    def fail(queue: Any, messages: Any) -> None:
        raise RuntimeError("no queue")

    with monkeypatch.context() as broken:
        broken.setattr(installed.queue, "send", fail)
        [failed] = outbox(changes)
    first = next(change for change in changes if change.key.sk.startswith("MEM#"))
    assert failed["itemIdentifier"] == sequence_number(first)
    assert outbox([change for change in changes if change.seq >= first.seq]) == []
    assert [message.body["id"] for _, message in installed.queue.sent] == [tea]


@pytest.mark.parametrize("broken_for", [1, 2])
def test_what_a_model_cost_is_counted_also_of_a_batch_that_failed_as_one(
    installed: RecallWorld, monkeypatch: pytest.MonkeyPatch, broken_for: int
) -> None:
    """Once: what is named as failed comes again, and is counted then."""
    keys = installed.tenant.keys.of_user("ann")
    installed.rows.write([usage_put(keys, None, {"model_calls": 1, "model_input_tokens": 7})])
    installed.remember("tea")
    counted: list[float] = []
    monkeypatch.setattr(
        observability, "emit_metrics", lambda _, values: counted.append(values.get("ModelInputTokens", 0))
    )
    send, calls = installed.queue.send, iter(range(10))

    def fails_at_first(queue: Any, messages: Any) -> None:
        if next(calls) < broken_for:
            raise RuntimeError("no queue")
        send(queue, messages)

    monkeypatch.setattr(installed.queue, "send", fails_at_first)
    changes = installed.rows.read_changes(0, 100)
    failed = [one["itemIdentifier"] for one in outbox(changes)]
    assert len(failed) == broken_for - 1
    outbox([change for change in changes if sequence_number(change) in failed])
    assert sum(counted) == 7


def test_the_embed_function_names_the_messages_that_failed(
    installed: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = installed.remember("tea"), installed.remember("POISON")
    installed.faults.replace([{"target": "embed", "fault": "error", "match": "POISON"}])
    attributes = {"ApproximateReceiveCount": "1"}
    records = [
        {"messageId": m.body["id"], "body": json.dumps(m.body), "attributes": attributes} for m in installed.dispatch()
    ]
    assert {record["messageId"] for record in records} == {good, bad}
    assert embed_app.handler({"Records": records}, None) == {"batchItemFailures": [{"itemIdentifier": bad}]}
    assert installed.clock.slept == [0.5, 1.0]
