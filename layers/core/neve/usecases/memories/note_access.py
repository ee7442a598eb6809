"""When a memory was last answered with. Told by the ledger rows, after the answer; moves neither ``rev`` nor the
rank."""

from __future__ import annotations

from collections.abc import Mapping

from neve.ports.engines import Ports
from neve.ports.errors import Conflict
from neve.ports.table import Item, Key, Put, Table, Version
from neve.store.transact import transact


def note_access(ports: Ports, accessed: Mapping[Key, str]) -> None:
    """``accessed``: when, by the memory's row. Older news changes nothing; a row that is gone is left out; a lost race
    is run again. Raises StoreUnavailable."""
    waiting = list(accessed)

    def attempt() -> None:
        nonlocal waiting
        found = ports.table.get_many(waiting) if waiting else {}
        waiting = [key for key, item in found.items() if not _noted(ports.table, item, accessed[key])]
        if waiting:
            raise Conflict

    transact(ports, attempt)


def _noted(table: Table, item: Item, at: str) -> bool:
    """False when somebody else changed the row first. The row stays as it is but for this: it is not parsed, and each
    is written by itself, at half the price of a transaction. A power cut may take
    it: it was nobody's write."""
    if item.get("last_accessed_at", "") >= at:
        return True
    try:
        table.write([Put(item | {"last_accessed_at": at}, Version(item["version"]), durable=False)])
    except Conflict:
        return False
    return True
