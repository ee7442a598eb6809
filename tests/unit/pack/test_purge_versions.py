"""Versions that are taken away for good."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from local.engine import file_objects
from neve.domain.errors import NeveError
from neve.domain.records.memories import Kind
from neve.ports.errors import StoreUnavailable
from neve.scope import SessionScope, UserScope
from neve.store import rows
from neve.store.partitions import pages
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.core.pack import purge_versions as purge_versions_module
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.core.pack.purge_versions import (
    BEGINNING,
    Holds,
    PackVersion,
    PurgedPage,
    PurgePlace,
    purge_pages,
    purge_versions,
)
from neve.usecases.core.pack.versions import pack_versions
from neve.usecases.tell.memories import delete_memory as delete_memory_module
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.memories.delete_memory import delete_memory
from tests.unit.world import World


@pytest.fixture
def session(world: World) -> SessionScope:
    return world.user("ann").of_session("s1")


def remember(world: World, text: str) -> str:
    return create_memory(world.user("ann"), NewMemory(text, Kind.MANUAL)).id


def versions(session: SessionScope) -> list[int]:
    return [manifest.pack_version for manifest in pack_versions(session, 50, None)[0]]


def stored(session: SessionScope) -> list[str]:
    return [name.rpartition("/")[2] for name in session.ports.objects.list(session.keys.session_packs_prefix)]


def three_versions(world: World, session: SessionScope) -> list[str]:
    """The memory that each of them is the first to hold."""
    ids: list[str] = []
    for text in ("likes tea", "likes coffee", "likes cocoa"):
        ids.append(remember(world, text))
        build_pack(session, "horizon")
    return ids


def test_an_old_version_goes_and_the_served_one_stays(world: World, session: SessionScope) -> None:
    three_versions(world, session)
    before = read_pack(session)
    purge_versions(session, "s1", [2, 9])
    assert (versions(session), stored(session)) == ([3, 1], ["00000001.json", "00000003.json"])
    assert read_pack(session).text == before.text
    with pytest.raises(NeveError, match="2"):
        read_pack(session, version=2)


def test_without_the_served_one_the_next_read_rebuilds_it(world: World, session: SessionScope) -> None:
    three_versions(world, session)
    gone = remember(world, "lives in Lisbon")
    build_pack(session, "horizon")
    delete_memory(session, gone, None)
    purge_versions(session, "s1", [4])
    view = read_pack(session)
    assert view.manifest is not None
    assert (view.manifest.pack_version, view.manifest.trigger) == (5, "initial"), "a number is never given out twice"
    assert "Lisbon" not in str(view.text)
    assert "likes cocoa" in str(view.text)


def test_again_it_is_nothing(world: World, session: SessionScope) -> None:
    three_versions(world, session)
    purge_versions(session, "s1", [1, 2, 3])
    purge_versions(session, "s1", [1, 2, 3])
    assert (versions(session), stored(session)) == ([], [])
    purge_versions(session, "s9", [1])


def purged(scope: UserScope, holds: Holds) -> list[PackVersion]:
    """What went, by one worker."""
    return [version for page in purge_pages(scope, holds) for version in page.versions]


def test_what_a_crashed_build_left_goes_too(world: World, session: SessionScope) -> None:
    *_, cocoa = three_versions(world, session)
    session.ports.objects.put(session.keys.pack_object(4), b"{}", content_type="application/json")
    assert purged(session, lambda entry: entry.id == cocoa) == [("s1", 3)]
    assert stored(session) == ["00000001.json", "00000002.json"]
    remember(world, "likes milk")
    assert build_pack(session, "horizon").manifest.pack_version == 5


def test_a_build_that_has_read_before_cannot_point_to_what_was_purged(world: World, session: SessionScope) -> None:
    *_, cocoa = three_versions(world, session)
    remember(world, "likes milk")
    world.table.before_write = lambda: _purge(session, cocoa)
    built = build_pack(session, "horizon")
    assert built.manifest.pack_version > 4
    assert versions(session)[0] == built.manifest.pack_version
    assert rows.read_epoch(world.table.get(session.keys.epoch) or {}).purged_to == 4


def _purge(session: SessionScope, memory_id: str) -> None:
    assert purged(session, lambda entry: entry.id == memory_id) == [("s1", 3)]


def test_one_that_breaks_off_is_taken_up_again(
    world: World, session: SessionScope, monkeypatch: pytest.MonkeyPatch
) -> None:
    three_versions(world, session)
    with monkeypatch.context() as broken:

        def fails(_: str) -> None:
            raise StoreUnavailable("objects", "down")

        broken.setattr(world.objects, "delete", fails)
        with pytest.raises(StoreUnavailable):
            purge_versions(session, "s1", [3])
    view = read_pack(session)
    assert view.manifest is not None
    assert view.manifest.trigger == "initial", "nobody is served what was to go"
    purge_versions(session, "s1", [3])
    assert "00000003.json" not in stored(session)


def test_a_process_that_has_served_it_serves_it_no_more(
    world: World, session: SessionScope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even while the object store is down, and the version that took its place cannot be read."""
    remember(world, "likes tea")
    gone = remember(world, "lives in Lisbon")
    assert "Lisbon" in str(read_pack(session).text)
    here = world.caches
    world.forget()
    assert delete_memory(session, gone, None, purge_packs=True).purged_packs == [("s1", 1)]
    assert "Lisbon" not in str(read_pack(session).text), "another process has built the next one"
    world.caches = here
    with monkeypatch.context() as broken:

        def fails(_: str) -> bytes:
            raise StoreUnavailable("objects", "down")

        broken.setattr(world.objects, "get", fails)
        view = read_pack(session)
    assert (view.state, view.degraded, view.manifest) == ("partial", ("pack:partial",), None)
    assert "Lisbon" not in str(view.text)
    assert "likes tea" in str(read_pack(session).text)


