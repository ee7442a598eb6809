"""Reflections and the replacement of many rows: atomic for readers, crash-proof, nothing written meanwhile is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from neve.domain.records.jobs import Job
from neve.domain.records.memories import Kind, Priority, Status
from neve.observing import Reflected, ReflectedRow
from neve.ports.errors import Conflict, ContentRefused, ModelRefused, StoreUnavailable
from neve.ports.table import Index, ItemPage, WriteOp
from neve.store import rows
from neve.store.memories import active_memories
from neve.usecases.ask.memories.list_memories import MemoryFilter, get_memory, list_memories
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.ask.sessions.read_sessions import get_session
from neve.usecases.ask.tenants.user_stats import user_stats
from neve.usecases.core.jobs.messages.observation import observation_message
from neve.usecases.core.jobs.read_jobs import get_job
from neve.usecases.core.memories.replace_rows import (
    LEASE_S,
    REPLACED_TTL_S,
    Replacement,
    ReplacementBusy,
    SourcesReplaced,
    _begin,
    _Replacing,
    _seen,
    replace_rows,
    resolve_replacement,
)
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.core.pack.gather_pack import gather_pack
from neve.usecases.core.pack.purge_versions import purge_pages
from neve.usecases.core.pack.versions import pack_versions
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.import_memories import ImportedRow, import_memories
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.observe.extract_session import extract_session
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.reflect.reflect_session import NOTHING, OVERTAKEN, NoTimeToReflect, reflect_session
from tests.unit.world import World, observed_line, time_for


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World.make(tmp_path)
    create_tenant(world, "acme")
    world.with_policy(window=2_000)  # trigger 650, target 325
    world.open()
    yield world
    world.table.close()


def fill(world: World, passes: int = 7, session: str = "s1", tokens: int = 100) -> None:
    """``passes`` observations of 100 tokens each."""
    for number in range(passes):
        world.say("a", "b", session=session)
        first = 2 * number + 1
        world.observer.answers = [observed_line(f"🟡 {number} " + "x" * (tokens * 32 // 10 - 5), first, first + 1)]
        observe_session(world.user("ann").of_session(session), 1)


def reflect(world: World) -> list[str]:
    return reflect_session(world.user("ann").of_session("s1"), 1)


def listed(world: World, **where: str) -> list[str]:
    memories, _ = list_memories(world.user("ann"), MemoryFilter(**where), 200, None)  # type: ignore[arg-type]
    return [memory.text for memory in memories]


def test_a_reflection_that_there_is_no_time_for_is_left_to_another_worker(world: World) -> None:
    world.with_policy(window=100, session_reflection_trigger=10, session_reflection_target=5)
    scope = world.user("ann").of_session("s1")
    for _ in range(3):
        world.say("I moved to Nice", "Lovely")
        observe_session(scope, 1)
    with pytest.raises(NoTimeToReflect):
        reflect_session(scope, 1, lambda: world.observer.longest_s - 1)
    assert world.observer.reflected == []
    world.say("And I keep bees", "Good")
    message = observation_message(scope.keys, 1, 8).body
    first = extract_session(scope, message, time_for(1))
    assert first is not None
    assert (first.left_off_at, world.observer.reflected) == ("8.reflect", [])
    second = extract_session(scope, message, time_for(1))
    assert second is not None
    assert (second.left_off_at, second.passes, len(world.observer.reflected)) == (None, 1, 1)
    done = get_job(world.user("ann"), message["job_id"])
    assert (done.status, len(done.result["reflections"]), len(done.result["written"])) == ("done", 1, 1)


def test_below_the_trigger_nothing_happens(world: World) -> None:
    fill(world, passes=6)
    assert reflect(world) == []
    assert world.observer.reflected == []


def test_rows_that_the_model_will_not_read_fail_no_pass(world: World) -> None:
    fill(world)
    scope = world.user("ann").of_session("s1")
    world.say("and then", "yes")
    world.observer.reflections = [ContentRefused("declined"), ModelRefused("no such key")]
    message = observation_message(scope.keys, 1, 16).body
    report = extract_session(scope, message)
    job = get_job(scope, message["job_id"])
    assert report is not None and report.failure is None
    assert (job.status, len(job.result["written"]), "reason" in job.result) == ("done", 1, False)
    assert job.result["reflection_reason"] == "the language model refused the request: declined"
    world.clock.move(minutes=10)
    world.say("and then", "yes")
    message = observation_message(scope.keys, 1, 18).body
    extract_session(scope, message)
    assert get_job(scope, message["job_id"]).status == "failed", "a wrong key is somebody's to change"


def test_sources_that_another_worker_has_folded_meanwhile_are_not_replaced_again(world: World) -> None:
    fill(world)
    faster: list[str] = []
    world.observer.meanwhile = lambda: faster.extend(reflect(world))
    assert reflect(world) == []
    assert (len(faster), len(world.observer.reflected)) == (1, 2)
    assert listed(world) == ["🔴 all of it, condensed"]
    assert [m.id for m in world.memories() if m.status is Status.ACTIVE] == faster


@pytest.mark.parametrize("faster", [False, True])
def test_why_an_answer_was_not_written_is_told_and_its_cost_is_counted(world: World, faster: bool) -> None:
    fill(world)
    user = world.user("ann")
    source = world.memories()[0].id

    def somebody_deletes_a_source() -> None:
        delete_memory(user, source, None)

    world.observer.meanwhile = somebody_deletes_a_source if faster else None
    text = "🔴 all of it" if faster else " "
    world.observer.reflections = [Reflected((ReflectedRow(text),), "scripted", {"input": 70, "output": 7})]
    report = ObservationReport()
    before = user_stats(user).usage
    assert reflect_session(user.of_session("s1"), 1, notes=report) == []
    assert (report.not_reflected, report.reflection_left_out) == (OVERTAKEN if faster else NOTHING, 0)
    after = user_stats(user).usage
    spent = (after.model_calls - before.model_calls, after.model_input_tokens - before.model_input_tokens)
    assert spent == (1, 70)


def test_sources_that_were_read_as_of_a_generation_before_are_not_replaced_again(world: World) -> None:
    """A worker that stood still between the head and the rows: to it they are active still."""
    fill(world)
    user = world.user("ann")
    keys = user.keys
    before = rows.read_head(world.table.get(keys.head)).gen
    folded = [memory.id for memory in world.memories()]
    [reflection] = reflect(world)
    late = active_memories(world.table, keys, folded, before, "")
    assert [memory.id for memory in late] == folded
    new = replace(late[0], id=f"mem_{world.ids.ulid(world.clock.now())}", kind=Kind.REFLECTION, version=0)
    with pytest.raises(SourcesReplaced):
        replace_rows(user, 1, Replacement((new,), tuple(late), "again", "s1"))
    assert {m.id for m in world.memories() if m.status is Status.ACTIVE} == {reflection}


def test_a_pack_is_of_one_moment_although_a_batch_of_rows_is_not(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store leaves a part of a batch to another round: here the live list is older than the generation."""
    fill(world)
    session, read = world.user("ann").of_session("s1"), world.table.get_many
    world.observer.reflections = [Reflected((ReflectedRow("🔴 " + "y" * 900),), "scripted")]

    def in_two_rounds(keys: Any, **how: Any) -> Any:
        if session.keys.marker not in keys or session.keys.epoch not in keys:
            return read(keys, **how)
        monkeypatch.undo()
        first = read([session.keys.marker])
        assert len(reflect(world)) == 1
        return {**read([key for key in keys if key != session.keys.marker]), **first}

    monkeypatch.setattr(world.table, "get_many", in_two_rounds)
    assert "yyyy" in build_pack(session, "horizon").text


