"""The rules by which every ObjectStore engine refuses, so that a key is one on all of them or on none. The numbers are
S3's."""

from __future__ import annotations

MAX_KEY_BYTES = 1024


def check_key(key: str) -> None:
    """Check a key. Raises ValueError for one that is empty, longer than 1,024 bytes, or not Unicode."""
    if not 1 <= len(key.encode()) <= MAX_KEY_BYTES:
        raise ValueError(f"an object key must have 1 to {MAX_KEY_BYTES} bytes")


def check_content_type(content_type: str) -> None:
    """Check a content type. Raises ValueError for what cannot stand in a header."""
    if not content_type or not content_type.isascii() or not content_type.isprintable():
        raise ValueError(f"not a content type: {content_type!r}")
