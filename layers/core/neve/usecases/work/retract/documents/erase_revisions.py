"""Erases the bytes of revisions of documents that hold what was deleted (docs/rules/retract.md#erase)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from neve.domain.indexing.document_passages import indexed_texts
from neve.domain.memories.text import fingerprint
from neve.ports.table import Item, key_of
from neve.scope import UserScope
from neve.store.delete_rows import delete_rows
from neve.store.documents import read_document, text_of
from neve.store.vectors import erase_vectors

READ_BATCH_SIZE = 25
"""Revisions of one read, each of 300 KB at most."""


Revision = tuple[str, int]
"""Id and rev."""
T = TypeVar("T")


def with_their_vectors(scope: UserScope, revisions: Sequence[Revision], change: Callable[[], T]) -> tuple[T, int]:
    """Give what ``change`` returns, which erases these revisions, or rewrites them, and how many vectors went with
    them: first, because they are found by the texts; and once more behind it, because a worker that was embedding a
    revision takes away what it has kept where it finds the revision gone."""
    texts = _texts_of(scope, revisions)
    vectors = erase_vectors(scope.ports.table, scope.keys, texts)
    changed = change()
    return changed, vectors + erase_vectors(scope.ports.table, scope.keys, texts)


def _texts_of(scope: UserScope, revisions: Sequence[Revision]) -> set[str]:
    """Give the fingerprints of what these revisions say. Raises StoreUnavailable."""
    stored = map(read_document, stored_revisions(scope, revisions))
    whole = (replace(one, text=text_of(scope.ports.objects, one)) for one in stored)
    return {fingerprint(text) for one in whole for text in indexed_texts(one)}


def erase_revisions(scope: UserScope, revisions: Sequence[Revision]) -> int:
    """Delete their rows and their long texts; none of them is in force. Give how many there still were."""
    stored = list(stored_revisions(scope, revisions))
    for item in stored:
        if "text_object" in item:
            scope.ports.objects.delete(item["text_object"])
        delete_rows(scope.ports.table, [key_of(item)])
    return len(stored)


def stored_revisions(scope: UserScope, revisions: Sequence[Revision]) -> Iterator[Item]:
    keys = [scope.keys.document_rev(document_id, rev) for document_id, rev in revisions]
    for start in range(0, len(keys), READ_BATCH_SIZE):
        yield from scope.ports.table.get_many(keys[start : start + READ_BATCH_SIZE]).values()
