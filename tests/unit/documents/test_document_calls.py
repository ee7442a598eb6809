"""Documents that move, take another's place, are listed, and are deleted with everything that was theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from neve.domain.cursors import InvalidCursor
from neve.domain.documents.change import DocumentChange
from neve.domain.errors import FieldError, NeveError
from neve.domain.records.documents import Document
from neve.domain.records.memories import Status
from neve.store import rows
from neve.store.documents import MAX_ROW_TEXT_BYTES
from neve.usecases.ask.documents.get_document import get_document
from neve.usecases.ask.documents.list_documents import list_documents, list_versions, page_of_documents
from neve.usecases.tell.documents.delete_document import delete_below, delete_document
from neve.usecases.tell.documents.evolve_document import DocumentEvolution, evolve_document
from neve.usecases.tell.documents.to_another_path import move_document
from neve.usecases.tell.documents.write_document import write_document
from tests.unit.world import World

PATH = "/projects/alpha/plan"


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    yield World.make(tmp_path_factory.mktemp("documents"))


def put(world: World, text: str, path: str = PATH, **more: object) -> Document:
    return write_document(world.user(), path, DocumentChange(text=text, **more)).document  # type: ignore[arg-type]


def evolve(world: World, path: str, to: str, text: str, reason: str) -> Document:
    return evolve_document(world.user(), DocumentEvolution(path, to, DocumentChange(text), reason))


def kinds_stored(world: World) -> list[str]:
    page = world.table.query(world.user().keys.partition, limit=1000)
    return sorted(item["type"] for item in page.items)


# --- moving -------------------------------------------------------------------------------------


def test_a_moved_document_keeps_what_it_was_and_its_history(world: World) -> None:
    put(world, "One.")
    first = put(world, "Two.", tags=("x",), source_type="wiki", source_id="7")
    moved = move_document(world.user(), PATH, "/reference/plan")
    assert (moved.id, moved.rev, moved.text, moved.tags) == (first.id, 3, "Two.", ("x",))
    assert get_document(world.user(), "/reference/plan", 1).text == "One."
    with pytest.raises(NeveError, match="document_not_found"):
        get_document(world.user(), PATH)
    assert put(world, "Three.", "/reference/plan", source_type="wiki", source_id="7").rev == 4
    assert [v.path for v in list_versions(world.user(), "/reference/plan", 9, None)[0]] == [
        "/reference/plan",
        "/reference/plan",
        PATH,
        PATH,
    ]


def test_a_document_moves_to_where_nothing_is(world: World) -> None:
    put(world, "One.")
    put(world, "Another.", "/b")
    for wrong, code in (("/b", "conflict"), (PATH, "validation_failed"), ("/artifacts/x", "validation_failed")):
        with pytest.raises(NeveError) as refused:
            move_document(world.user(), PATH, wrong)
        assert refused.value.code == code
    with pytest.raises(NeveError, match="precondition_failed"):
        move_document(world.user(), PATH, "/c", expected_rev=(2,))
    with pytest.raises(NeveError, match="document_not_found"):
        move_document(world.user(), "/none", "/c")
    assert move_document(world.user(), PATH, "/always-load/plan", expected_rev=(1,)).always_include


# --- evolving -----------------------------------------------------------------------------------


def test_a_path_that_may_not_be_is_named_as_the_request_does(world: World) -> None:
    put(world, "One.")
    for path, code in (("/artifacts/x", "validation_failed"), ("/4111 1111 1111 1111", "pii_blocked")):
        with pytest.raises(NeveError) as refused:
            put(world, "Two.", path)
        assert (refused.value.code, [error.field for error in refused.value.errors]) == (code, ["query.path"])
    going: list[Callable[[], object]] = [
        lambda: move_document(world.user(), PATH, "/artifacts/x"),
        lambda: evolve(world, PATH, "/artifacts/x", "Two.", "why"),
        lambda: move_document(world.user(), PATH, "/4111 1111 1111 1111"),
    ]
    for go, code in zip(going, ("validation_failed", "validation_failed", "pii_blocked"), strict=True):
        with pytest.raises(NeveError) as refused:
            go()
        assert (refused.value.code, [error.field for error in refused.value.errors]) == (code, ["to"])


def test_a_path_is_refused_for_what_would_be_taken_out_of_a_text(world: World) -> None:
    put(world, "One.")
    path = "/profile/MRN 12345678"
    going: dict[str, Callable[[], object]] = {
        "query.path": lambda: put(world, "Her MRN 12345678.", path),
        "to": lambda: move_document(world.user(), PATH, path),
    }
    for field, go in going.items():
        with pytest.raises(NeveError) as refused:
            go()
        message = "contains data that the policy blocks or redacts: medical_record_number"
        assert (refused.value.code, refused.value.errors) == ("pii_blocked", (FieldError(field, message),))
    assert [one.path for one in list_documents(world.user(), "/")] == [PATH]


# --- deleting -----------------------------------------------------------------------------------


def test_nothing_of_a_deleted_document_is_left(world: World) -> None:
    put(world, "é" * MAX_ROW_TEXT_BYTES)
    put(world, "Two.", source_type="wiki", source_id="7")
    with pytest.raises(NeveError, match="precondition_failed"):
        delete_document(world.user(), PATH, {1})
    assert delete_document(world.user(), PATH, {2}).rev == 2
    assert kinds_stored(world) == ["announced_text", "deleted_document", "leaving", "user"], (
        "the sweep takes the announcement"
    )
    assert world.objects.list("documents/") == []
    with pytest.raises(NeveError, match="document_not_found"):
        delete_document(world.user(), PATH, None)
    assert put(world, "Again.").rev == 1


def test_a_long_history_goes_as_well(world: World) -> None:
    for n in range(102):
        put(world, f"Text {n}.")
    delete_document(world.user(), PATH, {102})
    assert kinds_stored(world) == ["deleted_document", "leaving", "user"]


def test_a_prefix_is_deleted_in_whole_segments(world: World) -> None:
    for path in ("/a/b", "/a/c/d", "/a-b"):
        put(world, path, path)
    artifact = Document("/artifacts/x", "what a tool said", 4, 1, "2026-03-10T09:30:00.000Z")
    world.table.write([rows.put_artifact(world.user().keys, artifact)])
    deleted = delete_below(world.user(), "/a/")
    assert (deleted.paths, deleted.more) == (["/a/b", "/a/c/d"], False)
    assert delete_below(world.user(), "/a/").paths == []
    assert delete_below(world.user(), "/artifacts").paths == ["/artifacts/x"]
    assert [d.path for d in page_of_documents(world.user(), "/", None, 9, None)[0]] == ["/a-b"]


# --- lists --------------------------------------------------------------------------------------


def test_lists_are_paged(world: World) -> None:
    for path in ("/a/b", "/a/b c", "/a/é", "/z"):
        put(world, path, path)
    put(world, "/a/x", "/a/x", status=Status.ARCHIVED)
    for prefix, expected in (("/", ["/a/b", "/a/b c", "/a/é", "/z"]), ("/a", ["/a/b", "/a/b c", "/a/é"])):
        seen: list[str] = []
        cursor = None
        for _ in range(len(expected) + 1):
            page, cursor = page_of_documents(world.user(), prefix, None, 1, cursor)
            seen += [document.path for document in page]
            if cursor is None:
                break
        assert seen == expected
    _, cursor = page_of_documents(world.user(), "/", None, 1, None)
    with pytest.raises(InvalidCursor):
        page_of_documents(world.user(), "/a", None, 1, cursor)
    assert [d.path for d in page_of_documents(world.user(), "/", Status.ARCHIVED, 9, None)[0]] == ["/a/x"]


def test_versions_are_paged(world: World) -> None:
    for n in range(3):
        put(world, f"{n}")
    page, cursor = list_versions(world.user(), PATH, 2, None)
    assert [one.rev for one in page] == [3, 2]
    page, cursor = list_versions(world.user(), PATH, 2, cursor)
    assert ([one.rev for one in page], cursor) == ([1], None)
    with pytest.raises(NeveError, match="document_not_found"):
        list_versions(world.user(), "/none", 2, None)
