"""Ids that follow from what they name."""

from __future__ import annotations

import hashlib

from ulid import ULID


def ulid_named(name: str) -> str:
    """The ULID whose 128 bits are the first of the name's sha256: the same name, the same id. It holds no time."""
    return str(ULID.from_bytes(hashlib.sha256(name.encode()).digest()[:16]))