def test_a_worker_that_was_taken_for_dead_shows_nothing_while_it_is_undone(world: World) -> None:
    fill(world)
    scope, sources = world.user("ann").of_session("s1"), world.memories()
    new = replace(sources[0], id="mem_01KKBHRFH771PTMHD1TB4K7AMC", text="🔴 new", version=0)
    wanted = Replacement((new,), tuple(sources), "test", "s1")
    head, job = _begin(scope, 1, wanted)
    old = tuple(memory.id for memory in sources)
    seen = {memory.id: _seen(memory) for memory in sources}
    slow = _Replacing(scope, head, job, (new.id,), old, "s1", ("s1",), seen)
    slow.write_new(wanted.new)
    slow.stamp_sources()
    reported: list[str] = []

    def wake() -> None:
        try:
            slow.flip()
        except ReplacementBusy:
            reported.append("busy")

    def in_the_middle() -> None:
        world.table.before_write = wake

    world.clock.move(seconds=LEASE_S + 1)
    world.table.before_write = in_the_middle
    resolve_replacement(scope, head)
    assert reported == ["busy"]
    assert sorted(listed(world)) == sorted(memory.text for memory in sources)


@pytest.mark.parametrize("nth", range(6))
def test_a_replacement_goes_on_when_packs_are_taken_away_meanwhile(world: World, nth: int) -> None:
    """A deletion moves the user's row, which is the replacement's fencing token; twice, before the same write."""
    fill(world)
    step = iter(range(100))
    purged: list[int] = []

    def meddle() -> None:
        if next(step) == nth:
            for _ in range(2):
                list(purge_pages(world.user("ann"), lambda _: False))
            purged.append(nth)
        else:
            world.table.before_write = meddle

    world.table.before_write = meddle
    reflect(world)
    assert purged == [nth]
    assert listed(world) == ["🔴 all of it, condensed"]
    assert rows.read_head(world.table.get(world.tenant.keys.of_user("ann").head)).replacement_job is None


