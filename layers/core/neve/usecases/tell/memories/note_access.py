"""Notes when a memory was last answered with, to ten minutes. Told by the ledger rows, behind the answer; moves neither
``rev`` nor the rank."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from neve.caching import CacheSpec
from neve.domain.times import parse
from neve.ports.engines import Ports
from neve.ports.errors import Conflict
from neve.ports.table import MAX_WRITE_OPS, Item, Key, Put, Version
from neve.store.transact import transact

EXACT_TO = timedelta(minutes=10)
"""*Chosen*. One message after the other of a conversation finds much the same memories, and each note is a write: on
one machine they took as much processor time as the recalls."""
NOTED: CacheSpec[Key, str] = CacheSpec("noted accesses", size=10_000)
"""The times that rows are known to hold, so that they need not be read: some 3 MB."""


def note_access(ports: Ports, accessed: Mapping[Key, str]) -> None:
    """Note when memories were last answered with. ``accessed``: when, by the memory's row. What is no later than
    ``EXACT_TO`` after the time that is noted changes nothing; a row that is gone is left out; a lost race is run again.
    Raises StoreUnavailable."""
    noted = ports.caches.of(NOTED)
    waiting = [key for key, at in accessed.items() if _is_news(at, noted.get(key))]

    def attempt() -> None:
        nonlocal waiting
        waiting = _write_times(ports, {key: accessed[key] for key in waiting})
        if waiting:
            raise Conflict

    transact(ports, attempt)


def _write_times(ports: Ports, accessed: Mapping[Key, str]) -> list[Key]:
    """Write the times, and give the rows that another writer changed between being read and written. A row stays as it
    is but for this: it is not parsed, and each is written by itself. A power cut may take it: no caller was promised
    it."""
    found = ports.table.get_many(list(accessed)) if accessed else {}
    news = [key for key, item in found.items() if _is_news(accessed[key], item.get("last_accessed_at"))]
    lost: list[Key] = []
    for start in range(0, len(news), MAX_WRITE_OPS):
        part = news[start : start + MAX_WRITE_OPS]
        lost += [part[place] for place in ports.table.write_each([_noted(found[key], accessed[key]) for key in part])]
    now_there = {key: item["last_accessed_at"] for key, item in found.items() if key not in news}
    now_there |= {key: accessed[key] for key in news if key not in lost}
    for key, at in now_there.items():
        ports.caches.of(NOTED).put(key, at)
    return lost


def _noted(item: Item, at: str) -> Put:
    return Put(item | {"last_accessed_at": at}, Version(item["version"]), durable=False)


def _is_news(at: str, last: str | None) -> bool:
    return last is None or parse(at) - parse(last) >= EXACT_TO
