"""When a memory was last answered with. Told by the ledger rows, after the answer; moves neither ``rev`` nor the
rank."""

from __future__ import annotations

from collections.abc import Mapping

from neve.ports.engines import Ports
from neve.ports.errors import Conflict
from neve.ports.table import MAX_WRITE_OPS, Item, Key, Put, Version
from neve.store.transact import transact


def note_access(ports: Ports, accessed: Mapping[Key, str]) -> None:
    """``accessed``: when, by the memory's row. Older news changes nothing; a row that is gone is left out; a lost race
    is run again. Raises StoreUnavailable."""
    waiting = list(accessed)

    def attempt() -> None:
        nonlocal waiting
        waiting = _lost_races(ports, {key: accessed[key] for key in waiting})
        if waiting:
            raise Conflict

    transact(ports, attempt)


def _lost_races(ports: Ports, accessed: Mapping[Key, str]) -> list[Key]:
    """The rows that somebody else changed between being read and written. A row stays as it is but for this: it is not
    parsed, and each is written by itself. A power cut may take it: it was nobody's write."""
    found = ports.table.get_many(list(accessed)) if accessed else {}
    older = [key for key, item in found.items() if item.get("last_accessed_at", "") < accessed[key]]
    lost: list[Key] = []
    for start in range(0, len(older), MAX_WRITE_OPS):
        part = older[start : start + MAX_WRITE_OPS]
        puts = [_noted(found[key], accessed[key]) for key in part]
        lost += [part[place] for place in ports.table.write_each(puts)]
    return lost


def _noted(item: Item, at: str) -> Put:
    return Put(item | {"last_accessed_at": at}, Version(item["version"]), durable=False)