def test_a_replacement_that_was_closed_since_the_head_was_read_is_not_taken_over(world: World) -> None:
    fill(world)
    scope, sources = world.user("ann").of_session("s1"), world.memories()
    new = replace(sources[0], id="mem_01KKBHRFH771PTMHD1TB4K7AMC", text="🔴 new", version=0)
    head, _ = _begin(scope, 1, Replacement((new,), tuple(sources), "test", "s1"))
    world.clock.move(seconds=LEASE_S + 1)
    resolve_replacement(scope, head)
    with pytest.raises(Conflict):
        resolve_replacement(scope, head)
    assert sorted(listed(world)) == sorted(memory.text for memory in sources)


def test_reflections_replace_the_rows(world: World) -> None:
    world.open(session="s2")
    fill(world, passes=2, session="s2")
    note = create_memory(world.user("ann"), NewMemory("my note", Kind.NOTE, session_id="s1"))
    fill(world)
    sources = [
        memory.id for memory in world.memories() if memory.kind is Kind.OBSERVATION and memory.session_id == "s1"
    ]
    first_half = tuple(sources[:3])
    world.observer.reflections = [
        Reflected((ReflectedRow("🔴 the first half", first_half), ReflectedRow("🔴 all of it")), "scripted")
    ]
    one, two = reflect(world)
    assert world.observer.reflected[0].target_tokens == 325
    of_session = [memory for memory in world.memories() if memory.id in sources]
    assert [group.day for group in world.observer.reflected[0].groups] == [
        memory.observed_date for memory in of_session
    ]
    first, second = get_memory(world.user("ann"), one), get_memory(world.user("ann"), two)
    assert (first.kind, first.priority, first.supersedes) == (Kind.REFLECTION, Priority.HIGH, first_half)
    assert (first.provenance.seq_from, first.provenance.seq_to) == (1, 6)
    assert (second.provenance.seq_from, second.provenance.seq_to) == (1, 14)
    for memory_id in sources:
        old = get_memory(world.user("ann"), memory_id)
        assert old.status is Status.SUPERSEDED
        assert old.superseded_by == (one if memory_id in first_half else two)
    live = get_session(world.user("ann").of_session("s1")).marker.live
    assert [row.id for row in live] == [note.id, one, two]
    assert len(listed(world, session_id="s2")) == 2
    versions, _ = pack_versions(world.user("ann").of_session("s1"), 10, None)
    assert [version.trigger for version in versions] == ["reflection"]


def test_rows_over_the_target_are_dropped_from_the_end(world: World) -> None:
    fill(world)
    rows_ = tuple(ReflectedRow(f"🔴 {i} " + "y" * 400) for i in range(5))
    world.observer.reflections = [Reflected(rows_, "scripted")]
    assert len(reflect(world)) == 2


def extracted(world: World) -> tuple[ObservationReport, Job]:
    """One more turn, whose pass is followed by the reflection that is due."""
    scope = world.user("ann").of_session("s1")
    last = world.say("And I keep bees", "Good").seqs[-1]
    message = observation_message(scope.keys, 1, last).body
    report = extract_session(scope, message)
    assert report is not None
    return report, get_job(world.user("ann"), message["job_id"])


