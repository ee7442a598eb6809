"""One document with its text, as it is now or as it was at a rev."""

from __future__ import annotations

from dataclasses import replace

from neve.domain.errors import not_found
from neve.domain.records.documents import Document
from neve.scope import UserScope
from neve.store import rows
from neve.store.documents import read_document, text_of

READINGS = 8
"""*Chosen*: readings of a document that is deleted and made again between the reads of its two rows; then there is
none."""


def get_document(scope: UserScope, path: str, rev: int | None = None) -> Document:
    """Read a document. ``path`` in its normal form, of where the document is now. Two reads, a third for a text that is
    an object. Raises document_not_found, also for a rev that was never written; StoreUnavailable."""
    found = find_document(scope, path, rev)
    if found is None:
        raise not_found("document", path if rev is None else f"{path}' at rev '{rev}")
    return found


def find_document(scope: UserScope, path: str, rev: int | None = None, *, closed: bool = False) -> Document | None:
    """Read a document; None where there is none, and while the user is being erased. ``closed``: one who was erased for
    good is told so (user_closed)."""
    keys, table = scope.keys, scope.ports.table
    for _ in range(READINGS):
        found = table.get_many([keys.head, keys.document(path)])
        item = found.get(keys.document(path))
        user = rows.read_head(found.get(keys.head))
        if closed:
            rows.not_closed(user)
        if item is None or user.state != "active":
            return None
        head = read_document(item)
        if head.id is None:
            return replace(head, text=text_of(scope.ports.objects, head)) if rev in (None, head.rev) else None
        revision = table.get(keys.document_rev(head.id, rev or head.rev))
        if revision is not None:
            read = read_document(revision)
            text = text_of(scope.ports.objects, read)
            return replace(head if read.rev == head.rev else read, text=text)
        if rev is not None and rev != head.rev:
            return None
    return None


def get_revision(scope: UserScope, document_id: str, rev: int) -> Document:
    """Read a revision by its id and rev, which never change. Raises document_not_found, StoreUnavailable."""
    item = scope.ports.table.get(scope.keys.document_rev(document_id, rev))
    if item is None:
        raise not_found("document", document_id)
    read = read_document(item)
    return replace(read, text=text_of(scope.ports.objects, read))
