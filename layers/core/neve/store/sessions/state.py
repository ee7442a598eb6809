"""Reads epoch, marker and indexed row of a session, which stand beside each other: one query reads all three. It is
charged for each 4 KB of them together, where a batch read is charged for each row (docs/access-patterns.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from neve.ports.table import Item, Key, Table, key_of
from neve.store.keys import SESSION_STATE, SessionKeys, UserKeys
from neve.store.partitions import all_rows

ROWS = 3


def read_state(table: Table, keys: SessionKeys) -> dict[Key, Item]:
    """Read those of the three rows that are there; one consistent query. Raises StoreUnavailable."""
    return {key_of(item): item for item in table.query(keys.partition, prefix=keys.state, limit=ROWS).items}


def state_rows(table: Table, keys: UserKeys, kind: Literal["epoch", "marker", "indexed"]) -> Iterator[Item]:
    """Read one of the three of each session of a user, by session id; all three are read. Raises StoreUnavailable."""
    return (item for item in all_rows(table, keys.partition, prefix=SESSION_STATE) if item["type"] == kind)