def test_what_the_same_bytes_stand_for_by_now_goes_with_them(world: World, session: SessionScope) -> None:
    """A rebuild that changes no byte keeps its version, also where another row says the words now."""
    first = remember(world, "lives in Lisbon")
    assert read_pack(session).sha256
    delete_memory(session, first, None)
    again = remember(world, "lives in Lisbon")
    assert build_pack(session, "horizon").manifest.pack_version == 1
    assert delete_memory(session, again, None, purge_packs=True).purged_packs == [("s1", 1)]
    assert read_pack(session).text == ""


def test_the_object_of_such_a_version_stays_as_it_is(world: World, session: SessionScope) -> None:
    first = remember(world, "lives in Lisbon")
    read_pack(session)
    stored, tag = session.ports.objects.get(session.keys.pack_object(1)), read_pack(session).sha256
    delete_memory(session, first, None)
    again = remember(world, "lives in Lisbon")
    build_pack(session, "horizon")
    build_pack(session, "horizon")
    world.forget()
    assert (session.ports.objects.get(session.keys.pack_object(1)), read_pack(session).sha256) == (stored, tag)
    [manifest] = pack_versions(session, 50, None)[0]
    assert [(entry.id, entry.tokens) for entry in manifest.layers["global"]] == [(first, 5), (again, 0)]


def test_a_deletion_while_the_same_bytes_are_noted_makes_the_build_gather_again(
    world: World, session: SessionScope
) -> None:
    first = remember(world, "lives in Lisbon")
    read_pack(session)
    delete_memory(session, first, None)
    again = remember(world, "lives in Lisbon")

    def deleted() -> None:
        delete_memory(session, again, None, purge_packs=True)

    world.table.before_write = deleted
    assert build_pack(session, "horizon").text == ""
    assert read_pack(session).text == ""


# --- what a build leaves --------------------------------------------------------------------------


class Died(Exception):
    """In place of a process that is gone."""


def died_before_its_pointer(world: World, session: SessionScope) -> str:
    """Id of a memory that only its object says."""
    memory = remember(world, "lives in Lisbon")

    def dies() -> None:
        raise Died

    world.table.before_write = dies
    with pytest.raises(Died):
        build_pack(session, "horizon")
    return memory


