"""A user's active rows that a night may condense (docs/rules/reflect.md#nightly)."""

from __future__ import annotations

from neve.domain.memories.visibility import visible
from neve.domain.records.memories import Memory
from neve.domain.reflect.nightly import is_candidate, may_be_condensed
from neve.domain.times import iso
from neve.ports.table import Index
from neve.scope import UserScope
from neve.store.memories import active_memories
from neve.store.partitions import all_rows

READ_BATCH_SIZE = 100
"""Rows of one batch read, as DynamoDB takes them."""


def candidate_rows(scope: UserScope, gen: int) -> list[Memory]:
    """Read the rows of a user that a night may condense, however old they are. The index of active rows names them, so
    that what was replaced long ago costs nothing; the rows themselves say what holds. Rows of the last moment may be
    missing. Raises StoreUnavailable."""
    table, keys = scope.ports.table, scope.keys
    ids = [
        str(item["id"])
        for item in all_rows(table, keys.partition, index=Index.RANK)
        if is_candidate(item["kind"], item["scope"]) and visible(item["born_gen"], item.get("died_gen"), gen)
    ]
    at = iso(scope.ports.clock.now())
    starts = range(0, len(ids), READ_BATCH_SIZE)
    parts = (active_memories(table, keys, ids[first : first + READ_BATCH_SIZE], gen, at) for first in starts)
    return [memory for part in parts for memory in part if may_be_condensed(memory)]
