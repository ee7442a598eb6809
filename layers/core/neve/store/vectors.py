"""The rows of sentence vectors, kept by content for one user."""

from __future__ import annotations

from collections.abc import Collection

from neve.ports.table import Table, key_of
from neve.store.delete_rows import delete_rows
from neve.store.keys import UserKeys
from neve.store.partitions import all_rows


def erase_vectors(table: Table, keys: UserKeys, texts: Collection[str]) -> int:
    """Of every model; how many. ``texts``: fingerprints of passages. Raises StoreUnavailable."""
    found = [
        key_of(item) for one in sorted(texts) for item in all_rows(table, keys.vectors, prefix=keys.vectors_of(one))
    ]
    return delete_rows(table, found)
