"""Documents as they are written: revisions, preconditions, what an outside system names, and where long texts go."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from neve.domain.documents.change import DocumentChange
from neve.domain.errors import NeveError
from neve.domain.records.documents import Document
from neve.domain.records.memories import Provenance, Status
from neve.ports.errors import Conflict
from neve.ports.table import Item, Key
from neve.store import rows
from neve.store.documents import MAX_ROW_TEXT_BYTES, read_document
from neve.store.idempotency import IdempotencyKey
from neve.usecases.ask.documents.get_document import get_document
from neve.usecases.ask.documents.list_documents import list_documents
from neve.usecases.tell.documents.document_writes import document_writes
from neve.usecases.tell.documents.to_another_path import move_document
from neve.usecases.tell.documents.write_document import write_document
from tests.unit.world import World

PATH = "/projects/alpha/plan"


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    yield World.make(tmp_path_factory.mktemp("documents"))


def put(world: World, text: str | None = None, path: str = PATH, **more: object) -> Document:
    precondition = {name: more.pop(name) for name in ("expected_rev", "create") if name in more}
    change = DocumentChange(text=text, **more)  # type: ignore[arg-type]
    return write_document(world.user(), path, change, **precondition).document  # type: ignore[arg-type]


def test_a_new_document_is_named_and_summed_up_by_its_text(world: World) -> None:
    written = put(world, "# The plan\n\nWe go by **train**.\n\n- at nine\n", tags=("travel",))
    assert (written.rev, written.name, written.summary) == (1, "The plan", "We go by train. at nine")
    assert get_document(world.user(), PATH) == written
    assert put(world, "No heading.", "/a b/c").name == "c"
    assert len(put(world, "word " * 100, "/long").summary) <= 200


def test_every_revision_stays_readable_and_what_nobody_named_stays(world: World) -> None:
    first = put(world, "One.", tags=("x", "y"), group="g", importance=5)
    second = put(world, "Two.")
    assert (second.id, second.rev, second.tags, second.importance) == (first.id, 2, ("x", "y"), 5)
    assert get_document(world.user(), PATH, 1).text == "One."
    assert get_document(world.user(), PATH, 2).text == "Two."
    with pytest.raises(NeveError, match="document_not_found"):
        get_document(world.user(), PATH, 3)


def test_rev_moves_with_what_is_searched_only(world: World) -> None:
    put(world, "One.")
    assert put(world, "One.").rev == 1
    assert put(world, prompt_label="Plan", prompt_order=3).rev == 1
    assert (get_document(world.user(), PATH).prompt_label, get_document(world.user(), PATH, 1).prompt_order) == (
        "Plan",
        3,
    )
    assert put(world, name="Mine").rev == 2
    assert put(world, prompt_label="").prompt_label is None
    assert put(world, name="").name == "plan"


def test_a_write_is_compared_with_the_rev_it_was_made_for(world: World) -> None:
    put(world, "One.")
    assert put(world, "Two.", expected_rev=1).rev == 2
    for stale in ({"expected_rev": 1}, {"create": True}):
        with pytest.raises(NeveError, match="precondition_failed"):
            put(world, "Three.", **stale)
    with pytest.raises(NeveError, match="precondition_failed"):
        put(world, "Three.", "/none", expected_rev=1)
    with pytest.raises(NeveError, match="text"):
        put(world, path="/none")


@pytest.mark.parametrize("path", ["a", "/a/../b", "/artifacts/x"])
def test_a_path_that_may_not_be_is_named(world: World, path: str) -> None:
    with pytest.raises(NeveError) as refused:
        put(world, "One.", path)
    assert [error.field for error in refused.value.errors] == ["query.path"]


def test_it_is_one_document_too_when_somebody_moves_it_meanwhile(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the looks at where it is and at what is there."""
    sent = {"source_type": "wiki", "source_id": "page 7"}
    first = put(world, "One.", **sent)
    get = world.table.get

    def moved_behind(key: Key) -> Item | None:
        found: Item | None = get(key)
        if key == world.user().keys.document_place(str(first.id)):
            monkeypatch.undo()
            move_document(world.user(), PATH, "/projects/mine")
        return found

    monkeypatch.setattr(world.table, "get", moved_behind)
    again = put(world, "Two.", "/projects/beta/plan", **sent)
    assert again.id == first.id
    assert [document.path for document in list_documents(world.user(), "/")] == ["/projects/beta/plan"]


