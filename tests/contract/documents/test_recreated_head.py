"""Who has read a document's head changes nothing once the head was recreated: the document was moved away and back
meanwhile, or deleted and another one written in its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from neve.domain.documents.change import DocumentChange, changed_document, new_document
from neve.domain.records.documents import Document
from neve.domain.times import parse
from neve.ports.errors import Conflict
from neve.ports.table import Item, Table, WriteOp
from neve.store.documents import document_deletion, put_document, read_document, written_ops
from neve.store.keys import UserKeys

KEYS = UserKeys("t1", "u1")
HERE, THERE, ELSEWHERE = "/notes/a", "/work/b", "/work/c"
NOW = "2026-03-10T09:30:00.000Z"


def made(document_id: str, text: str) -> Document:
    return new_document(HERE, document_id, DocumentChange(text=text), NOW, len)


def changed(before: Document, path: str = HERE, **what: str) -> Document:
    return changed_document(before, path, DocumentChange(**what), NOW, len)  # type: ignore[arg-type]


def write(table: Table, before: Document | None, after: Document) -> Document:
    """As it stands in its head then, with its text."""
    table.write(written_ops(KEYS, before, after, None))
    head = table.get(KEYS.document(after.path))
    assert head is not None
    return replace(read_document(head), text=after.text)


def moved_away_and_back(table: Table, seen: Document) -> None:
    away = write(table, seen, changed(seen, THERE))
    write(table, away, changed(away, HERE))


def deleted_and_another_one_written(table: Table, seen: Document) -> None:
    table.write(document_deletion(KEYS, seen, "deletion", parse(NOW), ()))
    write(table, None, made("doc_2", "Another."))


def a_revision(seen: Document) -> Sequence[WriteOp]:
    return written_ops(KEYS, seen, changed(seen, text="Two."), None)


def a_change_in_place(seen: Document) -> Sequence[WriteOp]:
    return written_ops(KEYS, seen, changed(seen, prompt_label="Plan"), None)


def a_move(seen: Document) -> Sequence[WriteOp]:
    return written_ops(KEYS, seen, changed(seen, ELSEWHERE), None)


def a_deletion(seen: Document) -> Sequence[WriteOp]:
    return document_deletion(KEYS, seen, "stale", parse(NOW), ())


def a_note_of_the_index(seen: Document) -> Sequence[WriteOp]:
    return [put_document(KEYS, replace(seen, rev_at=None))]


def rows(table: Table) -> list[Item]:
    return table.query(KEYS.partition, limit=100).items


@pytest.mark.parametrize("meanwhile", [moved_away_and_back, deleted_and_another_one_written])
@pytest.mark.parametrize("stale", [a_revision, a_change_in_place, a_move, a_deletion, a_note_of_the_index])
def test_a_head_recreated_is_not_the_one_that_was_read(
    table: Table, stale: Callable[[Document], Sequence[WriteOp]], meanwhile: Callable[[Table, Document], None]
) -> None:
    seen = write(table, None, made("doc_1", "One."))
    meanwhile(table, seen)
    before = rows(table)
    with pytest.raises(Conflict):
        table.write(stale(seen))
    assert rows(table) == before
    assert any(item["sk"] == KEYS.document(HERE).sk for item in before)
