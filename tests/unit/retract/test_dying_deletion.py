"""A worker that deletes what was taken back dies at any of its writes: the next one leaves no byte of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from neve.domain.records.memories import Status
from neve.ports.table import Expect
from neve.scope import SessionScope
from neve.store import idempotency, rows
from neve.store.idempotency import IdempotencyKey, StoredReply
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.dying import Dead, die_behind
from tests.unit.world import World, observed_line

MARKER = b"zqmarker"
WRITES = 27
"""One more than the job has."""


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World.make(tmp_path)
    world.open()
    world.say("I am allergic to peanuts.", "noted")
    observe(world, "🔴 User is allergic to peanuts.", 1, 2)
    world.say("my zqmarker", "noted zqmarker", "and one more thing")
    observe(world, "🔴 User has a zqmarker.", 3, 5)
    world.open(session="s2")
    for session in ("s1", "s2"):
        build_pack(scope_of(world, session), "initial")
    return world


def scope_of(world: World, session: str = "s1") -> SessionScope:
    return world.user().of_session(session)


def observe(world: World, says: str, first: int, last: int) -> None:
    world.observer.answers.append(observed_line(says, first, last))
    observe_session(scope_of(world), 1, ObservationReport())


def keep_an_answer(world: World, memory_id: str) -> None:
    """What a call about the memory was answered, kept for its idempotency key."""
    keys, now = scope_of(world).keys, world.clock.now()
    key = IdempotencyKey(keys.answers_below("PATCH", f"memories/{memory_id}"), "k1", "sha")
    reply = StoredReply(200, {"text": "User has a zqmarker."})
    world.table.write([idempotency.done(keys, key, reply, now, Expect.ABSENT)])


def ways_to_write(world: World) -> list[tuple[Any, str]]:
    return [(world.table, "write"), (world.objects, "put_new"), (world.objects, "delete")]


@pytest.mark.parametrize("writes", range(1, WRITES + 1))
def test_behind_whichever_write_it_dies_the_next_worker_leaves_no_byte(
    world: World, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    [marked] = [memory.id for memory in world.memories() if "zqmarker" in memory.text]
    keep_an_answer(world, marked)
    answer = retract_events(scope_of(world), Retract(3, 4, "deleted"))
    message = message_of_row(world.table.get(world.tenant.keys.job(answer.job_id)) or {}).body
    died = False
    with monkeypatch.context() as dying:
        die_behind(writes, dying, *ways_to_write(world))
        try:
            run_retraction(scope_of(world), message)
        except Dead:
            died = True
    assert died == (writes < WRITES), "the job has more or fewer writes than are tried"
    world.clock.move(seconds=1_000)  # what the dead worker held is free
    run_retraction(scope_of(world), message)
    job = rows.read_job(world.table.get(world.tenant.keys.job(answer.job_id)) or {})
    assert (job.status, job.result["erased"]["verified"]) == ("done", True)
    active = [memory for memory in world.memories() if memory.status is Status.ACTIVE]
    assert [(m.provenance.seq_from, m.provenance.seq_to) for m in active] == [(1, 2), (5, 5)]
    for session in ("s1", "s2"):
        pack = read_pack(scope_of(world, session))
        assert pack.manifest is not None and "peanuts" in str(pack.text)
    world.table.discard_changes(world.table.read_changes(0, 10_000)[-1].seq)
    world.table.close()
    assert [path for path in world.folder.rglob("*") if path.is_file() and MARKER in path.read_bytes()] == []
