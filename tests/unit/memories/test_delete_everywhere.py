"""A memory that is deleted with what was made of it, and with the packs that hold it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from neve.domain.errors import NeveError
from neve.domain.memories.passages import texts_of_memory
from neve.domain.memories.text import fingerprint
from neve.domain.records.memories import Kind, Memory, Status
from neve.ports.errors import StoreUnavailable
from neve.store import rows
from neve.store.partitions import pages
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.core.memories import replace_rows as replacing
from neve.usecases.core.memories.replace_rows import LEASE_S, Replacement, replace_rows
from neve.usecases.core.pack import purge_versions
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.memories import delete_memory as deleting
from neve.usecases.tell.memories.copies.derived_memories import derived_memories
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.memories.delete_memory import Deleted, delete_memory, foresee_deletion
from tests.unit.world import World


def remember(world: World, text: str) -> Memory:
    return create_memory(world.user("ann"), NewMemory(text, Kind.NOTE))


def condensed(world: World, *texts: str, of: tuple[Memory, ...], kind: Kind = Kind.REFLECTION) -> list[Memory]:
    """Rows that take the place of others, all naming all of them."""
    world.clock.move(minutes=1)
    keys, table = world.tenant.keys.of_user("ann"), world.table
    sources = tuple(rows.read_memory(table.get(keys.memory(memory.id)) or {}) for memory in of)
    new = [
        replace(
            remember(world, text),
            id=f"mem_{world.ids.ulid(world.clock.now())}",
            kind=kind,
            fingerprint=fingerprint(text),
            supersedes=tuple(memory.id for memory in of),
            status=Status.ACTIVE,
            version=0,
        )
        for text in texts
    ]
    replace_rows(world.user("ann"), 1, Replacement(tuple(new), sources, "condensed"))
    return new


def ids(memories: list[Memory]) -> list[str]:
    return [memory.id for memory in memories]


def test_every_row_that_was_made_of_it_is_named(world: World) -> None:
    gone, other = remember(world, "the secret"), remember(world, "likes tea")
    first, second = condensed(world, "condensed secret", "and what goes with it", of=(gone, other))
    [third] = condensed(world, "condensed twice", of=(second,))
    deleted = delete_memory(world.user("ann"), gone.id, None)
    assert deleted.derived == ids([first, second, third])
    assert deleted.deleted_derived == []


def test_a_newer_statement_was_not_made_of_it(world: World) -> None:
    gone = remember(world, "lives in Lisbon")
    condensed(world, "lives in Porto", of=(gone,), kind=Kind.NOTE)
    assert delete_memory(world.user("ann"), gone.id, None).derived == []


def test_a_copy_says_the_same(world: World) -> None:
    gone = remember(world, "lives in Lisbon")
    copies = condensed(world, "lives in Lisbon", of=(gone,), kind=Kind.NOTE)
    assert delete_memory(world.user("ann"), gone.id, None).derived == ids(copies)


def test_a_cascade_takes_them_along(world: World) -> None:
    gone, other = remember(world, "the secret"), remember(world, "likes tea")
    [first] = condensed(world, "condensed secret", of=(gone, other))
    [second] = condensed(world, "condensed twice", of=(first,))
    deleted = delete_memory(world.user("ann"), gone.id, None, cascade=True)
    assert (deleted.derived, deleted.deleted_derived) == ([], ids([first, second]))
    found = world.table.get_many([world.tenant.keys.of_user("ann").memory(m.id) for m in (gone, first, second)])
    assert found == {}


@pytest.mark.parametrize("cascade", [False, True])
@pytest.mark.parametrize("purge_packs", [False, True])
def test_what_is_foreseen_is_what_a_deletion_answers(world: World, cascade: bool, purge_packs: bool) -> None:
    gone, other = remember(world, "the secret"), remember(world, "likes tea")
    remember(world, "The secret")
    build_pack(world.user("ann").of_session("s1"), "initial")
    condensed(world, "condensed secret", of=(gone, other))
    foreseen = foresee_deletion(world.user("ann"), gone.id, None, cascade=cascade, purge_packs=purge_packs)
    assert world.table.get(world.tenant.keys.of_user("ann").memory(gone.id)), "it is still there"
    assert foreseen == delete_memory(world.user("ann"), gone.id, None, cascade=cascade, purge_packs=purge_packs)
    assert foreseen.also_in
    assert foreseen.also_in.copies
    assert foreseen.purged_packs if purge_packs else foreseen.in_packs


def test_a_cascade_takes_what_was_made_while_it_looked(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = remember(world, "the secret")
    made: list[Memory] = []
    look = derived_memories

    def condensed_behind(*asked: Any) -> list[Memory]:
        found = look(*asked)
        if not made:
            made.extend(condensed(world, "condensed secret", of=(gone,)))
        return found

    monkeypatch.setattr(deleting, "derived_memories", condensed_behind)
    deleted = delete_memory(world.user("ann"), gone.id, None, cascade=True)
    assert deleted.deleted_derived == ids(made)
    assert world.table.get(world.tenant.keys.of_user("ann").memory(made[0].id)) is None


def packed(world: World) -> str:
    """Every pack object of the user."""
    names = world.objects.list(world.user("ann").keys.packs_prefix)
    return "".join((world.objects.get(name) or b"").decode() for name in names)


def with_packs(world: World) -> tuple[Memory, Memory]:
    """A memory and the reflection in its place, which packs of several sessions hold."""
    gone = remember(world, "the secret")
    [made] = condensed(world, "condensed secret", of=(gone,))
    for session in ("s1", "s2", "s3"):
        world.open(session=session)
        build_pack(world.user("ann").of_session(session), "initial")
    assert "condensed secret" in packed(world)
    return gone, made


def repeated(world: World, memory: Memory) -> list[Deleted]:
    """The answers, until one says that this was everything, or that there is nothing left."""
    answers: list[Deleted] = []
    while not answers or not answers[-1].packs_complete:
        try:
            answers.append(delete_memory(world.user("ann"), memory.id, None, purge_packs=True, cascade=True))
        except NeveError as refusal:
            assert refusal.code == "memory_not_found"
            break
        assert len(answers) < 20, "it does not end"
    return answers


def test_who_repeats_a_cascade_that_had_no_time_for_all_packs_ends_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packs hold the reflection, and the memory no more."""
    gone, made = with_packs(world)
    monkeypatch.setattr(purge_versions, "pages", partial(pages, page=1))
    monkeypatch.setattr(deleting, "TIME_LIMIT_MS", 0)
    answers = repeated(world, gone)
    assert [one for answer in answers for one in answer.purged_packs] == [("s1", 1), ("s2", 1), ("s3", 1)]
    assert {tuple(answer.deleted_derived) for answer in answers} == {(made.id,)}
    assert "secret" not in packed(world)


