"""The query vectors that this process remembers: the same question asked again costs no embedding."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

REMEMBERED = 500
"""Queries of one process and model (engine.md §7.3): 0.75 MB at 384 dimensions."""


class QueryVectors:
    """Least recently used first out, one shelf a model. Keyed by tenant as well: that a question is known already must
    not tell one tenant what another one asked."""

    def __init__(self, size: int = REMEMBERED) -> None:
        self._size = size
        self._lock = Lock()
        self._shelves: dict[str, OrderedDict[tuple[str, str], bytes]] = {}

    def get(self, model: str, tenant: str, text: str) -> bytes | None:
        with self._lock:
            shelf = self._shelves.get(model)
            if shelf is None or (tenant, text) not in shelf:
                return None
            shelf.move_to_end((tenant, text))
            return shelf[tenant, text]

    def keep(self, model: str, tenant: str, text: str, vector: bytes) -> None:
        with self._lock:
            shelf = self._shelves.setdefault(model, OrderedDict())
            shelf[tenant, text] = vector
            shelf.move_to_end((tenant, text))
            if len(shelf) > self._size:
                shelf.popitem(last=False)

    def warm(self, model: str) -> bool:
        """Whether this process has embedded a query with the model before."""
        with self._lock:
            return model in self._shelves


query_vectors = QueryVectors()
