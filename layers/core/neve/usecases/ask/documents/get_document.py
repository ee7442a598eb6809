"""Read one document with its text, as it is now or as it was at a rev, whole or page by page."""

from __future__ import annotations

from dataclasses import dataclass, replace

from neve.domain.errors import not_found
from neve.domain.records.documents import Document
from neve.domain.tokens import estimate, trim_to
from neve.ports.errors import StoreUnavailable
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


PAGE_TOKENS = 4_000
"""Tokens of one page (docs/rules/documents.md#pages), by the estimate, whatever counter the policy names."""
MAX_PAGE = 16 * PAGE_TOKENS
"""Characters that are looked at for one: more than the estimate lets through."""
STORE_ERROR = "hydrate:error"


@dataclass(frozen=True, slots=True)
class PageRead:
    """One page. ``text`` starts at the character ``offset``; ``next_offset`` None: it is the last page. ``document``
    None: there is none, or with ``degraded``, the store could not be asked."""

    path: str
    document: Document | None = None
    text: str = ""
    offset: int = 0
    next_offset: int | None = None
    degraded: tuple[str, ...] = ()


def read_page(scope: UserScope, path: str, offset: int = 0) -> PageRead:
    """Read one page, in two reads, one of an artifact, a third for a text that is an object. ``path`` in its normal
    form. A store that does not answer degrades the page. Raises user_closed."""
    try:
        document = find_document(scope, path, closed=True)
    except StoreUnavailable:
        return PageRead(path, degraded=(STORE_ERROR,))
    if document is None:
        return PageRead(path)
    text = trim_to(document.text[offset : offset + MAX_PAGE], PAGE_TOKENS, marker="", count=estimate)
    end = offset + len(text)
    return PageRead(path, document, text, offset, end if end < len(document.text) else None)
