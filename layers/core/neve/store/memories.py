"""Memories by their ids, in one read; and what takes one away."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime

from neve.domain.memories.visibility import active
from neve.domain.records.memories import Memory
from neve.ports.table import Delete, Index, Item, Table, Version, WriteOp
from neve.store import rows
from neve.store.keys import UNHELD, UserKeys

UNHELD_ROWS = 200
"""Facts that do not hold which a reader takes into account, those since when this is so the shortest (*chosen*)."""


def memories_of(table: Table, keys: UserKeys, ids: Iterable[str], *, eventual: bool = False) -> list[Memory]:
    """Read memories in the order asked for; ids without a row are left out. ``eventual``: a row may be as it was a
    moment ago; one that is not there yet is looked for again. Raises StoreUnavailable."""
    wanted = [keys.memory(i) for i in dict.fromkeys(ids)]
    found = table.get_many(wanted, eventual=eventual) if wanted else {}
    if eventual and (late := [key for key in wanted if key not in found]):
        found |= table.get_many(late)
    return [rows.read_memory(found[key]) for key in wanted if key in found]


def active_memories(
    table: Table, keys: UserKeys, ids: Iterable[str], gen: int, at: str, *, eventual: bool = False
) -> list[Memory]:
    """Read those of the memories that are active as generation ``gen`` sees them, and hold at the time ``at``."""
    return [memory for memory in memories_of(table, keys, ids, eventual=eventual) if active(memory, gen, at)]


def unheld_rows(table: Table, keys: UserKeys) -> list[Item]:
    """Read the facts that do not hold, by their status, or will end, the latest first. Raises StoreUnavailable."""
    return table.query(keys.partition, index=Index.RECENT, prefix=UNHELD, reverse=True, limit=UNHELD_ROWS).items


def deleted_ops(keys: UserKeys, memory: Memory, now: datetime, texts: Collection[str] = ()) -> list[WriteOp]:
    """Make the two operations that take a memory's row away, for any caller and reason: its passages may be in the
    index by then, also those of a row that no reader has seen. ``texts``: fingerprints of passages whose vectors are to
    go after it. The row's expectation is that of what was read."""
    return [
        Delete(keys.memory(memory.id), Version(memory.version)),
        rows.put_leaving(keys, "memory", memory.id, memory.rev, now, texts),
    ]
