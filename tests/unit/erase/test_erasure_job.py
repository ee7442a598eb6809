"""An erasure that a tenant asked for: tombstone, worker, settling, receipt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from neve.domain.errors import NeveError
from neve.domain.records.jobs import Job
from neve.ports.queue import Message, QueueName
from neve.scope import UserData
from neve.store import rows
from neve.store.keys import UserKeys
from neve.usecases.ask.memories.list_memories import MemoryFilter, list_memories
from neve.usecases.ask.pack.read_pack import preview_pack, read_pack
from neve.usecases.ask.recall.record_recall import list_recalls
from neve.usecases.ask.sessions.list_events import list_events
from neve.usecases.ask.sessions.read_sessions import list_sessions
from neve.usecases.ask.tenants.user_stats import user_stats
from neve.usecases.core.jobs import read_jobs
from neve.usecases.core.jobs.queued_jobs import ERASURE, job_message
from neve.usecases.tell.requests import request_erasure as request_erasure_module
from neve.usecases.tell.requests.request_erasure import request_erasure
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.work.background.read_admin_job import read_admin_job
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.erase.erase_user import SETTLE_S, ErasureUnderWay, begin_erasure, erase_user
from neve.usecases.work.erase.user_stores import PAGED, ROWS, SHARED
from neve.workers.job_worker import work
from tests.unit.erase.kept import left, live
from tests.unit.recall_world import RecallWorld

ANN = UserKeys("acme", "ann")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RecallWorld]:
    made = RecallWorld.make(tmp_path)
    create_tenant(made, "acme", "first")
    yield made
    made.close()


def asked(world: RecallWorld, user: str = "ann", *, close: bool = False) -> Job:
    return request_erasure(world.user(user), close=close)


def deliver(world: RecallWorld, seconds: float = 900.0) -> int:
    """What the jobs queue holds, once; how many messages that were."""
    world.dispatch()
    messages = [message for queue, message in world.queue.sent if queue is QueueName.JOBS]
    world.queue.sent = [sent for sent in world.queue.sent if sent[0] is not QueueName.JOBS]
    for message in messages:
        work(world, message.body, lambda: seconds)
    return len(messages)


def settle(world: RecallWorld) -> None:
    world.clock.move(seconds=SETTLE_S)
    sweep_due(world)
    assert deliver(world) == 1


def job(world: RecallWorld, asked_for: Job) -> Job:
    return read_admin_job(world.scope, asked_for.id)


def head(world: RecallWorld, user: str = "ann") -> tuple[int, str]:
    found = rows.read_head(world.rows.get(world.tenant.keys.of_user(user).head))
    return found.incarnation, found.state


def test_what_is_erased_is_said_in_a_receipt_and_the_id_is_free_again(world: RecallWorld) -> None:
    live(world, "ann", "annie")
    left_turns = left(world, "annie")
    erasure = asked(world)
    assert (erasure.status, head(world)) == ("queued", (2, "erasing"))
    deliver(world)
    assert left(world, "ann") == []
    assert (job(world, erasure).status, head(world)) == ("running", (2, "erasing"))
    settle(world)
    done = job(world, erasure)
    assert (done.status, head(world)) == ("done", (2, "active"))
    receipt = done.result["receipt"]
    assert set(receipt) == {"passages", *ANN.objects, *ROWS, *SHARED, *PAGED}
    deleted = {store: entry["deleted"] for store, entry in receipt.items()}
    assert {name: deleted[name] for name in ("passages", "packs", "images", "uploads", "memories", "recalls")} == {
        "passages": 3,
        "packs": 1,
        "images": 1,
        "uploads": 1,
        "memories": 1,
        "recalls": 1,
    }
    assert all(entry["verified_empty_at"] for entry in receipt.values())
    assert done.result["backups_expire_at"] > str(done.finished_at)
    assert left(world, "annie") == left_turns
    world.open()
    world.say("I live in Porto now.", "Noted.")
    world.pump()
    assert world.found("Porto")[0] == "evt:s1:1"


def test_from_the_answer_on_writes_are_refused_and_reads_are_empty(world: RecallWorld) -> None:
    live(world, "ann")
    asked(world)
    user, session = world.user(), world.user().of_session("s1")
    with pytest.raises(NeveError, match="erasing"):
        world.say("One more thing.")
    assert world.found("Lisbon") == []
    assert list_memories(user, MemoryFilter(), 10, None) == ([], None)
    assert list_sessions(user, 10, None) == ([], None)
    assert list_recalls(user, 10, None) == ([], None)
    assert user_stats(user).memories == 0
    assert preview_pack(user).text == ""
    pack = read_pack(session)
    assert (pack.state, pack.degraded) == ("unavailable", ("erasing",))
    with pytest.raises(NeveError, match="session_not_found"):
        list_events(session, 1, 10)


def test_a_closed_id_stays_refused(world: RecallWorld) -> None:
    live(world, "ann")
    erasure = asked(world, close=True)
    deliver(world)
    settle(world)
    assert (job(world, erasure).result["closed"], head(world)) == (True, (2, "closed"))
    with pytest.raises(NeveError, match="user_closed"):
        asked(world)


def test_whoever_asks_again_gets_the_same_job(world: RecallWorld) -> None:
    live(world, "ann")
    first, second = asked(world), asked(world, close=True)
    assert (first.id, head(world)) == (second.id, (2, "erasing"))
    deliver(world)
    assert asked(world).id == first.id
    settle(world)
    assert job(world, first).result["closed"], "who asks for more gets more"


def test_also_who_asks_while_the_first_one_ends(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """The head was read before the id was let go, the job behind it: another erasure closes it."""
    live(world, "ann")
    first = asked(world)
    deliver(world)
    find_job = read_jobs.find_job

    def ended_first(*args: Any) -> Job | None:
        monkeypatch.undo()
        settle(world)
        return find_job(*args)

    monkeypatch.setattr(request_erasure_module, "find_job", ended_first)
    second = asked(world, close=True)
    assert (job(world, first).result["closed"], second.id != first.id) == (False, True)
    deliver(world)
    settle(world)
    assert (job(world, second).result["closed"], head(world)) == (True, (3, "closed"))


def test_a_second_erasure_leaves_the_receipt_of_the_first(world: RecallWorld) -> None:
    live(world, "ann")
    jobs = []
    for _ in range(2):
        jobs.append(asked(world))
        deliver(world)
        settle(world)
    assert [job(world, one).status for one in jobs] == ["done", "done"]
    assert head(world) == (3, "active")


def test_a_user_whom_nobody_has_seen_is_erased_too(world: RecallWorld) -> None:
    erasure = asked(world, "nobody", close=True)
    deliver(world)
    settle(world)
    assert sum(entry["deleted"] for entry in job(world, erasure).result["receipt"].values()) == 0
    assert head(world, "nobody") == (2, "closed")


def test_what_came_late_goes_before_the_id_is_let_go(world: RecallWorld) -> None:
    live(world, "ann")
    erasure = asked(world)
    deliver(world)
    world.objects.put(ANN.image_object("late"), b"png", content_type="image/png")
    settle(world)
    assert job(world, erasure).result["receipt"]["images"]["deleted"] == 2
    assert left(world, "ann") == []


def test_before_its_time_nobody_goes_on(world: RecallWorld) -> None:
    live(world, "ann")
    erasure = asked(world)
    deliver(world)
    world.clock.move(seconds=SETTLE_S - 1)
    sweep_due(world)
    assert deliver(world) == 0
    world.queue.sent.append((QueueName.JOBS, _message(erasure)))
    deliver(world)
    assert job(world, erasure).status == "running"


def test_an_operator_and_a_job_do_not_meet(world: RecallWorld) -> None:
    live(world, "ann", "bob")
    erasure = asked(world)
    with pytest.raises(ErasureUnderWay, match=erasure.id):
        begin_erasure(world.table, ANN)
    bob = UserKeys("acme", "bob")
    begin_erasure(world.table, bob)
    erase_user(UserData(world, bob))
    with pytest.raises(NeveError, match="erasing"):
        asked(world, "bob")


def _message(erasure: Job) -> Message:
    return job_message(ANN, ERASURE, erasure.id)