def test_rows_that_have_no_room_are_told(world: World) -> None:
    fill(world)
    rows_ = tuple(ReflectedRow(f"🔴 {i} " + "y" * 400) for i in range(5))
    world.observer.reflections = [Reflected(rows_, "scripted", left_out=2)]
    report, job = extracted(world)
    assert (len(job.result["reflections"]), job.result["reflection_left_out"]) == (2, 5)
    assert (report.reflection_left_out, report.not_reflected) == (5, None)


def test_what_rules_keep_above_the_target_stays_and_is_told(world: World) -> None:
    fill(world)
    rows_ = tuple(ReflectedRow(f"🔴 {i} " + "y" * 400) for i in range(3))
    world.observer.reflections = [Reflected(rows_, "extractive", left_out=2, over_target=60)]
    _, job = extracted(world)
    assert (len(job.result["reflections"]), job.result["reflection_left_out"]) == (3, 2)
    assert job.result["reflection_over_target"] == 60


def test_a_session_that_lines_keep_above_its_trigger_is_not_folded_at_every_turn(world: World) -> None:
    """Each time its pack would be rebuilt, and the prompt's cache broken."""
    fill(world)
    rows_ = tuple(ReflectedRow(f"🔴 {i} " + "y" * 400) for i in range(6))
    world.observer.reflections = [Reflected(rows_, "extractive", over_target=500)] * 2
    assert len(reflect(world)) == 6
    assert reflect(world) == []
    assert len(world.observer.reflected) == 1
    world.clock.sleep(601)
    assert len(reflect(world)) == 6


def test_an_empty_answer_is_told(world: World) -> None:
    fill(world)
    world.observer.reflections = [Reflected((), "scripted")]
    report, job = extracted(world)
    assert ("reflections" in job.result, job.result["reflection_reason"]) == (
        False,
        "the observer answered with nothing",
    )
    assert (report.reflection_left_out, report.not_reflected) == (0, "the observer answered with nothing")


def test_an_empty_answer_writes_nothing(world: World) -> None:
    fill(world)
    world.observer.reflections = [Reflected((), "scripted")]
    assert reflect(world) == []
    assert len(listed(world)) == 7


def test_what_is_written_while_the_model_thinks_survives(world: World) -> None:
    fill(world)
    bumped = world.memories()[0].id

    def meanwhile() -> None:
        create_memory(world.user("ann"), NewMemory("typed meanwhile", session_id="s1"))
        world.bump_directly(bumped)

    world.observer.meanwhile = meanwhile
    [new] = reflect(world)
    assert listed(world) == ["typed meanwhile", "🔴 all of it, condensed"]
    assert get_memory(world.user("ann"), bumped).last_used_at == "2027-01-01T00:00:00.000Z"
    live = get_session(world.user("ann").of_session("s1")).marker.live
    assert live[0].id == new
    assert len(live) == 2


def test_the_last_use_of_a_reflection_starts_at_the_latest_of_its_sources(world: World) -> None:
    fill(world)
    latest = max(memory.last_used_at for memory in world.memories())
    world.clock.move(days=30)
    [new] = reflect(world)
    made = get_memory(world.user("ann"), new)
    assert (made.last_used_at, made.created_at > latest) == (latest, True)