def pack_objects(world: World) -> list[bytes]:
    names = world.objects.list(world.user("ann").keys.packs_prefix)
    return [world.objects.get(name) or b"" for name in names]


def test_a_deletion_takes_what_a_dead_build_left_of_any_session(world: World, session: SessionScope) -> None:
    """No version of that session holds it, and none of any other."""
    world.open(session="s2")
    build_pack(world.user("ann").of_session("s2"), "initial")
    build_pack(session, "initial")
    gone = died_before_its_pointer(world, session)
    assert b"Lisbon" in b"".join(pack_objects(world))
    assert delete_memory(world.user("ann"), gone, None, purge_packs=True).purged_packs == []
    assert b"Lisbon" not in b"".join(pack_objects(world))
    assert (versions(session), stored(session)) == ([1], ["00000001.json"])
    assert build_pack(session, "horizon").manifest.pack_version == 1, "the same text"


def test_so_does_a_repeat_of_a_deletion_that_broke_off(
    world: World, session: SessionScope, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_pack(session, "initial")
    gone = died_before_its_pointer(world, session)
    with monkeypatch.context() as broken:

        def fails(*_: str) -> None:
            raise StoreUnavailable("objects", "down")

        broken.setattr(world.objects, "page", fails)
        with pytest.raises(StoreUnavailable):
            delete_memory(world.user("ann"), gone, None, purge_packs=True)
    with pytest.raises(NeveError, match="memory_not_found"):
        delete_memory(world.user("ann"), gone, None, purge_packs=True)
    assert b"Lisbon" not in b"".join(pack_objects(world))


def test_a_build_that_has_read_what_is_deleted_cannot_serve_it(
    world: World, session: SessionScope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stores its object when the deletion is over, which touched no version of its session. The object goes with the
    next deletion."""
    build_pack(session, "initial")
    gone, more = remember(world, "lives in Lisbon"), remember(world, "likes figs")
    put_new, met = world.objects.put_new, list[str]()

    def late(name: str, *of: object, **more: object) -> bool:
        if not met:
            met.append(name)
            delete_memory(world.user("ann"), gone, None, purge_packs=True)
        return put_new(name, *of, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(world.objects, "put_new", late)
    built = build_pack(session, "horizon")
    assert met and "Lisbon" not in built.text and built.manifest.pack_version == 3
    assert versions(session) == [3, 1]
    with pytest.raises(NeveError, match="2"):
        read_pack(session, version=2)
    delete_memory(world.user("ann"), more, None, purge_packs=True)
    assert b"Lisbon" not in b"".join(pack_objects(world))


# --- page by page ---------------------------------------------------------------------------------


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purge_versions_module, "pages", partial(pages, page=2))
    monkeypatch.setattr(file_objects, "MAX_KEYS", 2)


@pytest.fixture
def held(world: World, small_pages: None) -> str:
    """A memory that five versions of ``s1`` and three of ``s2`` hold, behind two that do not; two objects have no
    manifest."""
    first = world.user("ann").of_session("s1")
    remember(world, "likes tea")
    build_pack(first, "horizon")
    remember(world, "likes coffee")
    build_pack(first, "horizon")
    gone = remember(world, "lives in Lisbon")
    world.open("ann", "s2")
    for session, count in (("s1", 5), ("s2", 3)):
        for n in range(count):
            remember(world, f"likes {session} and {n}")
            build_pack(world.user("ann").of_session(session), "horizon")
    for session, version in (("s1", 8), ("s2", 9)):
        name = world.user("ann").of_session(session).keys.pack_object(version)
        world.objects.put(name, b"{}", content_type="application/json")
    return gone


def purged_one_page_at_a_time(world: World, gone: str) -> list[PurgedPage]:
    """A worker for each, which goes on where the one before has stopped."""
    found: list[PurgedPage] = []
    place: PurgePlace = BEGINNING
    while page := next(purge_pages(world.user("ann"), lambda entry: entry.id == gone, place), None):
        found.append(page)
        place = page.place
        assert len(found) < 20, "it does not get on"
    return found


def all_stored(world: World) -> list[str]:
    return [name.split("/", 3)[3] for name in world.objects.list(world.user("ann").keys.packs_prefix)]


def test_a_worker_stops_behind_any_page_and_the_next_one_goes_on(world: World, held: str) -> None:
    found = purged_one_page_at_a_time(world, held)
    assert [len(page.versions) for page in found] == [0, 2, 2, 2, 2, 0, 0]
    assert not any(page.left for page in found)
    assert all_stored(world) == ["s.s1/00000001.json", "s.s1/00000002.json"]
    assert purged(world.user("ann"), lambda entry: entry.id == held) == []
    remember(world, "likes milk")
    for session, version in (("s1", 9), ("s2", 10)):
        built = build_pack(world.user("ann").of_session(session), "horizon")
        assert built.manifest.pack_version == version, "no number is given out twice"


@pytest.mark.parametrize("dies_at", range(1, 11))
def test_one_that_dies_within_a_page_loses_nothing(world: World, held: str, dies_at: int) -> None:
    delete, deleted = world.objects.delete, [0]

    def dying(key: str) -> None:
        deleted[0] += 1
        if deleted[0] == dies_at:
            raise InterruptedError
        delete(key)

    world.objects.delete = dying  # type: ignore[method-assign]
    with pytest.raises(InterruptedError):
        purged_one_page_at_a_time(world, held)
    purged_one_page_at_a_time(world, held)
    assert all_stored(world) == ["s.s1/00000001.json", "s.s1/00000002.json"]
    assert versions(world.user("ann").of_session("s1")) == [2, 1]
    assert versions(world.user("ann").of_session("s2")) == []


def test_a_version_that_is_built_under_the_purge_stays(world: World, held: str) -> None:
    """Between the pages, of what is left; its object is there when those without a manifest are looked for."""
    session = world.user("ann").of_session("s2")
    delete_memory(session, held, None)
    pages_ = purge_pages(world.user("ann"), lambda entry: entry.id == held)
    for _ in range(5):
        assert next(pages_).place.phase == "manifests"
    remember(world, "likes milk")
    built = build_pack(session, "horizon").manifest.pack_version
    list(pages_)
    assert read_pack(session, version=built).text


@pytest.mark.parametrize("named", [3, 8])
def test_a_deleted_memory_names_as_many_packs_as_an_answer_has_room_for(
    world: World, held: str, monkeypatch: pytest.MonkeyPatch, named: int
) -> None:
    """It is kept in a row for its `Idempotency-Key`."""
    monkeypatch.setattr(delete_memory_module, "MAX_PACKS", named)
    deleted = delete_memory(world.user("ann"), held, None)
    assert (len(deleted.in_packs), deleted.packs_complete) == (named, named == 8)


def test_who_deletes_a_memory_with_more_packs_than_a_call_has_time_for_repeats_it(world: World, held: str) -> None:
    query, packs = world.table.query, "PACK#"

    def slow(*given: Any, **more: Any) -> Any:
        world.clock.move(seconds=6 if str(more.get("between", ("",))[0]).startswith(packs) else 0)
        return query(*given, **more)

    world.table.query = slow  # type: ignore[method-assign]
    gone: list[tuple[str, int]] = []
    for complete in (False, True):
        deleted = delete_memory(world.user("ann"), held, None, purge_packs=True)
        gone += deleted.purged_packs
        assert deleted.packs_complete == complete
        vars(world.table).pop("query", None)
    with pytest.raises(NeveError, match="memory_not_found"):
        delete_memory(world.user("ann"), held, None, purge_packs=True)
    assert gone == [*(("s1", n) for n in range(3, 8)), *(("s2", n) for n in range(1, 4))]
    assert all_stored(world) == ["s.s1/00000001.json", "s.s1/00000002.json"]