def test_who_repeats_a_purge_goes_on_behind_the_packs_that_hold_none_of_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of which there may be more than one call can look through."""
    for session in ("a1", "a2", "a3"):
        world.open(session=session)
        build_pack(world.user("ann").of_session(session), "initial")
    gone, _ = with_packs(world)
    monkeypatch.setattr(purge_versions, "pages", partial(pages, page=1))
    monkeypatch.setattr(deleting, "TIME_LIMIT_MS", 0)
    answers = repeated(world, gone)
    assert [one for answer in answers for one in answer.purged_packs] == [("s1", 1), ("s2", 1), ("s3", 1)]
    assert "secret" not in packed(world)


def test_of_a_memory_that_never_was_no_pack_is_looked_through(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are: whoever sends a wrong id is told so, and no build of a pack begins again for it."""
    with_packs(world)
    monkeypatch.setattr(deleting, "TIME_LIMIT_MS", 0)
    head = world.table.get(world.user("ann").keys.head)
    with pytest.raises(NeveError, match="memory_not_found"):
        delete_memory(world.user("ann"), "mem_01KKBH9WE093HPHJ3BT90EDP4S", None, purge_packs=True)
    assert world.table.get(world.user("ann").keys.head) == head


def test_who_repeats_a_cascade_that_broke_off_purges_what_it_had_deleted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, made = with_packs(world)

    def dies(memory: Memory) -> set[str]:
        if memory.id == gone.id:
            raise StoreUnavailable("table", "away")
        return texts_of_memory(memory)

    with monkeypatch.context() as dying:
        dying.setattr(deleting, "texts_of_memory", dies)
        with pytest.raises(StoreUnavailable):
            delete_memory(world.user("ann"), gone.id, None, purge_packs=True, cascade=True)
    assert world.table.get(world.user("ann").keys.memory(made.id)) is None
    deleted = delete_memory(world.user("ann"), gone.id, None, purge_packs=True, cascade=True)
    assert (deleted.deleted_derived, len(deleted.purged_packs)) == ([made.id], 3)
    assert "secret" not in packed(world)


