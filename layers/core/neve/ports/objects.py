"""Whole small objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

MAX_KEYS: Final = 1_000
"""The keys of one page (*limit*, S3)."""


@dataclass(frozen=True, slots=True)
class ObjectStart:
    """An object as its first bytes tell it. ``size``: of the whole, in bytes."""

    size: int
    content_type: str
    start: bytes


class ObjectStore(Protocol):
    """Whole small objects by key. All methods raise StoreUnavailable."""

    def put(self, key: str, body: bytes, *, content_type: str) -> None: ...

    def put_new(self, key: str, body: bytes, *, content_type: str) -> bool:
        """Store a new object; False, and nothing written, when the key exists already. One winner among concurrent
        callers."""

    def get(self, key: str) -> bytes | None: ...

    def peek(self, key: str, length: int) -> ObjectStart | None:
        """Read the first ``length`` bytes, at most; None when there is no such object."""

    def tail(self, key: str, length: int) -> bytes | None:
        """Read the last ``length`` bytes, at most; None when there is no such object."""

    def copy(self, source: str, target: str) -> bool:
        """Copy an object with its content type, in place of what was there. False when there is no ``source``."""

    def delete(self, key: str) -> None:
        """Delete an object. Idempotent."""

    def list(self, prefix: str) -> list[str]:
        """List all keys that there are, in the order of their UTF-8 bytes."""

    def page(self, prefix: str, behind: str = "") -> Sequence[str]:
        """List the first ``MAX_KEYS`` of them, at most, behind a key, which need not be there; empty when there are
        none."""

    def presign_put(self, key: str, *, content_type: str, expires_s: int, size: int | None = None) -> str:
        """Make a URL to which one HTTP PUT of the bytes, with that Content-Type and ``If-None-Match: *``, stores the
        object unless it is there already. ``size``: exactly how many bytes; any number when None."""

    def presign_get(self, key: str, *, expires_s: int) -> str:
        """Make a URL from which HTTP GET loads the object, whether or not it is there by now."""
