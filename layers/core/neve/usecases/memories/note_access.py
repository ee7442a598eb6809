"""When a memory was last answered with. Told by the ledger rows, after the answer; moves neither ``rev`` nor the
rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from neve.ports import Conflict, Item
from neve.store import rows
from neve.store.keys import Keys
from neve.wiring import Ports


def note_access(ports: Ports, tenant: str, user: str, memory_ids: Sequence[str], at: str) -> None:
    """Older news changes nothing; a row that is gone is left out; a lost race is run again. Raises StoreUnavailable."""
    keys = Keys(tenant)
    waiting = [keys.memory(user, memory_id) for memory_id in dict.fromkeys(memory_ids)]
    while waiting:
        found = ports.table.get_many(waiting)
        waiting = [key for key, item in found.items() if not _noted(ports, keys, user, item, at)]


def _noted(ports: Ports, keys: Keys, user: str, item: Item, at: str) -> bool:
    """False when somebody else changed the row first."""
    memory = rows.read_memory(item)
    if memory.last_accessed_at is not None and memory.last_accessed_at >= at:
        return True
    try:
        ports.table.write([rows.put_memory(keys, user, replace(memory, last_accessed_at=at))])
    except Conflict:
        return False
    return True
