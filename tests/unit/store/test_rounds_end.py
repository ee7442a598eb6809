"""Whatever begins again because others were faster ends (docs/rules/http.md#conflicts): each of these is overtaken for
as long as it goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from neve.domain.errors import NeveError
from neve.ports.errors import Conflict
from neve.scope import SessionScope
from neve.store import rows
from neve.store.transact import ATTEMPTS, MAX_PAUSE_S, ROUNDS_OF_A_MODEL, transact
from neve.usecases.ask.pack.read_pack import preview_pack, read_pack
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.jobs.read_jobs import get_job
from neve.usecases.core.memories.replace_rows import (
    LEASE_S,
    Replacement,
    SourcesReplaced,
    _begin,
    _Replacing,
    resolve_replacement,
)
from neve.usecases.core.pack import gather_pack
from neve.usecases.core.pack.build_pack import MAX_ATTEMPTS, build_pack
from neve.usecases.core.pack.purge_versions import purge_pages
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.requests.request_compaction import request_compaction
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.compact.compact_session import compact_session
from neve.usecases.work.librarian.commit_filing import FilingCommit, FilingOvertaken
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.retract import replace_derived
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.librarian.library_world import LibraryWorld
from tests.unit.world import World


def scope_of(world: World) -> SessionScope:
    return world.user().of_session("s1")


def loses(work: Callable[[], object]) -> None:
    """It is told that others were faster, and when to come again."""
    with pytest.raises(NeveError) as refused:
        work()
    assert (refused.value.code, refused.value.retry_after_s) == ("conflict", 1)


def before_every_write(world: World, others: Callable[[], object]) -> list[int]:
    """Others are faster from now on. Grows by one each time."""
    times: list[int] = []

    def faster() -> None:
        others()
        times.append(len(times))
        world.table.before_write = faster

    world.table.before_write = faster
    return times


def test_a_transaction_is_tried_so_often_with_pauses_that_stay_short(world: World) -> None:
    tried: list[int] = []

    def attempt() -> None:
        tried.append(1)
        raise Conflict

    loses(lambda: transact(world, attempt))
    assert (len(tried), len(world.clock.slept)) == (ATTEMPTS, ATTEMPTS - 2)
    assert max(world.clock.slept) <= MAX_PAUSE_S


# --- replacement ------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["write", "close"])
def test_a_replacement_on_whose_head_others_note_something(world: World, step: str) -> None:
    source = create_memory(world.user(), NewMemory("bees"))
    new = replace(source, id=f"mem_{world.ids.ulid(world.clock.now())}", text="many bees", version=0)
    head, job = _begin(world.user(), 1, Replacement((new,), (source,), "test"))
    work = _Replacing(world.user(), head, job, (new.id,), (source.id,), None, ())
    times = before_every_write(world, lambda: list(purge_pages(world.user(), lambda _: False)))
    if step == "write":
        loses(lambda: work.write_new([new]))
    else:
        loses(lambda: work._close("done", {}, seen=False))
    assert len(times) == ATTEMPTS
    world.table.before_write = None
    world.clock.move(seconds=LEASE_S + 1)
    resolve_replacement(world.user(), rows.read_head(world.table.get(world.user().keys.head)))
    assert [memory.text for memory in world.memories()] == ["bees"]


def test_a_replacement_of_what_was_taken_back_whose_sources_others_change(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.say("bees", "yes")
    observe_session(scope_of(world), 1)
    message = retracted(world, 1)
    times: list[int] = []

    def faster(*_: object) -> None:
        times.append(1)
        raise SourcesReplaced

    with monkeypatch.context() as patched:
        patched.setattr(replace_derived, "_replace", faster)
        loses(lambda: run_retraction(scope_of(world), message))
    assert len(times) == ATTEMPTS
    assert get_job(world.user(), message["job_id"]).status != "done"
    run_retraction(scope_of(world), message)
    assert get_job(world.user(), message["job_id"]).status == "done"


def retracted(world: World, first: int, last: int | None = None) -> dict[str, Any]:
    """The message of its job."""
    item = world.table.get(
        world.tenant.keys.job(retract_events(scope_of(world), Retract(first, last, "edited")).job_id)
    )
    assert item is not None
    return message_of_row(item).body


# --- what asks a model each time --------------------------------------------------------------------


def compaction(world: World) -> dict[str, Any]:
    """The message of one that has something to cover; everything is observed."""
    world.with_policy(window=2_000)
    for _ in range(12):
        world.say("u" * 320, "a" * 320)
    job = request_compaction(scope_of(world), "manual", wait=False)
    observe_session(scope_of(world), 1, closing=True)
    return world.queued(job)


def another_epoch_each_time(world: World) -> None:
    """As cuts of the history begin them, while the model thinks."""

    def faster() -> None:
        keys = scope_of(world).keys
        item = world.table.get(keys.epoch)
        assert item is not None
        epoch = rows.read_epoch(item)
        world.table.write([rows.put_epoch(keys, replace(epoch, epoch=epoch.epoch + 1), world.clock.now())])
        world.observer.meanwhile = faster

    world.observer.meanwhile = faster


def test_a_compaction_whose_epoch_others_move(world: World) -> None:
    message = compaction(world)
    another_epoch_each_time(world)
    loses(lambda: compact_session(scope_of(world), message))
    assert len(world.observer.summarised) == ROUNDS_OF_A_MODEL
    world.observer.meanwhile = None
    compact_session(scope_of(world), message)
    assert get_job(world.user(), message["job_id"]).result["outcome"] == "covered"


def test_a_summary_that_is_rewritten_while_others_move_its_epoch(world: World) -> None:
    asked = compaction(world)
    compact_session(scope_of(world), asked)
    message = retracted(world, 5, 6)
    world.observer.summarised.clear()
    another_epoch_each_time(world)
    loses(lambda: run_retraction(scope_of(world), message))
    assert len(world.observer.summarised) == ROUNDS_OF_A_MODEL
    world.observer.meanwhile = None
    run_retraction(scope_of(world), message)
    assert get_job(world.user(), message["job_id"]).result["summary"] == "rewritten"


def test_a_filing_that_others_overtake(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = LibraryWorld.at(tmp_path_factory.mktemp("librarian"))
    world.open()
    world.say("We go to Oslo.", "Noted.")
    job = world.end()

    def faster(_: FilingCommit) -> None:
        raise FilingOvertaken

    with monkeypatch.context() as patched:
        patched.setattr(FilingCommit, "write", faster)
        loses(world.file)
    assert len(world.observer.filed) == ROUNDS_OF_A_MODEL
    world.file()
    assert get_job(world.user(), job.id).status == "done"
    world.table.close()


# --- packs ------------------------------------------------------------------------------------------


def test_a_pack_for_which_no_version_is_free(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def taken(key: str, body: bytes, **_: str) -> bool:
        tried.append(key)
        return False

    monkeypatch.setattr(world.objects, "put_new", taken)
    loses(lambda: build_pack(scope_of(world), "initial"))
    assert len(tried) == ATTEMPTS * MAX_ATTEMPTS


def test_a_pack_behind_many_that_never_got_to_their_pointer_has_a_version(world: World) -> None:
    for version in range(1, 1_000):
        world.objects.put_new(scope_of(world).keys.pack_object(version), b"{}", content_type="application/json")
    built = build_pack(scope_of(world), "initial")
    assert built.manifest.pack_version >= 1_000
    served = read_pack(scope_of(world)).manifest
    assert served is not None and served.pack_version == built.manifest.pack_version


def test_a_pack_under_which_replacements_follow_each_other(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    gathered, times = gather_pack._gathered, list[int]()

    def slowly(*given: Any) -> Any:
        head = rows.read_head(world.table.get(world.user().keys.head))
        world.table.write([rows.put_head(world.user().keys, replace(head, gen=head.gen + 1))])
        times.append(1)
        return gathered(*given)

    monkeypatch.setattr(gather_pack, "_gathered", slowly)
    loses(lambda: gather_pack.gather_preview(world.user()))
    assert len(times) == ATTEMPTS
    assert preview_pack(world.user()).degraded == ("pack:partial",)
