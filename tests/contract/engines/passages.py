"""Passages for tests of the search index: everything has a default but the id and the text."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from neve.domain.indexing.passage import Neighbour, Passage, Source
from neve.ports.search import Owner, SearchFilter

ANY = SearchFilter()


def new_owner() -> Owner:
    """An owner that no engine has seen."""
    return Owner(f"t-{uuid.uuid4().hex}", "ada")


def vector(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def passage(item_id: str, text: str = "", around: Mapping[int, str] = MappingProxyType({}), **changes: Any) -> Passage:
    """``around``: the texts near it, by distance."""
    values: dict[str, Any] = {
        "n": 0,
        "version": 1,
        "source": Source.MEMORY,
        "fingerprint": f"fp-{item_id}",
        "kind": "observation",
        "status": "active",
        "scope": "user",
        "tier": "working",
        "observed_at": "2026-03-10T09:30:00.000Z",
    }
    neighbours = tuple(Neighbour(distance, texts) for distance, texts in around.items())
    return Passage(item_id=item_id, text=text, neighbours=neighbours, **values | changes)
