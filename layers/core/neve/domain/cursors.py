"""Cursors of lists: opaque, and good for the one list that made them. They hold nothing secret and need no key: a
forged one can only start elsewhere inside what its caller may read anyway."""

from __future__ import annotations

import binascii
import hashlib
import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence

DIGEST_BYTES = 9
MAX_PART_BYTES = 2048
"""The bytes of a partition key (*limit*, DynamoDB)."""
_NUMBER = re.compile("[0-9]{1,15}")


class InvalidCursor(ValueError):
    """A cursor that another list made, or no list."""


def make_cursor(listed: bytes, position: Sequence[str]) -> str:
    """Make a cursor. ``listed`` tells one list from another: whose it is, its filters, its order; the limit may change
    from page to page. ``position``: where the page ended."""
    text = json.dumps(list(position), ensure_ascii=False, separators=(",", ":")).encode()
    return urlsafe_b64encode(_digest(listed, text) + text).decode()


def read_cursor(listed: bytes, cursor: str, parts: int) -> tuple[str, ...]:
    """Read the position, of so many ``parts``, from a cursor that ``make_cursor`` made for the same list: texts that a
    key may hold. Raises InvalidCursor for any other text."""
    try:
        raw = urlsafe_b64decode(cursor.encode("ascii"))
    except (UnicodeEncodeError, binascii.Error):
        raise InvalidCursor("not a cursor") from None
    digest, text = raw[:DIGEST_BYTES], raw[DIGEST_BYTES:]
    if digest != _digest(listed, text) or urlsafe_b64encode(raw).decode() != cursor:
        raise InvalidCursor("not a cursor of this list")
    position = _loaded(text)
    if not isinstance(position, list) or len(position) != parts or not all(map(_may_be_in_a_key, position)):
        raise InvalidCursor("not a position in this list")
    return tuple(position)


def number_in(part: str) -> int:
    """Read the number that a part of a position counts. Raises InvalidCursor."""
    if not _NUMBER.fullmatch(part):
        raise InvalidCursor("not a position in this list")
    return int(part)


def _loaded(text: bytes) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidCursor("not a cursor") from None


def _may_be_in_a_key(part: object) -> bool:
    """Say whether a key may hold a part: a caller who knows how cursors are summed may put anything into one."""
    try:
        return isinstance(part, str) and len(part.encode()) <= MAX_PART_BYTES
    except UnicodeEncodeError:
        return False


def _digest(listed: bytes, text: bytes) -> bytes:
    return hashlib.blake2b(text, key=hashlib.blake2b(listed).digest(), digest_size=DIGEST_BYTES).digest()
