"""A document as it was at an earlier rev (docs/rules/documents.md#restoring)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from neve.domain.documents.change import DocumentChange
from neve.domain.errors import NeveError
from neve.domain.records.documents import Document
from neve.domain.records.memories import Provenance, Status
from neve.store.documents import MAX_ROW_TEXT_BYTES
from neve.store.idempotency import IdempotencyKey
from neve.usecases.ask.documents.get_document import get_document
from neve.usecases.tell.documents.delete_document import delete_document
from neve.usecases.tell.documents.restore_document import restore_document
from neve.usecases.tell.documents.write_document import write_document
from tests.unit.world import World

PATH = "/notes/plan"


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    yield World.make(tmp_path_factory.mktemp("documents"))


def put(world: World, text: str | None = None, **more: object) -> Document:
    return write_document(world.user(), PATH, DocumentChange(text=text, **more)).document  # type: ignore[arg-type]


def test_a_restored_text_is_whose_it_was(world: World) -> None:
    theirs = Provenance("assistant", "s1", 1, 4, trust="assistant")
    put(world, "A model's.", provenance=theirs)
    put(world, "A person's.")
    assert restore_document(world.user(), PATH, 1).provenance == theirs


def test_a_blank_and_a_long_text_come_back(world: World) -> None:
    long = "a" * (MAX_ROW_TEXT_BYTES + 1)
    put(world, long)
    put(world, "")
    put(world, "x")
    assert restore_document(world.user(), PATH, 2).text == ""
    assert restore_document(world.user(), PATH, 1).text == get_document(world.user(), PATH).text == long


@pytest.mark.parametrize("rev", [3, 9])
def test_a_rev_that_is_not_kept_is_not_found(world: World, rev: int) -> None:
    put(world, "One.")
    put(world, "Two.")
    with pytest.raises(NeveError, match="document_not_found"):
        restore_document(world.user(), PATH, rev)


def test_a_deleted_document_has_nothing_to_be_restored_from(world: World) -> None:
    put(world, "One.")
    delete_document(world.user(), PATH, None)
    with pytest.raises(NeveError, match="document_not_found"):
        restore_document(world.user(), PATH, 1)


def test_the_precondition_is_of_the_rev_that_holds(world: World) -> None:
    put(world, "One.")
    put(world, "Two.")
    with pytest.raises(NeveError, match="precondition_failed"):
        restore_document(world.user(), PATH, 1, expected_rev=(1,))
    assert restore_document(world.user(), PATH, 1, expected_rev=(2,)).rev == 3


def test_a_superseded_document_is_not_restored(world: World) -> None:
    put(world, "One.")
    put(world, "Two.", status=Status.SUPERSEDED)
    with pytest.raises(NeveError, match="conflict"):
        restore_document(world.user(), PATH, 1)


def test_what_the_policy_blocks_by_now_does_not_come_back(world: World) -> None:
    put(world, "Fine.")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("neve.usecases.tell.documents.document_writes.admitted", lambda _scope, change, _names: change)
        put(world, "Card 4111 1111 1111 1111.")
    put(world, "Fine again.")
    with pytest.raises(NeveError, match="pii_blocked"):
        restore_document(world.user(), PATH, 2)


def test_a_repeat_with_its_key_restores_once(world: World) -> None:
    put(world, "One.")
    put(world, "Two.")
    key = IdempotencyKey("POST /documents/restore", "k1", "sha")
    assert restore_document(world.user(), PATH, 1, idempotency_key=key).rev == 3
    put(world, "Four.")
    assert restore_document(world.user(), PATH, 1, idempotency_key=key).rev == 3
    assert get_document(world.user(), PATH).text == "Four."
