"""Documents below a prefix, in the order of their paths."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from neve.domain.cursors import InvalidCursor, make_cursor, number_in, read_cursor
from neve.domain.documents.paths import ARTIFACTS
from neve.domain.errors import not_found
from neve.domain.records.documents import Document
from neve.domain.records.memories import Status
from neve.ports.table import Table
from neve.scope import UserScope
from neve.store import rows
from neve.store.documents import read_document
from neve.store.keys import UserKeys
from neve.store.partitions import all_rows, all_rows_backwards

READ_BATCH_SIZE = 25
"""Texts of one read: 25 of 300 KB are below the 16 MB of a batch (*limit*, DynamoDB)."""


def list_documents(scope: UserScope, prefix: str, after: str | None = None) -> Iterator[Document]:
    """Read the documents of every status below a prefix, with their texts; the text of one over 300 KB, which is an
    object, is empty. ``prefix``: whole segments, ``/projects/alpha`` or ``/projects/alpha/``; ``/`` for all. ``after``:
    a path that they are behind. Artifacts are no part of it unless they are asked for. A query, and a read for each
    ``READ_BATCH_SIZE`` of them. Raises StoreUnavailable."""
    heads = heads_below(scope.ports.table, scope.keys, prefix, after)
    while some := list(islice(heads, READ_BATCH_SIZE)):
        places = [scope.keys.document_rev(head.id, head.rev) for head in some if head.id is not None]
        found = scope.ports.table.get_many(places) if places else {}
        for head in some:
            if head.id is None:
                yield head
                continue
            revision = found.get(scope.keys.document_rev(head.id, head.rev))
            if revision is not None:  # else it was deleted since
                yield replace(head, text=read_document(revision).text)


def heads_below(table: Table, keys: UserKeys, prefix: str, after: str | None = None) -> Iterator[Document]:
    """Read documents without their texts, behind the path ``after``. Raises StoreUnavailable."""
    below = prefix.rstrip("/")
    if below and after is None:
        item = table.get(keys.document(below))
        if item is not None:
            yield read_document(item)
    for between in _spans(keys, f"{below}/", after if after != below else None):
        for item in all_rows(table, keys.partition, between=between):
            yield read_document(item)


def _spans(keys: UserKeys, prefix: str, after: str | None) -> list[tuple[str, str]]:
    """Give the ranges of keys to read. The rows of artifacts hold their texts, so a list of everything leaves them
    out."""
    first, last = keys.documents_below(prefix, after)
    to, behind = keys.documents_below(ARTIFACTS, None)
    if not first <= to or not behind <= last or prefix == ARTIFACTS:
        return [(first, last)] if first <= last else []
    return [(first, to), (behind, last)]


# --- page by page ---------------------------------------------------------------------------------

LISTED = (Status.ACTIVE, Status.RESOLVED, Status.INBOX)
"""Statuses listed without a filter, as of memories."""
MAX_SCANNED = 2_000
"""Heads read by one call at most: a page may be short, its cursor goes on."""


def page_of_documents(
    scope: UserScope, prefix: str, status: Status | None, limit: int, cursor: str | None
) -> tuple[list[Document], str | None]:
    """List one page of documents, without their texts. Raises InvalidCursor, StoreUnavailable."""
    listed = json.dumps([scope.keys.partition, prefix, status]).encode()
    after = _after(listed, cursor, prefix) if cursor else None
    user = rows.read_head(scope.ports.table.get(scope.keys.head))
    if rows.hidden(user) or user.state != "active":
        return [], None
    found: list[Document] = []
    last = after
    for scanned, head in enumerate(heads_below(scope.ports.table, scope.keys, prefix, after), start=1):
        if len(found) == limit or scanned > MAX_SCANNED:
            return found, make_cursor(listed, [str(last)])
        last = head.path
        if head.status is status or (status is None and head.status in LISTED):
            found.append(replace(head, text=""))
    return found, None


def _after(listed: bytes, cursor: str, prefix: str) -> str:
    """Read the path that the page before ended with. Raises InvalidCursor."""
    (path,) = read_cursor(listed, cursor, 1)
    if not path.startswith(prefix):
        raise InvalidCursor("not a place in this list")
    return path


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
