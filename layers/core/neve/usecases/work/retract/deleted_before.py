"""Finds what was made of deleted events, and had been deleted itself before: no row says so any more, but packs may
hold it (docs/rules/retract.md#erase)."""

from __future__ import annotations

from collections.abc import Iterator

from neve.domain.memories.made_of import meets_any
from neve.domain.records.retractions import Retraction
from neve.ports.table import key_of
from neve.scope import SessionScope
from neve.store import rows
from neve.store.keys import DELETED_DOCUMENT, deleted_document_id, deleted_memory_id
from neve.store.partitions import all_rows


def deleted_before(scope: SessionScope, retraction: Retraction, since: str) -> dict[str, int]:
    """Give the last revs of memories and documents, by id, of those that may have been made of its events, which is so
    of all where it is not known. ``since``: the begin of the ids of what may have been made of the session. Raises
    StoreUnavailable."""
    return dict(_memories(scope, retraction, since)) | dict(_documents(scope, retraction))


def _memories(scope: SessionScope, retraction: Retraction, since: str) -> Iterator[tuple[str, int]]:
    keys, table = scope.keys, scope.ports.table
    for left in all_rows(table, keys.partition, between=keys.deleted_since(since)):
        if meets_any(rows.read_left_sources(left), scope.session, retraction.span):
            yield deleted_memory_id(key_of(left)), rows.deleted_rev(left)


def _documents(scope: SessionScope, retraction: Retraction) -> Iterator[tuple[str, int]]:
    for left in all_rows(scope.ports.table, scope.keys.partition, prefix=DELETED_DOCUMENT):
        if meets_any(rows.read_left_sources(left), scope.session, retraction.span):
            yield deleted_document_id(key_of(left)), int(left["rev"])
