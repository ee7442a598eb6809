"""When a memory was last answered with. Told by the ledger rows, after the answer; moves neither ``rev`` nor the
rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from neve.ports import Conflict, Item, Ports, Table
from neve.store import rows
from neve.store.keys import UserKeys
from neve.store.transact import transact


def note_access(ports: Ports, keys: UserKeys, memory_ids: Sequence[str], at: str) -> None:
    """Older news changes nothing; a row that is gone is left out; a lost race is run again. Raises StoreUnavailable."""
    waiting = [keys.memory(memory_id) for memory_id in dict.fromkeys(memory_ids)]

    def attempt() -> None:
        nonlocal waiting
        found = ports.table.get_many(waiting) if waiting else {}
        waiting = [key for key, item in found.items() if not _noted(ports.table, keys, item, at)]
        if waiting:
            raise Conflict

    transact(ports, attempt)


def _noted(table: Table, keys: UserKeys, item: Item, at: str) -> bool:
    """False when somebody else changed the row first."""
    memory = rows.read_memory(item)
    if memory.last_accessed_at is not None and memory.last_accessed_at >= at:
        return True
    try:
        table.write([rows.put_memory(keys, replace(memory, last_accessed_at=at))])
    except Conflict:
        return False
    return True
