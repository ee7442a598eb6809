"""Jobs and deletions that the outbox has given up are sent by the sweep (docs/rules/jobs.md#lost)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from neve.domain.recall.query import shape
from neve.domain.records.jobs import Job
from neve.domain.records.memories import Kind
from neve.domain.records.retractions import RetractReason
from neve.ports.errors import StoreUnavailable
from neve.ports.queue import QueueName
from neve.ports.search import Owner, SearchFilter
from neve.ports.table import Item, Put, Version
from neve.store import rows
from neve.store.partitions import due_rows
from neve.store.stream_records import Change
from neve.usecases.core.jobs.finish_job import carry_on_job, finish_job
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.jobs.read_jobs import find_job
from neve.usecases.core.memories.replace_rows import LEASE_S, Replacement, _Replacing, replace_rows, resolve_replacement
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.import_memories import ImportedRow, import_memories
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.tell.requests.end_session import end_session
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.background.dispatch_changes import dispatch_changes
from neve.usecases.work.background.send_lost import resend_deletion
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.erase.erase_user import begin_erasure, erase_user
from neve.usecases.work.retract.left_index import with_index
from neve.usecases.work.retract.run_retraction import run_retraction
from neve.workers.sweep import sweep
from tests.unit.recall_world import RecallWorld

Ask = Callable[[RecallWorld], str]


def end(world: RecallWorld) -> str:
    return end_session(world.session).id


def delete_events(world: RecallWorld) -> str:
    return retract_events(world.session, Retract(1, 2, "deleted")).job_id


def job_of(world: RecallWorld, job_id: str) -> Job:
    job = find_job(world.scope, job_id)
    assert job is not None
    return job


def row_of(world: RecallWorld, job_id: str) -> Item:
    return world.rows.get(world.scope.keys.job(job_id)) or {}


def sent(world: RecallWorld, queue: QueueName) -> list[dict[str, Any]]:
    return [dict(message.body) for message in world.taken(queue)]


def sweep_after(world: RecallWorld, minutes: float) -> list[dict[str, Any]]:
    """The jobs that it sends."""
    world.clock.move(minutes=minutes)
    sweep_due(world)
    return sent(world, QueueName.COMPACT)


# --- jobs -----------------------------------------------------------------------------------------

for_both = pytest.mark.parametrize(("ask", "work"), [(end, "compact"), (delete_events, "retract")])


@for_both
def test_a_job_that_nobody_sent_is_sent_by_the_sweep(world: RecallWorld, ask: Ask, work: str) -> None:
    job_id = ask(world)
    assert sweep_after(world, 9) == []
    assert [(one["work"], one["job_id"]) for one in sweep_after(world, 11)] == [(work, job_id)]
    assert job_of(world, job_id).status == "queued"


@for_both
def test_its_message_is_that_of_the_outbox(world: RecallWorld, ask: Ask, work: str) -> None:
    job_id = ask(world)
    dispatch_changes(world, [Change("", None, row_of(world, job_id))])
    [first] = sent(world, QueueName.COMPACT)
    assert sweep_after(world, 20) == [first]
    assert first["work"] == work


def test_it_is_sent_more_and_more_seldom_until_it_ends(world: RecallWorld) -> None:
    """After a quarter of an hour, and when as much time has gone by again as it had waited."""
    job_id = end(world)
    times = []
    for minute in range(10, 200, 10):
        times += [minute for _ in sweep_after(world, 10)]
    assert times == [10, 20, 40, 80, 160]
    carry_on_job(world.session, job_id, "compact", {"passes": 1})
    assert row_of(world, job_id)["type"] == rows.QUEUED_JOB, "who works on may die as well"
    finish_job(world.session, job_id, "compact", "done", {})
    assert list(due_rows(world.rows, rows.QUEUED)) == []
    assert sweep_after(world, 1_000) == []


def test_while_it_is_at_work_the_index_is_not_charged(world: RecallWorld) -> None:
    job_id = end(world)
    [before] = due_rows(world.rows, rows.QUEUED)
    carry_on_job(world.session, job_id, "compact", {"passes": 1})
    [after] = due_rows(world.rows, rows.QUEUED)
    projected = ("type", "id", "tenant_id", "user_id", "session_id", "due_pk", "due_sk")
    assert [before[name] for name in projected] == [after[name] for name in projected]


def test_a_queue_that_fails_leaves_it_due(world: RecallWorld) -> None:
    end(world)
    world.clock.move(minutes=20)
    reported: list[tuple[str, Exception]] = []

    def refuse(*_: object) -> None:
        raise StoreUnavailable("queue", "down")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(world.queue, "send", refuse)
        with pytest.raises(StoreUnavailable):
            sweep_due(world, on_failure=lambda kind, error: reported.append((kind, error)))
    assert [kind for kind, _ in reported] == [rows.QUEUED]
    assert len(sweep_after(world, 0)) == 1


def test_a_job_from_before_it_was_due_is_sent_when_it_is_asked_for_again(world: RecallWorld) -> None:
    for ask in (end, delete_events):
        job_id = ask(world)
        old = {name: value for name, value in row_of(world, job_id).items() if not name.startswith("due_")}
        world.rows.write([Put(old, Version(old["version"]))])
        assert sweep_after(world, 5) == []
        assert ask(world) == job_id
        assert sweep_after(world, 0) == [], "its message may be on its way"
        world.clock.move(minutes=5)
        assert ask(world) == job_id
        assert [one["job_id"] for one in sweep_after(world, 0)] == [job_id]
        finish_job(world.session, job_id, job_of(world, job_id).kind, "done", {})
        assert ask(world) == job_id
        assert sweep_after(world, 60) == []


@for_both
def test_a_job_that_failed_is_sent_when_it_is_asked_for_again(world: RecallWorld, ask: Ask, work: str) -> None:
    job_id = ask(world)
    finish_job(world.session, job_id, work, "failed", {"passes": 1, "reason": "the model refused"})
    assert sweep_after(world, 60) == []
    assert ask(world) == job_id
    job = job_of(world, job_id)
    assert (job.status, job.finished_at, job.result) == ("queued", None, {"passes": 1})
    assert [one["job_id"] for one in sweep_after(world, 0)] == [job_id]


def test_the_sweep_counts_and_names_it(
    world: RecallWorld, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    job_id = end(world)
    world.clock.move(minutes=20)
    assert sweep(world, None)["lost"] == 1
    assert '"JobsResent":[1.0]' in capsys.readouterr().out
    [line] = [vars(record) for record in caplog.records if record.message == "job sent again"]
    assert (line["component"], line["kind"], line["job_id"]) == ("sweep", "compact", job_id)


# --- what goes with a job, or behind it -----------------------------------------------------------


def found(world: RecallWorld, word: str) -> list[str]:
    anything = SearchFilter(statuses=())
    return [
        one.item_id
        for one in world.index.search_text(Owner("acme", "ann"), shape(word).text_query, anything, 10).candidates
    ]


def hear(world: RecallWorld) -> None:
    """The index worker handles what the outbox has told it."""
    assert world.words(world.dispatch()) == {}


def run_job(world: RecallWorld, job_id: str) -> None:
    run_retraction(world.session, message_of_row(row_of(world, job_id)).body)


def receipt(world: RecallWorld, job_id: str) -> dict[str, Any]:
    told: dict[str, Any] = with_index(world.scope, job_of(world, job_id)).result["erased"]
    return told


@pytest.mark.parametrize("reason", ["deleted", "edited"])
def test_a_message_leaves_the_index_although_its_own_message_is_a_dead_letter(
    world: RecallWorld, reason: RetractReason
) -> None:
    """The index was down for half an hour: what the outbox sent was delivered five times, and given up."""
    world.say("Ann collects ocarinas.", "Noted.")
    world.pump()
    assert "evt:s1:3" in found(world, "ocarinas")
    job_id = retract_events(world.session, Retract(3, 3, reason)).job_id
    give_up(world)
    run_job(world, job_id)
    give_up(world)
    assert job_of(world, job_id).status == "done"
    assert "evt:s1:3" in found(world, "ocarinas")
    world.clock.move(minutes=31)
    assert sweep_due(world)["deletions"] == 1
    world.words(world.taken(QueueName.INDEX))
    assert found(world, "ocarinas") == []
    world.clock.move(minutes=60)
    assert (list(due_rows(world.rows, rows.LEAVE)), sweep_due(world)["deletions"]) == ([], 0)


def test_it_is_sent_by_every_sweep_until_it_has_left(world: RecallWorld) -> None:
    world.pump()
    delete_events(world)
    give_up(world)
    world.clock.move(minutes=9)
    assert sweep_due(world)["deletions"] == 0
    for _ in range(3):
        world.clock.move(minutes=21)
        assert sweep_due(world)["deletions"] == 1
        assert sum("retraction" in one for one in sent(world, QueueName.INDEX)) == 1


def test_a_sweep_finds_nothing_to_send_of_a_user_who_was_erased_meanwhile(world: RecallWorld) -> None:
    world.pump()
    delete_events(world)
    give_up(world)
    [item] = due_rows(world.rows, rows.LEAVE)
    begin_erasure(world.rows, world.user().keys)
    erase_user(world.user().data)
    assert (list(due_rows(world.rows, rows.LEAVE)), resend_deletion(world, item)) == ([], False)


def test_an_index_that_lags_shows_what_has_left(world: RecallWorld) -> None:
    world.pump()
    delete_events(world)
    [item] = due_rows(world.rows, rows.LEAVE)
    hear(world)
    assert resend_deletion(world, item) is False


def test_the_receipt_says_whether_the_index_is_rid_of_it(world: RecallWorld) -> None:
    world.pump()
    job_id = delete_events(world)
    run_job(world, job_id)
    assert (receipt(world, job_id)["verified"], receipt(world, job_id)["index"]) == (True, "leaving")
    hear(world)
    assert receipt(world, job_id)["index"] == "left"
    other = retract_events(world.session, Retract(1, 1, "edited")).job_id
    assert with_index(world.scope, job_of(world, other)) == job_of(world, other)


@pytest.mark.parametrize("stays", [False, True])
def test_and_of_what_was_made_of_it(world: RecallWorld, stays: bool) -> None:
    """A memory that the retraction deletes, and one that says less than before."""
    memory_id = world.remember("Ann likes trains.")
    world.pump()
    job_id = delete_events(world)
    run_job(world, job_id)
    hear(world)
    job = job_of(world, job_id)
    world.rows.write([rows.put_job(world.scope.keys, replace(job, state={**job.state, "kept": [memory_id]}))])
    assert receipt(world, job_id)["index"] == "left"
    if not stays:
        delete_memory(world.user(), memory_id, None)
        left = world.rows.get(world.user().keys.deleted_memory(memory_id)) or {}
        world.rows.write([Put(left | {"write_id": job.state["retraction"]}, Version(left["version"]))])
    else:
        update_memory(world.user(), memory_id, MemoryChange({"text": "Ann likes trams."}), None)
    assert receipt(world, job_id)["index"] == "leaving"
    hear(world)
    assert receipt(world, job_id)["index"] == "left"


def test_a_deletion_that_the_index_was_not_told_of_is_told(world: RecallWorld) -> None:
    memory_id = world.remember("Ann likes trains.")
    world.pump()
    delete_memory(world.user(), memory_id, None)
    world.clock.move(minutes=31)
    assert sweep_due(world)["deletions"] == 1
    messages = world.taken(QueueName.INDEX)
    assert [message.body["id"] for message in messages if message.body["kind"] == "memory"] == [memory_id]
    world.words(messages)
    assert list(due_rows(world.rows, rows.LEAVE)) == []
    world.clock.move(minutes=60)
    assert sweep_due(world)["deletions"] == 0


def test_a_memory_that_came_back_tells_of_itself(world: RecallWorld) -> None:
    memory_id = world.remember("Ann likes trains.")
    delete_memory(world.user(), memory_id, None)
    import_memories(world.user(), [ImportedRow("Ann likes trains.", Kind.NOTE, id=memory_id)])
    world.clock.move(minutes=31)
    assert sweep_due(world)["deletions"] == 0
    assert list(due_rows(world.rows, rows.LEAVE)) == []
    assert world.memory(memory_id).status == "active"


def test_rows_of_a_replacement_that_was_undone_leave_the_index(world: RecallWorld) -> None:
    """Their words and vectors had come in before their worker died; the batch that told of the undoing was given up."""
    source = world.memory(world.remember("Ann likes trains."))
    world.pump()
    before, born = passages(world), f"mem_{world.ids.ulid(world.clock.now())}"
    new = replace(source, id=born, text="Ann likes trams.", rev_at=source.created_at, version=0)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_Replacing, "stamp_sources", died)
        with pytest.raises(KeyboardInterrupt):
            replace_rows(world.user(), 1, Replacement((new,), (source,), "test"))
    world.pump()
    assert passages(world) == before + 1
    world.clock.move(seconds=LEASE_S + 1)
    resolve_replacement(world.user(), rows.read_head(world.rows.get(world.user().keys.head)))
    give_up(world)
    world.clock.move(minutes=31)
    assert sweep_due(world)["deletions"] == 1
    world.words(world.taken(QueueName.INDEX))
    assert (passages(world), world.memory(source.id).died_gen) == (before, None)
    assert list(due_rows(world.rows, rows.LEAVE)) == []


def test_a_late_message_of_an_older_rev_leaves_the_deletion_to_be_told(world: RecallWorld) -> None:
    """It removes nothing of the newest rev: a removal is of the revs that its message knows of."""
    world.pump()
    before, memory_id = passages(world), world.remember("Ann likes trains.")
    late = world.dispatch()
    for text in ("Ann likes trams.", "Ann likes ships."):
        update_memory(world.user(), memory_id, MemoryChange({"text": text}), None)
    world.pump()
    assert passages(world) == before + 1
    delete_memory(world.user(), memory_id, None)
    give_up(world)
    world.words(late)
    world.clock.move(minutes=31)
    assert sweep_due(world)["deletions"] == 1
    world.words(world.taken(QueueName.INDEX))
    assert passages(world) == before
    assert list(due_rows(world.rows, rows.LEAVE)) == []


def died(_: object) -> None:
    raise KeyboardInterrupt


def passages(world: RecallWorld) -> int:
    """How many of Ann's are in the index."""
    return world.index.count(Owner("acme", "ann"))


def give_up(world: RecallWorld) -> None:
    """What changed and was not told of yet is told of by nobody."""
    while changes := world.rows.read_changes(0, 100):
        world.rows.discard_changes(changes[-1].seq)
