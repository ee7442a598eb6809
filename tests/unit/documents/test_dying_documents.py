"""A process that deletes or makes a document dies at any of its writes: what nobody names goes, and what somebody names
stays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from neve.domain.documents.change import DocumentChange
from neve.domain.errors import NeveError
from neve.domain.librarian.filing import Action, Proposal
from neve.store.filings import put_proposal
from neve.store.keys import DELETED_DOCUMENT, PROPOSAL
from neve.store.rows import read_left_sources
from neve.usecases.ask.documents.get_document import get_document
from neve.usecases.tell.documents import document_writes
from neve.usecases.tell.documents.delete_document import delete_document
from neve.usecases.tell.documents.to_another_path import move_document
from neve.usecases.tell.documents.write_document import write_document
from neve.usecases.tell.inbox.decide import decide_item
from neve.usecases.tell.inbox.decision import Decision
from neve.usecases.work.background.sweep_due import sweep_due
from tests.unit.dying import Dead, die_behind
from tests.unit.recall_world import RecallWorld

PATH = "/notes/log"
REVISIONS = 95
"""So many that the oldest go before the document does."""
LONG = 20
LATER_S = 3_600 + 600
"""An hour, and the 10 minutes of a bucket of the index ``due``."""
WRITES = 4
"""Of a deletion before its end: the oldest revisions, the document, two of its three long texts."""


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecallWorld]:
    monkeypatch.setattr(document_writes, "MAX_ROW_TEXT_BYTES", 5 * LONG)
    made = RecallWorld.make(tmp_path)
    made.with_policy()
    yield made
    made.close()


def write(world: RecallWorld, text: str, path: str = PATH) -> None:
    write_document(world.user(), path, DocumentChange(text=text))


def stored(world: RecallWorld) -> list[str]:
    """Names of objects, and the kinds of the rows that a document has."""
    items = world.rows.query(world.user().keys.partition, limit=1_000).items
    return [*world.objects.list(""), *sorted({item["type"] for item in items} - {"user", "deleted_document", "usage"})]


def ways_to_write(world: RecallWorld) -> list[tuple[Any, str]]:
    return [(world.rows, "write"), (world.objects, "put"), (world.objects, "delete")]


@pytest.mark.parametrize("writes", [1, 2, WRITES])
def test_behind_whichever_write_a_deletion_dies_nothing_is_left_of_it(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    for n in range(REVISIONS):
        write(world, f"Text {n}. {'A long one. ' * LONG if n in (1, 50, 93) else ''}")
    world.pump()
    with monkeypatch.context() as dying:
        die_behind(writes, dying, *ways_to_write(world))
        with pytest.raises(Dead):
            delete_document(world.user(), PATH, None)
    if writes == 1:  # it is still there, without its oldest revisions: whoever asks for it is told so
        delete_document(world.user(), PATH, None)
    world.pump()
    assert stored(world) == []
    assert world.index.count(world.user().keys.owner) == 0
    [left] = world.rows.query(world.user().keys.partition, prefix=DELETED_DOCUMENT, limit=9).items
    known = read_left_sources(left)
    assert known == (None if writes == 1 else ()), (
        "nobody read its oldest revisions again: it is not known whose they were"
    )


@pytest.mark.parametrize(("writes", "made"), [(1, False), (2, False), (3, True)])
def test_behind_whichever_write_a_new_document_dies_its_text_is_named_or_goes(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch, writes: int, made: bool
) -> None:
    """It is announced, it is an object, the document is there."""
    long = "A long one. " * LONG
    with monkeypatch.context() as dying:
        die_behind(writes, dying, *ways_to_write(world))
        with pytest.raises(Dead):
            write(world, long)
    world.pump()
    assert sweep_due(world)["texts"] == 0, "somebody may still be about to write it"
    assert len(world.objects.list("")) == (writes > 1)
    world.clock.move(seconds=LATER_S)
    assert sweep_due(world)["texts"] == 1
    world.pump()
    if made:
        assert get_document(world.user(), PATH).text == long
        assert world.objects.list("") != [] and "announced_text" not in stored(world)
        delete_document(world.user(), PATH, None)
        world.pump()
    assert stored(world) == []
    assert sweep_due(world)["texts"] == 0


def test_a_write_that_is_refused_leaves_nothing(world: RecallWorld) -> None:
    write(world, "Short.")
    with pytest.raises(NeveError, match="precondition_failed"):
        write_document(world.user(), PATH, DocumentChange(text="A long one. " * LONG), create=True)
    write(world, "A long one. " * LONG)
    world.pump()
    [text] = world.objects.list("")
    assert sweep_due(world)["texts"] == 0, "of a document that is there nothing is announced"
    write(world, "Short again.")
    assert world.objects.list("") == [text], "its old revision can be read"


def proposed(world: RecallWorld, name: str, action: Action) -> str:
    """Its id; it waits."""
    at, keys = "2026-03-10T09:00:00.000Z", world.user().keys
    world.rows.write([put_proposal(keys, Proposal(f"prp_{name}", action, "low", "s1", at, "m", "user"))])
    return f"prp_{name}"


def test_what_was_proposed_for_a_document_goes_with_it(world: RecallWorld) -> None:
    """A proposal holds all of a document's text."""
    kept = write_document(world.user(), "/notes/kept", DocumentChange(text="Jazz.")).document
    made = proposed(world, "1", Action("create", PATH, "Anna is allergic.", seqs=(1,)))
    decided = decide_item(world.user(), made, Decision("approve"))
    assert isinstance(decided, Proposal) and decided.status == "approved"
    move_document(world.user(), PATH, "/notes/moved")
    document = get_document(world.user(), "/notes/moved")
    again = replace(decided.action, verb="update", path="/notes/moved", base_rev=2, base_id=document.id)
    proposed(world, "2", again)
    other = proposed(world, "3", replace(again, path="/notes/kept", base_rev=1, base_id=kept.id))
    delete_document(world.user(), "/notes/moved", None)
    world.pump()
    left = world.rows.query(world.user().keys.partition, prefix=PROPOSAL, limit=9).items
    assert [item["id"] for item in left] == [other]
