"""An export keeps no words of messages that are deleted (docs/rules/export.md#withdrawn)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from neve.domain.jobs.time_limits import LEASE_S
from neve.domain.records.jobs import Job
from neve.ports.queue import QueueName
from neve.usecases.core.jobs.carry_on import carry_on
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.jobs.read_jobs import get_job
from neve.usecases.tell.requests.request_export import request_export
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.background.read_admin_job import read_admin_job
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.export import export_lines, export_user
from neve.usecases.work.export.withdraw_exports import REASON
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.world import World


@pytest.fixture
def world(world: World) -> World:
    world.say("my MARKER", "noted", "two", "three")
    return world


def delete(world: World, seq: int = 1) -> dict[str, Any]:
    """The receipt."""
    session = world.user().of_session("s1")
    answer = retract_events(session, Retract(seq, seq, "deleted"))
    run_retraction(session, message_of_row(world.table.get(world.tenant.keys.job(answer.job_id)) or {}).body)
    receipt: dict[str, Any] = get_job(world.user(), answer.job_id).result["erased"]
    return receipt


def deliver(world: World, job: Job) -> None:
    carry_on(world.user(), job.kind, job.id, export_user.export_part)


def now(world: World, job: Job) -> Job:
    return read_admin_job(world.scope, job.id)


def parts(world: World) -> list[bytes]:
    return [world.objects.get(name) or b"" for name in world.objects.list(world.user().keys.exports_prefix)]


def test_one_that_is_done_goes_and_says_why(world: World) -> None:
    job = request_export(world.user())
    deliver(world, job)
    assert b"MARKER" in parts(world)[0]
    receipt = delete(world)
    assert (receipt["exports"], receipt["verified"], parts(world)) == (1, True, [])
    assert (now(world, job).status, now(world, job).result) == ("failed", {"reason": REASON})


def test_another_one_is_made_of_what_is_left(world: World) -> None:
    delete(world)
    job = request_export(world.user())
    deliver(world, job)
    assert now(world, job).status == "done"
    assert b"MARKER" not in b"".join(parts(world)) and b"three" in b"".join(parts(world))


def test_one_that_had_not_begun_is_made(world: World) -> None:
    job = request_export(world.user())
    delete(world)
    deliver(world, job)
    assert now(world, job).status == "done"


@pytest.mark.parametrize("part_bytes", [1, 10_000])
def test_one_under_way_fails_and_leaves_no_part(world: World, monkeypatch: pytest.MonkeyPatch, part_bytes: int) -> None:
    """Also where the words are still to be written when the deletion is done."""
    job = request_export(world.user())
    real = export_lines.export_lines

    def meanwhile(*given: Any) -> Iterator[export_lines.Placed]:
        for line, place in real(*given):
            if line.get("seq") == 2:
                assert delete(world)["exports"] == (part_bytes == 1)
            yield line, place

    monkeypatch.setattr(export_user, "PART_BYTES", part_bytes)
    monkeypatch.setattr(export_user, "export_lines", meanwhile)
    deliver(world, job)
    assert (now(world, job).status, now(world, job).result) == ("failed", {"reason": REASON})
    assert parts(world) == []


def test_one_whose_worker_died_is_ended_by_the_next(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job = request_export(world.user())

    def dies(*_: Any) -> Iterator[export_lines.Placed]:
        raise InterruptedError
        yield

    with monkeypatch.context() as dying:
        dying.setattr(export_user, "export_lines", dies)
        with pytest.raises(InterruptedError):
            deliver(world, job)
    world.objects.put(world.user().keys.export_object(job.id, 0), b"MARKER", content_type="application/jsonl")
    assert delete(world)["exports"] == 1
    world.clock.move(seconds=LEASE_S)
    sweep_due(world)
    assert QueueName.JOBS in [queue for queue, _ in world.queue.sent]
    deliver(world, job)
    assert (now(world, job).status, parts(world)) == ("failed", [])


def test_a_second_deletion_leaves_an_export_that_was_withdrawn_as_it_is(world: World) -> None:
    job = request_export(world.user())
    deliver(world, job)
    delete(world)
    ended = now(world, job)
    assert delete(world, 2)["exports"] == 0
    assert now(world, job) == ended
