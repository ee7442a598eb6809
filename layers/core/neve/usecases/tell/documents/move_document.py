"""Moves a document to another path, with its history and everything that is said of it."""

from __future__ import annotations

from collections.abc import Collection

from neve.domain.documents.change import DocumentChange, changed_document
from neve.domain.records.documents import Document
from neve.domain.times import iso
from neve.scope import UserScope
from neve.store.idempotency import IdempotencyKey
from neve.usecases.tell.documents.document_writes import DocumentWrites, WrittenDocument, wanted_write, writes_of
from neve.usecases.tell.documents.to_another_path import Departure, to_another_path

NOTHING_ELSE = DocumentChange()


def move_document(
    scope: UserScope,
    path: str,
    to: str,
    *,
    expected_rev: Collection[int] | None = None,
    idempotency_key: IdempotencyKey | None = None,
) -> Document:
    """Move a document, in two reads and one transaction, whatever the history. Raises document_not_found,
    validation_failed, precondition_failed (another rev), conflict (something is at ``to``, or the document is
    superseded), and what ``write_document`` raises."""
    wanted = wanted_write(scope, to, NOTHING_ELSE, expected_rev, field="to")

    def plan(before: Document) -> DocumentWrites:
        after = changed_document(before, wanted.path, NOTHING_ELSE, iso(scope.ports.clock.now()), scope.count)
        written = writes_of(scope, wanted, before, after)
        return DocumentWrites(WrittenDocument(written.written.document, created=False), written.ops)

    departure = Departure(path, wanted, "is where the document is already", expected_rev is not None, idempotency_key)
    return to_another_path(scope, departure, plan)
