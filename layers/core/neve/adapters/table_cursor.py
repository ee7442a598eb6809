"""Query cursors: opaque, and good for the one query that made them. They hold nothing secret and need no key: a forged
one can only start elsewhere inside the partition that its caller may read anyway."""

from __future__ import annotations

import binascii
import hashlib
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence

from neve.ports import BadCursor, Index

DIGEST_BYTES = 9


def query_name(
    partition: str, index: Index, prefix: str | None, between: tuple[str, str] | None, reverse: bool
) -> bytes:
    """What tells one query from another; the limit may change from page to page."""
    return json.dumps([partition, index, prefix, between, reverse]).encode()


def make_cursor(query: bytes, position: Sequence[str]) -> str:
    """``position``: the key values of the last row of the page."""
    text = json.dumps(list(position), ensure_ascii=False, separators=(",", ":")).encode()
    return urlsafe_b64encode(_digest(query, text) + text).decode()


def read_cursor(query: bytes, cursor: str) -> tuple[str, ...]:
    """The position of a cursor that ``make_cursor`` made for the same query. Raises BadCursor for any other text."""
    try:
        raw = urlsafe_b64decode(cursor.encode("ascii"))
    except (UnicodeEncodeError, binascii.Error):
        raise BadCursor("not a cursor") from None
    digest, text = raw[:DIGEST_BYTES], raw[DIGEST_BYTES:]
    if digest != _digest(query, text) or urlsafe_b64encode(raw).decode() != cursor:
        raise BadCursor("not a cursor of this query")
    return tuple(json.loads(text))


def _digest(query: bytes, text: bytes) -> bytes:
    return hashlib.blake2b(text, key=hashlib.blake2b(query).digest(), digest_size=DIGEST_BYTES).digest()
