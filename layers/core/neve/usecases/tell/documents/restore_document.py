"""Writes a document as it was at an earlier rev, as its next one (docs/rules/documents.md#restoring)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from neve.domain.documents.change import DocumentChange, changed_document
from neve.domain.errors import not_found
from neve.domain.records.documents import Document
from neve.domain.times import iso
from neve.ports.table import Item, Key
from neve.scope import UserScope
from neve.store.documents import read_document, text_of
from neve.store.idempotency import IdempotencyKey
from neve.usecases.core.privacy.admit import admitted
from neve.usecases.tell.documents.commit_document import Commit, commit_document
from neve.usecases.tell.documents.document_writes import (
    SCREENED_FIELDS,
    DocumentWrites,
    WantedWrite,
    WrittenDocument,
    check_rev,
    not_superseded,
    with_text,
    writable_path,
    writes_of,
)


def restore_document(
    scope: UserScope,
    path: str,
    rev: int,
    *,
    expected_rev: Collection[int] | None = None,
    idempotency_key: IdempotencyKey | None = None,
) -> Document:
    """Write a document as it was at ``rev``. ``expected_rev``: what the document may be at now. Three reads, five where
    texts are objects, and one transaction; none where it is so already. Raises document_not_found, also for a rev that
    is not kept, validation_failed, pii_blocked, precondition_failed, conflict (the document is superseded), and what
    ``commit_document`` raises."""
    path = writable_path(path, "query.path")
    place, write_id = scope.keys.document(path), scope.ports.ids.token()
    wanted = WantedWrite(path, DocumentChange(), expected_rev, write_id=write_id)

    def plan(found: Mapping[Key, Item]) -> DocumentWrites:
        if place not in found:
            raise not_found("document", path)
        head = read_document(found[place])
        check_rev(expected_rev, head, path)
        not_superseded(head)
        before, then = with_text(scope, head), _at_rev(scope, head, rev)
        after = changed_document(before, path, _words_of(scope, then), iso(scope.ports.clock.now()), scope.count)
        if after == before:
            return DocumentWrites(WrittenDocument(after, created=False, changed=False))
        return writes_of(scope, wanted, before, after)

    commit = Commit([place], plan, expected_rev is not None, write_id, wanted.long_text, idempotency_key)
    return commit_document(scope, commit).document


def _at_rev(scope: UserScope, head: Document, rev: int) -> Document:
    item = scope.ports.table.get(scope.keys.document_rev(str(head.id), rev))
    if item is None:
        raise not_found("document", f"{head.path}' at rev '{rev}")
    revision = read_document(item)
    return replace(revision, text=text_of(scope.ports.objects, revision))


def _words_of(scope: UserScope, then: Document) -> DocumentChange:
    """Give what is searched of it, and whose word it is, as the policy admits it now: a deletion of the messages that
    it was made from finds it again."""
    change = DocumentChange(
        text=then.text,
        name="" if "name" in then.derived else then.name,
        summary="" if "summary" in then.derived else then.summary,
        tags=then.tags,
        group=then.group or "",
        provenance=then.provenance,
    )
    return admitted(scope, change, SCREENED_FIELDS)
