"""A retraction of which much was made takes several workers, and each goes on where the rows say that it is."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neve.domain.records.jobs import Job
from neve.domain.records.memories import Kind, Memory, Status
from neve.observing import SecondsLeft
from neve.ports.table import Delete, key_of
from neve.scope import SessionScope
from neve.store import rows
from neve.store.keys import LEAVING
from neve.store.partitions import all_rows
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.memories.replace_rows import Replacement, ReplacementBusy, replace_rows
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.compact.rebuild_packs import rebuild_packs
from neve.usecases.work.observe.lease import LeaseHeld, LeaseLost
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.retract import erase_retracted
from neve.usecases.work.retract import run_retraction as worker
from neve.usecases.work.retract.left_index import with_index
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.dying import Dead, die_behind
from tests.unit.fates import FATES, Fate, meet
from tests.unit.world import World, observed_line, time_for


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World.make(tmp_path)


def scope_of(world: World, session: str = "s1") -> SessionScope:
    return world.user().of_session(session)


def observe(world: World, text: str) -> Memory:
    """A turn, and what is remembered of it."""
    seqs = world.say(text, "noted").seqs
    world.observer.answers.append(observed_line(f"🔴 User says: {text}", seqs[0], seqs[-1]))
    [written] = observe_session(scope_of(world), 1, ObservationReport()).written
    return world.memory(written)


def a_session(world: World) -> None:
    """One turn that stays; four that are to be deleted; what was made of three of them, folded, and of the fourth,
    deleted before; and packs that hold all that."""
    world.open()
    observe(world, "I am allergic to peanuts.")
    *sources, gone = [observe(world, f"My zqmarker is number {n}.") for n in range(4)]
    name = f"mem_{world.ids.ulid(world.clock.now())}"
    spanned = replace(sources[0].provenance, seq_to=sources[-1].provenance.seq_to)
    new = replace(sources[0], id=name, kind=Kind.REFLECTION, supersedes=tuple(m.id for m in sources), version=0)
    new = replace(new, text="🔴 Three of zqmarker.", passages=(), provenance=spanned)
    replace_rows(world.user(), 1, Replacement((new,), tuple(sources), "folded", "s1"))
    for session in ("s2", "s3"):
        world.open(session=session)
    for session in ("s1", "s2", "s3"):
        build_pack(scope_of(world, session), "initial")
    delete_memory(world.user(), gone.id, None)


def deletion(world: World) -> dict[str, Any]:
    """The message of its job."""
    answer = retract_events(scope_of(world), Retract(3, None, "deleted"))
    return dict(message_of_row(world.table.get(world.tenant.keys.job(answer.job_id)) or {}).body)


def job_of(world: World, message: dict[str, Any]) -> Job:
    return rows.read_job(world.table.get(world.tenant.keys.job(message["job_id"])) or {})


def ended(world: World, message: dict[str, Any], packs: Sequence[str] = ("s1", "s2", "s3")) -> dict[str, Any]:
    """The receipt of a job that has left nothing of what was deleted."""
    job = job_of(world, message)
    assert (job.status, job.result["erased"]["verified"]) == ("done", True)
    assert [m.text for m in world.memories() if "zqmarker" in m.text] == []
    for session in packs:
        text = str(read_pack(scope_of(world, session)).text)
        assert ("peanuts" in text, "zqmarker" in text) == (True, False)
    return dict(with_index(world.scope, job).result)


WRITES = 25
"""One more than the job has."""


@pytest.mark.parametrize("writes", range(1, WRITES + 1))
def test_a_worker_that_dies_behind_a_write_leaves_nothing_of_what_was_made(
    world: World, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    """Each memory is erased in a transaction of its own. What was made of another goes before that one, by which it is
    found."""
    monkeypatch.setattr(erase_retracted, "DELETED", 1)
    a_session(world)
    message = deletion(world)
    died = False
    with monkeypatch.context() as dying:
        die_behind(writes, dying, (world.table, "write"))
        try:
            run_retraction(scope_of(world), message)
        except Dead:
            died = True
    assert died == (writes < WRITES), "the job has more or fewer writes than are tried"
    world.clock.move(seconds=1_000)  # what the dead worker held is free
    run_retraction(scope_of(world), message)
    result = ended(world, message)
    assert (result["superseded"], result["restored"]) == (1, 0)
    assert result["erased"]["rebuilt_packs"] == ["s1", "s2", "s3"]


def the_events_left(world: World, job: Job) -> None:
    """The search index."""
    keys = scope_of(world).keys
    retraction = rows.read_retraction(world.table.get(keys.retraction(job.state["retraction"])) or {})
    world.table.write([rows.put_retraction(keys, replace(retraction, forgotten_to=retraction.seq_to), 1)])


def test_the_receipt_says_what_is_still_leaving_the_index(world: World) -> None:
    """One read more where something is leaving."""
    a_session(world)
    message = deletion(world)
    run_retraction(scope_of(world), message)
    keys, job = scope_of(world).keys, job_of(world, message)
    the_events_left(world, job)
    for told, reads in (("leaving", 2), ("left", 1)):
        world.table.calls.clear()
        assert with_index(world.scope, job).result["erased"]["index"] == told
        assert world.table.calls == {"get_many": reads, "query": 1}
        for item in all_rows(world.table, keys.partition, prefix=LEAVING):
            world.table.write([Delete(key_of(item))])


# --- what is read again -----------------------------------------------------------------------------

READ_AGAIN = 7


def many_edits(world: World) -> dict[str, Any]:
    """The message of the first job, which sees to all of them: of each observation one event is left."""
    world.open()
    for n in range(READ_AGAIN):
        observe(world, f"This is number {n}.")
    jobs = [retract_events(scope_of(world), Retract(seq, seq, "edited")).job_id for seq in range(1, 2 * READ_AGAIN, 2)]
    return dict(message_of_row(world.table.get(world.tenant.keys.job(jobs[0])) or {}).body)


def all_were_read_again(world: World, message: dict[str, Any]) -> None:
    job = job_of(world, message)
    shown = [memory for memory in world.memories() if memory.status is Status.ACTIVE]
    assert [memory.provenance.seq_from for memory in shown] == list(range(2, 2 * READ_AGAIN + 1, 2))
    assert (job.status, job.result["superseded"]) == ("done", READ_AGAIN)
    assert job.result["written"] == [memory.id for memory in shown], "in the order of the conversation"


def test_what_is_to_be_read_again_is_handed_on_too(world: World) -> None:
    """Each worker has time for one answer."""
    message = many_edits(world)
    places: list[str] = []
    while (report := run_retraction(scope_of(world), message, time_for(1))) and report.left_off_at is not None:
        places.append(report.left_off_at)
    assert len(set(places)) == len(places) == READ_AGAIN - 1, "a message that stands where it stood is given up"
    all_were_read_again(world, message)
    assert len(world.observer.passes) == 2 * READ_AGAIN


# --- packs ------------------------------------------------------------------------------------------


def test_packs_that_a_worker_has_no_time_for_are_the_next_ones(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fact that is in the packs of ten thousand sessions takes many workers."""
    monkeypatch.setattr(worker, "PACK_BATCH_SIZE", 1)
    built: list[str] = []

    def rebuilt(scope: SessionScope, sessions: Sequence[str], written: Sequence[str]) -> list[str]:
        built.extend(sessions)
        return rebuild_packs(scope, sessions, written)

    monkeypatch.setattr(worker, "rebuild_packs", rebuilt)
    a_session(world)
    message = deletion(world)
    places: list[str] = []
    while (report := run_retraction(scope_of(world), message, partial(next, iter([60.0]), 5.0))) is not None:
        if report.left_off_at is None:
            break
        places.append(report.left_off_at)
        assert len(places) < 10, "the job does not get on"
    steps = "its events, its memories, the packs, the first to be built, and what was stored since they went"
    assert len(set(places)) == len(places) == 5, steps
    assert built == ["s1", "s2", "s3"]
    receipt = ended(world, message)["erased"]
    assert (receipt["packs"], receipt["rebuilt_packs"]) == (3, built)