def test_readers_see_the_old_set_or_the_new_one(world: World) -> None:
    """At every single write of a replacement of 150 rows, a list and a pack show either all sources or the
    reflection."""
    lines = [ImportedRow(f"🟡 {i} " + "x" * 20, Kind.OBSERVATION, session_id="s1") for i in range(150)]
    import_memories(world.user("ann"), lines)
    world.open(session="s2")
    fitting = gather_pack(world.user("ann").of_session("s2"))[0].text().count("xxx") // 6
    assert fitting > 3
    seen: list[tuple[int, int]] = []
    write = world.table.write

    def look_then_write(ops: list[WriteOp]) -> None:
        texts = listed(world)
        seen.append((sum("x" in text for text in texts), sum("condensed" in text for text in texts)))
        packed = gather_pack(world.user("ann").of_session("s2"))[0].text()
        assert (packed.count("xxx") // 6, packed.count("condensed")) in {(fitting, 0), (0, 1)}
        write(ops)

    world.table.write = look_then_write  # type: ignore[method-assign,assignment]
    reflect(world)
    assert set(seen) == {(150, 0), (0, 1)}
    assert seen.count((150, 0)) > 3
    assert seen.count((0, 1)) > 3


def test_a_page_cursor_keeps_to_the_generation_of_its_first_page(world: World) -> None:
    fill(world)
    first, cursor = list_memories(world.user("ann"), MemoryFilter(), 4, None)
    reflect(world)
    rest, end = list_memories(world.user("ann"), MemoryFilter(), 4, cursor)
    assert len(first) == 4
    assert [memory.text[:3] for memory in rest] == ["🟡 4", "🟡 5", "🟡 6"]
    assert end is None
    assert listed(world) == ["🔴 all of it, condensed"]


@pytest.mark.parametrize("crash_at", range(8))
def test_a_replacement_that_crashed_is_finished_or_undone_before_the_next(world: World, crash_at: int) -> None:
    fill(world)
    writes = 0
    write = world.table.write

    def crash_at_nth(ops: list[WriteOp]) -> None:
        nonlocal writes
        if writes == crash_at:
            raise KeyboardInterrupt
        writes += 1
        write(ops)

    world.table.write = crash_at_nth  # type: ignore[method-assign,assignment]
    with pytest.raises(KeyboardInterrupt):
        reflect(world)
    world.table.write = write  # type: ignore[method-assign]
    assert sorted({text[:3] for text in listed(world)}) in ([f"🟡 {i}" for i in range(7)], ["🔴 a"])
    if rows.read_head(world.table.get(world.tenant.keys.of_user("ann").head)).replacement_job:
        if len(listed(world)) > 1:
            with pytest.raises(ReplacementBusy):
                reflect(world)
        world.clock.move(seconds=LEASE_S + 1)
        swept = sweep_due(world)
        assert swept["replacements"] == 1
    reflect(world)
    assert listed(world) == ["🔴 all of it, condensed"]
    live = get_session(world.user("ann").of_session("s1")).marker.live
    assert [world.memory(row.id).text for row in live] == ["🔴 all of it, condensed"]
    assert all(memory.died_gen is None or memory.status is Status.SUPERSEDED for memory in world.memories())


def test_a_worker_taken_for_dead_writes_nothing_more(world: World) -> None:
    """It sleeps before stamping the sources; the sweep undoes its work; then it wakes."""
    fill(world)
    stage = 0
    write = world.table.write

    def sleep_before_third_write(ops: list[WriteOp]) -> None:
        nonlocal stage
        stage += 1
        if stage == 3:
            world.table.write = write  # type: ignore[method-assign]
            world.clock.move(seconds=LEASE_S + 1)
            sweep_due(world)
        write(ops)

    world.table.write = sleep_before_third_write  # type: ignore[method-assign,assignment]
    with pytest.raises((ReplacementBusy, Conflict)):
        reflect(world)
    assert len(listed(world)) == 7
    assert all(memory.died_gen is None for memory in world.memories())


def test_a_failed_rebuild_after_a_reflection_is_done_by_the_sweep(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(world)
    read_pack(world.user("ann").of_session("s1"))

    def fail(*_: object, **__: object) -> None:
        raise StoreUnavailable("objects", "down")

    with monkeypatch.context() as broken:
        broken.setattr(world.objects, "put_new", fail)
        reflect(world)
    assert read_pack(world.user("ann").of_session("s1")).degraded == ("pack:stale",)
    assert sweep_due(world)["rebuilt"] == 1
    view = read_pack(world.user("ann").of_session("s1"))
    assert view.degraded == ()
    assert "condensed" in (view.text or "")


def test_a_pack_has_new_rows_that_the_index_lacks_and_the_users_row_does_not_name_them(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(world)
    world.observer.reflections = [Reflected((ReflectedRow("🔴 the first half"), ReflectedRow("🔴 the rest")), "m")]
    made = reflect(world)
    query = world.table.query

    def lags(partition: str, *, index: Index = Index.MAIN, **more: Any) -> ItemPage:
        page: ItemPage = query(partition, index=index, **more)
        return page if index is Index.MAIN else replace(page, items=[i for i in page.items if i.get("id") not in made])

    monkeypatch.setattr(world.table, "query", lags)
    world.open(session="s2")
    text = read_pack(world.user("ann").of_session("s2")).text
    assert text is not None and "🔴 the first half" in text and "🔴 the rest" in text
    head = world.table.get(world.user("ann").keys.head)
    assert head is not None and not any(identifier in json.dumps(head) for identifier in made)
    world.clock.move(seconds=REPLACED_TTL_S + 1)
    world.open(session="s3")
    assert "🔴 the first half" not in (read_pack(world.user("ann").of_session("s3")).text or "")
