"""A job of which a list grows with the session or the user ends however long that is: a row has 400 KB."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from neve.adapters import table_rules
from neve.domain.records.jobs import Job
from neve.domain.records.memories import Kind, Memory, Status
from neve.ports.table import Delete, Put, WriteOp, key_of
from neve.scope import SessionScope
from neve.store import rows
from neve.store.incarnation import UserErased
from neve.store.keys import JOB_LIST, LEAVING
from neve.store.partitions import all_rows
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.core.jobs import long_lists
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.memories.replace_rows import Replacement, replace_rows
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.requests import retract_job
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.requests.retract_job import GONE, PURGED, REBUILT, REPLACED, TOUCHED, after, note
from neve.usecases.work.compact.rebuild_packs import rebuild_packs
from neve.usecases.work.erase.erase_user import begin_erasure
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.retract import replace_derived
from neve.usecases.work.retract import run_retraction as worker
from neve.usecases.work.retract.find_derived import Weighed, find_derived
from neve.usecases.work.retract.left_index import with_index
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.contract.engines.dynamodb_engines import name_moto_table, open_moto_table
from tests.unit.dying import Dead
from tests.unit.world import World, observed_line, time_for


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World.make(tmp_path)


@pytest.fixture(params=["sqlite", "moto"])
def on_each_table(request: pytest.FixtureRequest, world: World, tmp_path: Path) -> Iterator[World]:
    if request.param == "sqlite":
        yield world
        return
    with open_moto_table(name_moto_table(tmp_path)) as table:
        world.table = cast(Any, table)
        yield world


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every list is long, and has parts of two."""
    monkeypatch.setattr(long_lists, "INLINE_BYTES", 2)
    monkeypatch.setattr(long_lists, "PART_ENTRIES", 2)


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


def parts(world: World) -> list[dict[str, Any]]:
    return list(all_rows(world.table, world.user().keys.partition, prefix=JOB_LIST))


def made_many(monkeypatch: pytest.MonkeyPatch, world: World, count: int) -> None:
    """As if so many rows more had been made of the session."""
    many = frozenset(f"mem_{world.ids.ulid(world.clock.now() + timedelta(seconds=n))}" for n in range(count))

    def found(*given: Any) -> Weighed:
        seen = find_derived(*given)
        return replace(seen, touched=seen.touched | many)

    monkeypatch.setattr(replace_derived, "find_derived", found)


def stop(*_: Any) -> None:
    raise Dead


def ended(world: World, message: dict[str, Any], packs: Sequence[str] = ("s1", "s2", "s3")) -> dict[str, Any]:
    """The receipt of a job that has left nothing of what was deleted."""
    job = job_of(world, message)
    assert (job.status, job.result["erased"]["verified"]) == ("done", True)
    assert [m.text for m in world.memories() if "zqmarker" in m.text] == []
    for session in packs:
        text = str(read_pack(scope_of(world, session)).text)
        assert ("peanuts" in text, "zqmarker" in text) == (True, False)
    return dict(with_index(world.scope, job).result)


