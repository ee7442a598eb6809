"""Erases the bytes of revisions of documents that hold what was deleted (docs/rules/retract.md#erase)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from neve.domain.indexing.document_passages import indexed_texts
from neve.domain.memories.text import fingerprint
from neve.domain.records.documents import Document
from neve.domain.records.retractions import Retraction
from neve.ports.table import Item, key_of
from neve.scope import SessionScope, UserScope
from neve.store.delete_rows import delete_rows
from neve.store.documents import read_document, text_of
from neve.usecases.work.retract.still_used import used_elsewhere

READ_BATCH_SIZE = 25
"""Revisions of one read, each of 300 KB at most."""


def texts_of_these_alone(
    scope: SessionScope,
    retraction: Retraction,
    revisions: Sequence[tuple[str, int]],
    others: Collection[tuple[str, int]],
    memories: Collection[str],
) -> set[str]:
    """Give the fingerprints of what these revisions, by id and rev, say and nothing else that the user has. ``others``,
    and ``memories`` by their ids: what is about to be erased as well. Raises StoreUnavailable."""
    texts: set[str] = set()
    for revision in map(read_document, stored_revisions(scope, revisions)):
        texts |= texts_of_revision(scope, revision)

    def leaving(session: str, seq: int) -> bool:
        return session == scope.session and retraction.seq_from <= seq <= retraction.seq_to

    return texts - used_elsewhere(scope, texts, leaving, memories, frozenset([*revisions, *others]))


def texts_of_revision(scope: UserScope, revision: Document) -> set[str]:
    whole = replace(revision, text=text_of(scope.ports.objects, revision))
    return set(map(fingerprint, indexed_texts(whole)))


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
