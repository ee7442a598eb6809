"""Memories by their ids, in one read."""

from __future__ import annotations

from collections.abc import Iterable

from neve.domain.memories.visibility import active
from neve.domain.records.memories import Memory
from neve.ports.table import Table
from neve.store import rows
from neve.store.keys import UserKeys


def memories_of(table: Table, keys: UserKeys, ids: Iterable[str]) -> list[Memory]:
    """In the order asked for; ids without a row are left out. Raises StoreUnavailable."""
    wanted = [keys.memory(i) for i in dict.fromkeys(ids)]
    found = table.get_many(wanted) if wanted else {}
    return [rows.read_memory(found[key]) for key in wanted if key in found]


def active_memories(table: Table, keys: UserKeys, ids: Iterable[str], gen: int) -> list[Memory]:
    """Those of them that are active as generation ``gen`` sees them."""
    return [memory for memory in memories_of(table, keys, ids) if active(memory, gen)]
