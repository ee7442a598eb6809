"""Files and folders: no document where others are below, moves of all below a path (docs/rules/documents.md)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from neve.domain.documents.change import DocumentChange
from neve.domain.errors import NeveError
from neve.domain.records.documents import Document
from neve.domain.records.memories import Status
from neve.ports.errors import Conflict
from neve.store.pins import pins_of
from neve.usecases.ask.documents.get_document import get_document
from neve.usecases.ask.documents.list_documents import list_versions, page_of_documents
from neve.usecases.tell.documents import move_folder as moving
from neve.usecases.tell.documents.delete_document import delete_document
from neve.usecases.tell.documents.evolve_document import DocumentEvolution, evolve_document
from neve.usecases.tell.documents.move_folder import move_folder
from neve.usecases.tell.documents.to_another_path import move_document
from neve.usecases.tell.documents.write_document import write_document
from tests.unit.world import World


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    yield World.make(tmp_path_factory.mktemp("documents"))


def put(world: World, path: str, text: str = "x", **more: object) -> Document:
    return write_document(world.user(), path, DocumentChange(text=text, **more)).document  # type: ignore[arg-type]


def paths(world: World) -> list[str]:
    return [document.path for document in page_of_documents(world.user(), "/", None, 200, None)[0]]


def test_a_document_may_move_into_its_own_place(world: World) -> None:
    put(world, "/a")
    assert move_document(world.user(), "/a", "/a/b").path == "/a/b"
    assert move_document(world.user(), "/a/b", "/a").path == "/a"
    delete_document(world.user(), "/a", None)
    put(world, "/a/b")


def test_a_document_that_is_there_is_written_whatever_crosses_it(world: World) -> None:
    """Two calls at the same moment may have made both."""
    put(world, "/a/b")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("neve.usecases.tell.documents.document_writes.refuse_crossing", lambda *_, **__: None)
        put(world, "/a")
    assert put(world, "/a", "y").rev == put(world, "/a/b", "y").rev == 2


def test_a_folder_moves_with_all_that_is_said_of_its_documents(world: World) -> None:
    for n in range(moving.IN_ONE_TRANSACTION + 2):
        put(world, f"/a/n{n:02d}", f"Note {n}.", tags=("t",), always_include=n == 0)
    long = put(world, "/a/deep/er/long", "word " * 80_000)
    put(world, "/a-b")
    old = put(world, "/a/n00", "Revised.")
    done = move_folder(world.user(), "/a", "/b/c")
    assert (len(done.moved), done.more) == (moving.IN_ONE_TRANSACTION + 3, False)
    assert paths(world) == sorted(["/a-b", *(now.path for _, now in done.moved)])
    assert all(now.path == f"/b/c{before.removeprefix('/a')}" for before, now in done.moved)
    new = get_document(world.user(), "/b/c/n00")
    assert (new.id, new.rev, new.text, new.tags) == (old.id, 3, "Revised.", ("t",))
    assert [one.path for one in list_versions(world.user(), "/b/c/n00", 9, None)[0]] == ["/b/c/n00", "/a/n00", "/a/n00"]
    assert get_document(world.user(), "/b/c/deep/er/long").text == long.text
    assert [pin.path for pin in pins_of(world.table, world.user().keys)] == ["/b/c/n00"]
    with pytest.raises(NeveError, match="document_not_found"):
        move_folder(world.user(), "/a", "/z")


@pytest.mark.parametrize("there", ["/a0", "/a0/b"])
def test_a_folder_does_not_move_below_a_document(world: World, there: str) -> None:
    put(world, "/a/x")
    put(world, there)
    with pytest.raises(NeveError, match=f"'{there}'"):
        move_folder(world.user(), "/a", "/a0/b/c")
    assert paths(world) == sorted(["/a/x", there])


@pytest.mark.parametrize("there", ["/b/x", "/b/y/z", "/b", "/b/w/x/y"])
def test_what_is_in_the_way_of_one_refuses_the_move_of_all(world: World, there: str) -> None:
    for path in ("/a/v", "/a/w/x", "/a/x", "/a/y", there):
        put(world, path)
    before = paths(world)
    with pytest.raises(NeveError, match=there) as refused:
        move_folder(world.user(), "/a", "/b")
    assert (refused.value.code, paths(world)) == ("conflict", before)


def test_a_folder_joins_another_where_nothing_is_in_the_way(world: World) -> None:
    for path in ("/a/x", "/a/y/z", "/b/v", "/b/y/w"):
        put(world, path)
    move_folder(world.user(), "/a", "/b")
    assert paths(world) == ["/b/v", "/b/x", "/b/y/w", "/b/y/z"]
    move_folder(world.user(), "/b/y", "/b")
    assert paths(world) == ["/b/v", "/b/w", "/b/x", "/b/z"]


@pytest.mark.parametrize("to", ["/a", "/a/b/c"])
def test_a_folder_does_not_move_into_itself(world: World, to: str) -> None:
    put(world, "/a/x")
    with pytest.raises(NeveError, match="validation_failed"):
        move_folder(world.user(), "/a", to)


def test_a_single_document_and_a_superseded_one_move_with_a_folder(world: World) -> None:
    put(world, "/one")
    assert [now.path for _, now in move_folder(world.user(), "/one", "/two").moved] == ["/two"]
    put(world, "/a/x")
    evolve_document(world.user(), DocumentEvolution("/a/x", "/a/y", DocumentChange(text="y"), "Better."))
    move_folder(world.user(), "/a", "/b")
    assert get_document(world.user(), "/b/x").status is Status.SUPERSEDED


def test_a_move_without_time_says_that_there_is_more_and_goes_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    total = 2 * moving.IN_ONE_TRANSACTION
    for n in range(total):
        put(world, f"/a/n{n:02d}")
    monkeypatch.setattr(moving, "TIME_LIMIT_MS", 0)
    first = move_folder(world.user(), "/a", "/b")
    second = move_folder(world.user(), "/a", "/b")
    assert [(len(done.moved), done.more) for done in (first, second)] == [(12, True), (12, False)]
    assert paths(world) == [f"/b/n{n:02d}" for n in range(total)]


def test_a_folder_of_too_many_is_refused_before_anything_moves(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "MAX_SCANNED", 2)
    for n in range(3):
        put(world, f"/a/n{n}")
    with pytest.raises(NeveError, match="at most 2 documents"):
        move_folder(world.user(), "/a", "/b")
    assert len([path for path in paths(world) if path.startswith("/a/")]) == 3


def test_a_move_whose_answer_was_lost_is_told_of_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    put(world, "/a/x")
    write, lost = world.table.write, [True]

    def commits_and_fails(ops: object) -> None:
        write(ops)  # type: ignore[arg-type]
        if lost and lost.pop():
            raise Conflict

    monkeypatch.setattr(world.table, "write", commits_and_fails)
    assert [now.path for _, now in move_folder(world.user(), "/a", "/b").moved] == ["/b/x"]
