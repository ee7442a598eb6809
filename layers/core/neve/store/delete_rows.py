"""Delete many rows, whatever they are by now."""

from __future__ import annotations

from collections.abc import Sequence

from neve.ports.table import MAX_WRITE_OPS, Check, Delete, Expect, Key, Table, WriteOp, key_of
from neve.store.partitions import pages, whole

DELETE_BATCH_SIZE = MAX_WRITE_OPS - 1
"""The rows of one transaction, with a fence."""


def delete_rows(table: Table, keys: Sequence[Key], fence: Check | None = None) -> int:
    """Delete rows by their keys; return how many keys there were. Raises as ``write_fenced`` does."""
    write_fenced(table, [Delete(key, Expect.ANY) for key in keys], fence)
    return len(keys)


def write_fenced(table: Table, ops: Sequence[WriteOp], fence: Check | None) -> None:
    """Write operations in transactions of at most 100 operations. ``fence``: what has to hold for each of them. Raises
    Conflict when it does not, StoreUnavailable."""
    fenced = [] if fence is None else [fence]
    for start in range(0, len(ops), DELETE_BATCH_SIZE):
        table.write([*fenced, *ops[start : start + DELETE_BATCH_SIZE]])


def delete_partition(table: Table, partition: str) -> int:
    """Delete a partition page by page, however many rows it has; return how many. Raises StoreUnavailable."""
    return sum(delete_rows(table, [key_of(item) for item in page]) for page in pages(whole(table), partition))