def test_a_deletion_ends_however_much_was_made_of_the_session(
    on_each_table: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of 8 KB have as much room for 300 ids as those of 400 KB for 15,000 that are not compressed."""
    world = on_each_table
    monkeypatch.setattr(table_rules, "MAX_ITEM_BYTES", 8_000)
    monkeypatch.setattr(long_lists, "INLINE_BYTES", 1_000)
    monkeypatch.setattr(long_lists, "PART_BYTES", 4_000)
    made_many(monkeypatch, world, 300)
    world.open()
    for text in ("I am allergic to peanuts.", "My zqmarker."):
        observe(world, text)
    message = deletion(world)
    run_retraction(scope_of(world), message)
    assert ended(world, message, packs=())["erased"]["memories"] == 1
    assert rows.read_head(world.table.get(scope_of(world).keys.head)).replacement_job is None


def test_forty_thousand_rows_are_no_more_than_a_row_holds(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    made_many(monkeypatch, world, 40_000)
    a_session(world)
    message = deletion(world)
    run_retraction(scope_of(world), message)
    assert ended(world, message)["erased"]["memories"] == 4
    assert len(parts(world)) == 11


def die_behind_part(world: World, monkeypatch: pytest.MonkeyPatch, parts_left: int) -> None:
    """The worker dies when it has written so many parts of lists."""
    write, left = world.table.write, [parts_left]

    def dying(ops: Sequence[WriteOp]) -> None:
        write(ops)
        if any(isinstance(op, Put) and op.item["type"] == "job_list" for op in ops):
            left[0] -= 1
            if left[0] == 0:
                raise Dead

    monkeypatch.setattr(world.table, "write", dying)


PART_WRITES = 6
"""One more than the job below has: what is touched, before the replacement and again with its flip; what had been
deleted before, and the sessions whose packs were purged; those that have one again."""


@pytest.mark.parametrize("written", range(1, PART_WRITES + 1))
def test_a_worker_that_dies_behind_a_part_loses_nothing_and_counts_nothing_twice(
    world: World, monkeypatch: pytest.MonkeyPatch, small: None, written: int
) -> None:
    a_session(world)
    message = deletion(world)
    died = False
    with monkeypatch.context() as dying:
        die_behind_part(world, dying, written)
        try:
            run_retraction(scope_of(world), message)
        except Dead:
            died = True
    assert died == (written < PART_WRITES), "the job writes more or fewer parts than are tried"
    world.clock.move(seconds=1_000)  # what the dead worker held is free
    run_retraction(scope_of(world), message)
    result = ended(world, message)
    receipt = result["erased"]
    assert (result["superseded"], result["restored"]) == (1, 0)
    assert (receipt["events"], receipt["memories"], receipt["packs"]) == (8, 4, 3)
    assert receipt["rebuilt_packs"] == ["s1", "s2", "s3"]
    keys, job = scope_of(world).keys, job_of(world, message)
    assert {name: len(found) for name, found in job.state["parts"].items()} == {
        TOUCHED: 2,
        GONE: 1,
        PURGED: 2,
        REBUILT: 2,
    }
    assert {item["expires_at"] for item in parts(world)} == {world.table.get(keys.job(job.id))["expires_at"]}


def test_nothing_is_written_for_a_user_who_is_being_erased(world: World, small: None) -> None:
    a_session(world)
    message = deletion(world)
    begin_erasure(world.table, world.user().keys)
    with pytest.raises(UserErased):
        note(scope_of(world), message["job_id"], lambda job: after(job, REPLACED, touched=["mem_1", "mem_2"]))
    assert parts(world) == []
    assert run_retraction(scope_of(world), message) is None


def test_a_job_that_the_version_before_began_goes_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its row holds its lists, however long they are."""
    a_session(world)
    message = deletion(world)
    with monkeypatch.context() as dying:
        dying.setattr(worker, "revert_documents", stop)
        with pytest.raises(Dead):
            run_retraction(scope_of(world), message)
    job = job_of(world, message)
    assert len(job.state[TOUCHED]) == 4
    monkeypatch.setattr(long_lists, "INLINE_BYTES", 2)
    monkeypatch.setattr(long_lists, "PART_ENTRIES", 2)
    run_retraction(scope_of(world), message)
    assert ended(world, message)["erased"]["memories"] == 4
    assert job_of(world, message).state[TOUCHED] == 4


def the_events_left(world: World, job: Job) -> None:
    """The search index."""
    keys = scope_of(world).keys
    retraction = rows.read_retraction(world.table.get(keys.retraction(job.state["retraction"])) or {})
    world.table.write([rows.put_retraction(keys, replace(retraction, forgotten_to=retraction.seq_to), 1)])


def test_the_receipt_says_what_is_still_leaving_the_index(world: World, small: None) -> None:
    """One read more for each part of what its result lists, and of what was deleted where something is leaving."""
    a_session(world)
    message = deletion(world)
    run_retraction(scope_of(world), message)
    keys, job = scope_of(world).keys, job_of(world, message)
    the_events_left(world, job)
    for told, of_parts in (("leaving", 4), ("left", 2)):
        world.table.calls.clear()
        assert with_index(world.scope, job).result["erased"]["index"] == told
        assert world.table.calls == {"get_many": 1, "query": 1, "get": of_parts}
        for item in all_rows(world.table, keys.partition, prefix=LEAVING):
            world.table.write([Delete(key_of(item))])


def test_a_receipt_can_be_read_while_the_user_is_erased(world: World, small: None) -> None:
    """By an operator. The rows of a user go before the jobs."""
    a_session(world)
    message = deletion(world)
    run_retraction(scope_of(world), message)
    for item in parts(world):
        world.table.write([Delete(key_of(item))])
    job = job_of(world, message)
    the_events_left(world, job)
    assert with_index(world.scope, job) == job


# --- what is read again -----------------------------------------------------------------------------

READ_AGAIN = 7
READ_PARTS = 6
"""One more than the writes of parts of the job below."""


@pytest.fixture
def few_at_once(monkeypatch: pytest.MonkeyPatch, small: None) -> None:
    monkeypatch.setattr(retract_job, "AT_ONCE", 2)
    monkeypatch.setattr(retract_job, "STILL_NEW", 1)


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
    told = with_index(world.scope, job).result["written"]
    assert told == [memory.id for memory in shown], "in the order of the conversation"
    assert len(job.result["written"]) < READ_AGAIN, "its row names the last ones"


def test_what_is_to_be_read_again_may_be_more_than_its_row_holds(world: World, few_at_once: None) -> None:
    """Each worker has time for one answer."""
    message = many_edits(world)
    places: list[str] = []
    while (report := run_retraction(scope_of(world), message, time_for(1))) and report.left_off_at is not None:
        places.append(report.left_off_at)
        assert len(job_of(world, message).state["again"]) <= 2
    assert len(set(places)) == len(places) == READ_AGAIN - 1, "a message that stands where it stood is given up"
    all_were_read_again(world, message)


@pytest.mark.parametrize("written", range(1, READ_PARTS + 1))
def test_a_worker_that_dies_while_it_reads_again_reads_nothing_twice(
    world: World, monkeypatch: pytest.MonkeyPatch, few_at_once: None, written: int
) -> None:
    message = many_edits(world)
    asked = len(world.observer.passes)
    died = False
    with monkeypatch.context() as dying:
        die_behind_part(world, dying, written)
        try:
            run_retraction(scope_of(world), message)
        except Dead:
            died = True
    assert died == (written < READ_PARTS), "the job writes more or fewer parts than are tried"
    world.clock.move(seconds=1_000)  # what the dead worker held is free
    run_retraction(scope_of(world), message)
    all_were_read_again(world, message)
    assert len(world.observer.passes) == asked + READ_AGAIN


# --- packs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("inline", "in_row"), [(20_000, ["s1", "s2", "s3"]), (2, [])], ids=["in the row", "in parts"])
def test_packs_that_a_worker_has_no_time_for_are_the_next_ones(
    world: World, monkeypatch: pytest.MonkeyPatch, inline: int, in_row: list[str]
) -> None:
    """A fact that is in the packs of ten thousand sessions takes many workers."""
    monkeypatch.setattr(long_lists, "INLINE_BYTES", inline)
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
    assert job_of(world, message).result["erased"]["rebuilt_packs"] == in_row
