"""The segments that are kept in memory, least recently used first out."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import NamedTuple

from local.engine.search.segment import Segment
from neve.ports.search import Owner


class _Entry(NamedTuple):
    segment: Segment
    nbytes: int


class SegmentCache:
    """At most ``limit_bytes`` of segments, but always the one used last. Safe for threads."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._held = 0
        self._entries: OrderedDict[Owner, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, owner: Owner) -> Segment | None:
        with self._lock:
            entry = self._entries.get(owner)
            if entry is None:
                return None
            self._entries.move_to_end(owner)
            return entry.segment

    def put(self, owner: Owner, segment: Segment) -> None:
        """Keep a segment, or notice that it has grown."""
        nbytes = segment.nbytes
        with self._lock:
            self._forget(owner)
            self._entries[owner] = _Entry(segment, nbytes)
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
