"""Delete many rows, whatever they are by now."""

from __future__ import annotations

from collections.abc import Sequence

from neve.ports.table import MAX_WRITE_OPS, Delete, Expect, Key, Table, key_of
from neve.store.partitions import pages, readable_whole


def delete_rows(table: Table, keys: Sequence[Key]) -> int:
    """Delete rows by their keys, in transactions of at most 100; return how many keys there were. Raises
    StoreUnavailable."""
    for start in range(0, len(keys), MAX_WRITE_OPS):
        table.write([Delete(key, Expect.ANY) for key in keys[start : start + MAX_WRITE_OPS]])
    return len(keys)


def delete_partition(table: Table, partition: str) -> int:
    """Delete a partition page by page, however many rows it has; return how many. Raises StoreUnavailable."""
    return sum(delete_rows(table, [key_of(item) for item in page]) for page in pages(readable_whole(table), partition))
