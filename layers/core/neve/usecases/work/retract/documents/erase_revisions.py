"""Erases the bytes of revisions of documents that hold what was deleted (docs/rules/retract.md#erase)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from neve.domain.indexing.document_passages import indexed_texts
from neve.domain.memories.text import fingerprint
from neve.ports.table import Item, key_of
from neve.scope import UserScope
from neve.store.delete_rows import delete_rows
from neve.store.documents import read_document, text_of

READ_BATCH_SIZE = 25
"""Revisions of one read, each of 300 KB at most."""


def texts_of_revisions(scope: UserScope, revisions: Sequence[tuple[str, int]]) -> set[str]:
    """Give the fingerprints of what these revisions, by id and rev, say. Raises StoreUnavailable."""
    stored = map(read_document, stored_revisions(scope, revisions))
    whole = (replace(one, text=text_of(scope.ports.objects, one)) for one in stored)
    return {fingerprint(text) for one in whole for text in indexed_texts(one)}


def erase_revisions(scope: UserScope, revisions: Sequence[tuple[str, int]]) -> int:
    """Delete their rows and their long texts; none of them is in force. Give how many there still were."""
    stored = list(stored_revisions(scope, revisions))
    for item in stored:
        if "text_object" in item:
            scope.ports.objects.delete(item["text_object"])
        delete_rows(scope.ports.table, [key_of(item)])
    return len(stored)


def stored_revisions(scope: UserScope, revisions: Sequence[tuple[str, int]]) -> Iterator[Item]:
    keys = [scope.keys.document_rev(document_id, rev) for document_id, rev in revisions]
    for start in range(0, len(keys), READ_BATCH_SIZE):
        yield from scope.ports.table.get_many(keys[start : start + READ_BATCH_SIZE]).values()