# --- what becomes of workers --------------------------------------------------------------------------


def delivered(world: World, message: dict[str, Any], fate: Fate) -> None:
    """To one worker. One that finds another at it is followed by the next."""

    def first(ports: Any, left: SecondsLeft) -> None:
        with suppress(ReplacementBusy, LeaseHeld, LeaseLost):
            run_retraction(replace(scope_of(world), ports=ports), message, left)

    def another() -> None:
        with suppress(ReplacementBusy, LeaseHeld):
            run_retraction(scope_of(world), message)

    meet(world, fate, first, another, dead_after_s=1_000)
    if fate.what == "is repeated":
        run_retraction(scope_of(world), message)


def result_of(fates: Sequence[Fate]) -> object:
    """What is left where the first workers have these fates, and what the job says."""
    with TemporaryDirectory() as folder:
        world = World.make(Path(folder))
        a_session(world)
        answer = retract_events(scope_of(world), Retract(4, None, "deleted"))
        message = dict(message_of_row(world.table.get(world.tenant.keys.job(answer.job_id)) or {}).body)
        for fate in (*fates, *[Fate("ends", 0)] * 9):
            delivered(world, message, fate)
            world.clock.move(seconds=1_000)
        job, keys = job_of(world, message), scope_of(world).keys
        memories = sorted((m.text, m.status, m.provenance.seq_from, m.provenance.seq_to) for m in world.memories())
        events = [(item["seq"], item.get("erased")) for item in all_rows(world.table, keys.log, prefix="EVT#")]
        packs = [str(read_pack(scope_of(world, session)).text) for session in ("s1", "s2", "s3")]
        said = job.status, job.result["erased"]["verified"], job.result["superseded"]
        world.table.close()
        return said, memories, events, packs


@settings(max_examples=30, deadline=None)
@given(fates=st.lists(FATES, min_size=1, max_size=4))
def test_a_retraction_ends_as_it_does_undisturbed(fates: list[Fate]) -> None:
    assert result_of(fates) == undisturbed()


@cache
def undisturbed() -> object:
    return result_of([])