def test_a_text_too_long_for_a_row_is_an_object(world: World) -> None:
    long = "é" * (MAX_ROW_TEXT_BYTES // 2 + 1)
    written = put(world, long)
    assert written.text_object is not None
    assert get_document(world.user(), PATH).text == long
    tagged = put(world, tags=("x",))
    assert (tagged.rev, tagged.text, tagged.text_object) == (2, long, written.text_object)
    assert [document.text for document in list_documents(world.user(), "/")] == [""]
    put(world, long)
    with pytest.raises(NeveError, match="precondition_failed"):
        put(world, long + "é", expected_rev=1)
    assert world.objects.list(world.user().keys.documents_prefix) == [written.text_object]


def test_a_list_takes_whole_segments_and_leaves_artifacts_out(world: World) -> None:
    user = world.user()
    for path in ("/a/b", "/a-b", "/a/b c/d", "/z"):
        put(world, path, path)
    artifact = Document("/artifacts/x", "what a tool said", 4, 1, "2026-03-10T09:30:00.000Z")
    world.table.write([rows.put_artifact(user.keys, artifact)])
    assert [d.path for d in list_documents(user, "/")] == ["/a-b", "/a/b", "/a/b c/d", "/z"]
    assert [d.text for d in list_documents(user, "/a/")] == ["/a/b", "/a/b c/d"]
    assert [d.text for d in list_documents(user, "/artifacts")] == ["what a tool said"]


def test_always_load_is_always_included_and_a_protected_document_is_a_persons(world: World) -> None:
    assert put(world, "x", "/always-load/rules", always_include=False).always_include
    put(world, "One.", editable=False)
    with pytest.raises(NeveError, match="conflict"):
        put(world, "Two.", provenance=Provenance("assistant", trust="assistant"))
    assert put(world, "Two.").provenance == Provenance("human_edit", trust="user")


def test_a_superseded_document_is_not_written(world: World) -> None:
    put(world, "One.", status=Status.SUPERSEDED)
    with pytest.raises(NeveError, match="conflict"):
        put(world, "Two.")


def test_the_same_key_is_answered_with_the_same_revision(world: World) -> None:
    key = IdempotencyKey("PUT /documents", "k1", "sha")
    first = write_document(world.user(), PATH, DocumentChange("One."), idempotency_key=key)
    put(world, "Two.")
    again = write_document(world.user(), PATH, DocumentChange("One."), idempotency_key=key)
    assert (again.created, again.document.rev, again.document.text) == (True, 1, "One.")
    assert first.document.rev == 1


def test_another_transaction_can_hold_a_write(world: World) -> None:
    user = world.user()
    head = rows.read_head(None)
    planned = document_writes(user, PATH, DocumentChange("One."), expected_rev=None, create=True)
    put(world, "Zero.")
    with pytest.raises(Conflict):
        world.table.write(list(planned.ops))
    planned = document_writes(user, PATH, DocumentChange("One."), expected_rev=1)
    head = rows.read_head(world.table.get(user.keys.head))
    world.table.write([rows.check_head(user.keys, head), *planned.ops])
    item = world.table.get(user.keys.document(PATH))
    assert item is not None and read_document(item).rev == 2
    assert get_document(user, PATH).text == "One."


def test_calls_of_a_write_and_a_read(world: World) -> None:
    put(world, "One.")
    world.table.calls.clear()
    put(world, "Two.", expected_rev=1)
    assert world.table.calls == {"get_many": 1, "get": 1, "write": 1}
    world.table.calls.clear()
    get_document(world.user(), PATH)
    assert world.table.calls == {"get_many": 1, "get": 1}


def test_a_write_whose_answer_was_lost_is_recognised(world: World) -> None:
    world.table.lose_response = True
    assert put(world, "One.", create=True).rev == 1
    world.table.lose_response = True
    assert put(world, "Two.", expected_rev=1).rev == 2
    assert get_document(world.user(), PATH).text == "Two."


def test_the_loser_of_a_race_is_told_the_rev(world: World) -> None:
    put(world, "One.")

    def theirs() -> None:
        put(world, "Theirs.", expected_rev=1)

    def theirs_again() -> None:
        put(world, "Theirs again.")

    world.table.before_write = theirs
    with pytest.raises(NeveError, match="precondition_failed"):
        put(world, "Mine.", expected_rev=1)
    world.table.before_write = theirs_again
    assert put(world, "Mine.").rev == 4
    assert [get_document(world.user(), PATH, rev).text for rev in (2, 3, 4)] == ["Theirs.", "Theirs again.", "Mine."]
