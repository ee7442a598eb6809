"""Keeps something of each user in memory, least recently used first out."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Generic, NamedTuple, Protocol, TypeVar

from neve.ports.search import Owner


class Sized(Protocol):
    @property
    def nbytes(self) -> int: ...


S = TypeVar("S", bound=Sized)


class _Entry(NamedTuple, Generic[S]):
    held: S
    nbytes: int


class SegmentCache(Generic[S]):
    """A cache that holds at most ``limit_bytes``, but always what was used last. Safe for threads."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._held = 0
        self._entries: OrderedDict[Owner, _Entry[S]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, owner: Owner) -> S | None:
        with self._lock:
            entry = self._entries.get(owner)
            if entry is None:
                return None
            self._entries.move_to_end(owner)
            return entry.held

    def put(self, owner: Owner, held: S) -> None:
        """Keep it, or notice that it has grown."""
        nbytes = held.nbytes
        with self._lock:
            self._forget(owner)
            self._entries[owner] = _Entry(held, nbytes)
            self._held += nbytes
            while self._held > self._limit and len(self._entries) > 1:
                self._forget(next(iter(self._entries)))

    def drop(self, owner: Owner) -> None:
        with self._lock:
            self._forget(owner)

    def _forget(self, owner: Owner) -> None:
        entry = self._entries.pop(owner, None)
        if entry is not None:
            self._held -= entry.nbytes
