"""The revisions of a document, newest first."""

from __future__ import annotations

from itertools import islice

from neve.domain.cursors import InvalidCursor, make_cursor, number_in, read_cursor
from neve.domain.errors import not_found
from neve.domain.records.documents import Document
from neve.scope import UserScope
from neve.store import rows
from neve.store.documents import read_document
from neve.store.partitions import all_rows_backwards


def list_versions(scope: UserScope, path: str, limit: int, cursor: str | None) -> tuple[list[Document], str | None]:
    """List the revisions, each as it was at its rev; an artifact is its only one. ``path``: where the document is now.
    Raises document_not_found, InvalidCursor, StoreUnavailable."""
    keys, table = scope.keys, scope.ports.table
    found = table.get_many([keys.head, keys.document(path)])
    item = found.get(keys.document(path))
    if item is None or rows.read_head(found.get(keys.head)).state != "active":
        raise not_found("document", path)
    head = read_document(item)
    if head.id is None:
        return [head], None
    listed = f"{keys.partition}\n{head.id}".encode()
    newest = _before(listed, cursor) - 1 if cursor else head.rev
    between = (keys.document_rev(head.id, 1).sk, keys.document_rev(head.id, newest).sk)
    behind = all_rows_backwards(table, keys.partition, between=between, page=limit + 1) if newest else iter(())
    versions = [read_document(one) for one in islice(behind, limit + 1)]
    shown = versions[:limit]
    return shown, make_cursor(listed, [str(shown[-1].rev)]) if len(versions) > limit else None


def _before(listed: bytes, cursor: str) -> int:
    """Read the rev that the page before ended with. Raises InvalidCursor."""
    (rev,) = read_cursor(listed, cursor, 1)
    if (number := number_in(rev)) < 1:
        raise InvalidCursor("not a cursor of this list")
    return number