def test_a_source_is_not_deleted_in_the_middle_of_its_replacement(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its words would be shown behind the deletion, in a row that no answer names."""
    gone = remember(world, "the secret")
    flip = replacing._Replacing.flip
    refused: list[str] = []

    def deleted_first(*given: Any) -> None:
        with pytest.raises(NeveError) as refusal:
            delete_memory(world.user("ann"), gone.id, None)
        refused.append(refusal.value.code)
        flip(*given)

    monkeypatch.setattr(replacing._Replacing, "flip", deleted_first)
    made = condensed(world, "condensed secret", of=(gone,))
    assert refused == ["conflict"]
    assert delete_memory(world.user("ann"), gone.id, None).derived == ids(made)


@pytest.mark.parametrize("before", ["flip", "sweep"])
def test_a_deletion_ends_what_a_dead_worker_left_of_a_replacement(
    world: World, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    gone = remember(world, "the secret")
    with monkeypatch.context() as dying:

        def dies(*_: Any) -> None:
            raise KeyboardInterrupt

        dying.setattr(replacing._Replacing, before, dies)
        with pytest.raises(KeyboardInterrupt):
            condensed(world, "condensed secret", of=(gone,))
    world.clock.move(seconds=LEASE_S + 1)
    deleted = delete_memory(world.user("ann"), gone.id, None, cascade=True)
    left = [memory for memory in world.memories() if memory.text == "condensed secret" and memory.supersedes]
    assert (left, len(deleted.deleted_derived)) == ([], before == "sweep")


def test_packs_that_hold_it_go_and_are_rebuilt(world: World) -> None:
    memory, gone = remember(world, "likes tea"), remember(world, "the secret")
    session = world.user("ann").of_session("s1")
    build_pack(session, "initial")
    [made] = condensed(world, "condensed secret", of=(gone,))
    build_pack(session, "horizon")
    deleted = delete_memory(world.user("ann"), gone.id, None, purge_packs=True, cascade=True)
    assert (deleted.in_packs, deleted.purged_packs) == ([], [("s1", 1), ("s1", 2)])
    view = read_pack(session)
    assert view.manifest is not None
    assert (view.manifest.pack_version, view.manifest.trigger) == (3, "initial")
    assert [entry.id for entry in view.manifest.layers["global"]].count(memory.id) == 1
    assert made.id not in {entry.id for entry in view.manifest.layers["global"]}
    with pytest.raises(NeveError, match="memory_not_found"):
        delete_memory(world.user("ann"), gone.id, None, purge_packs=True)


def test_a_call_that_broke_off_behind_the_deletion_goes_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = remember(world, "the secret")
    session = world.user("ann").of_session("s1")
    build_pack(session, "initial")
    with monkeypatch.context() as broken:

        def fails(_: str) -> None:
            raise StoreUnavailable("objects", "down")

        broken.setattr(world.objects, "delete", fails)
        with pytest.raises(StoreUnavailable):
            delete_memory(world.user("ann"), gone.id, None, purge_packs=True)
    assert delete_memory(world.user("ann"), gone.id, None, purge_packs=True).purged_packs == [("s1", 1)]
    assert "secret" not in str(read_pack(session).text)
