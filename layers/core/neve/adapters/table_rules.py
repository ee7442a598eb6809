"""The rules by which every Table engine refuses before it writes, so that a call is malformed on one engine iff it is
on all.

The numbers are DynamoDB's: the engine that cannot be argued with. The embedded engine and the local stand-ins for
DynamoDB accept more than the service does; a caller must not come to depend on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from neve.ports.table import MAX_WRITE_OPS, Check, Expect, Index, Item, Key, Put, WriteOp, key_of

MAX_ITEM_BYTES = 400 * 1024
MAX_TRANSACTION_BYTES = 4 * 1024 * 1024
MAX_PARTITION_KEY_BYTES = 2048
MAX_SORT_KEY_BYTES = 1024
MAX_DEPTH = 32
MAX_INTEGER = 10**38
"""DynamoDB keeps 38 significant digits."""
MIN_FLOAT, MAX_FLOAT = 1e-130, 1e126

INDEX_KEYS: dict[Index, tuple[str, str]] = {
    Index.MAIN: ("pk", "sk"),
    Index.RANK: ("rank_pk", "rank_sk"),
    Index.DUE: ("due_pk", "due_sk"),
    Index.RECENT: ("recent_pk", "recent_sk"),
}
"""The partition and sort key attributes of each index."""
_KEY_LIMITS = tuple(
    (name, limit, limit // 4)
    for names in INDEX_KEYS.values()
    for name, limit in zip(names, (MAX_PARTITION_KEY_BYTES, MAX_SORT_KEY_BYTES), strict=True)
)
"""For each key the name, the bytes that it may have, and the characters that are never more than those."""


def check_write(ops: Sequence[WriteOp]) -> None:
    """Check a transaction. Raises ValueError unless ``ops`` is one that every engine takes."""
    if not ops:
        raise ValueError("a write needs at least one operation")
    if len(ops) > MAX_WRITE_OPS:
        raise ValueError(f"{len(ops)} operations in one write, at most {MAX_WRITE_OPS} are possible")
    seen: set[Key] = set()
    total = 0
    for position, op in enumerate(ops):
        key = operation_key(op)
        if key in seen:
            raise ValueError(f"operation {position}: {key} is written twice")
        seen.add(key)
        if isinstance(op, Check) and op.expect is Expect.ANY:
            raise ValueError(f"operation {position}: a check needs an expectation")
        total += item_size(op.item) if isinstance(op, Put) else _text_size(key.pk) + _text_size(key.sk)
    if total > MAX_TRANSACTION_BYTES:
        raise ValueError(f"a write of {total} bytes, at most {MAX_TRANSACTION_BYTES} are possible")


def check_each(puts: Sequence[Put]) -> None:
    """Check a ``write_each``. Raises ValueError for what it does not take: together the puts may be larger than a
    transaction."""
    if len(puts) > MAX_WRITE_OPS:
        raise ValueError(f"{len(puts)} rows in one call, at most {MAX_WRITE_OPS} are possible")
    for put in puts:
        check_write([put])
    if len({key_of(put.item) for put in puts}) < len(puts):
        raise ValueError("a row is written twice")


def operation_key(op: WriteOp) -> Key:
    """Give the key of the row that ``op`` is about. Raises ValueError when its key cannot be one."""
    if isinstance(op, Put):
        _check_keys(op.item)
        return key_of(op.item)
    _check_key("pk", op.key.pk, MAX_PARTITION_KEY_BYTES)
    _check_key("sk", op.key.sk, MAX_SORT_KEY_BYTES)
    return op.key


def item_size(item: Item) -> int:
    """Count the bytes as DynamoDB does, to within a few; ``version`` counts as a short number. Raises ValueError for a
    value that cannot be stored (None first of all) and for an item that is too large."""
    counted = {name: value for name, value in item.items() if name != "version"} if "version" in item else item
    size = len("version") + 3 + _attributes_size(counted, "", 1)
    if size > MAX_ITEM_BYTES:
        raise ValueError(f"item {item['pk']} {item['sk']} has {size} bytes, at most {MAX_ITEM_BYTES} are possible")
    return size


def _check_keys(item: Item) -> None:
    for name, limit, short in _KEY_LIMITS:
        value = item.get(name)
        if type(value) is str and 0 < len(value) <= short:
            continue
        if name in item:
            _check_key(name, value, limit)
        elif name in INDEX_KEYS[Index.MAIN]:
            raise ValueError(f"{name} is missing")


def _check_key(name: str, value: Any, limit: int) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{name} must be text, is {type(value).__name__}")
    if not 1 <= _text_size(value) <= limit:
        raise ValueError(f"{name} must have 1 to {limit} bytes")


def _attributes_size(attributes: dict[Any, Any], within: str, depth: int) -> int:
    """Count names and values. ``within``: what stands before a name where one is told. Nearly all are plain text, and
    every write counts its rows: texts are counted together."""
    try:
        names = "".join(attributes)
    except TypeError:
        names = ""
    if not all(attributes) or (attributes and not names):
        wrong = next(name for name in attributes if not isinstance(name, str) or not name)
        raise ValueError(f"{within}{wrong}: an attribute name must be a text that is not empty")
    texts = [value for value in attributes.values() if type(value) is str]
    size = _text_size(names) + _text_size("".join(texts))
    if len(texts) < len(attributes):
        for name, value in attributes.items():
            if type(value) is not str:
                size += _value_size(value, within + name, depth)
    return size


def _value_size(value: Any, path: str, depth: int) -> int:
    if type(value) is int and 0 <= value < 10:
        return 2
    if isinstance(value, str):
        return _text_size(value)
    if isinstance(value, bool):
        return 1
    if isinstance(value, int | float):
        return _number_size(value, path)
    if isinstance(value, bytes):
        return len(value)
    if depth > MAX_DEPTH:
        raise ValueError(f"{path}: nested deeper than {MAX_DEPTH}")
    if isinstance(value, list):
        return 3 + len(value) + sum([_value_size(part, path, depth + 1) for part in value])
    if isinstance(value, dict):
        return 3 + len(value) + _attributes_size(value, f"{path}.", depth + 1)
    raise ValueError(f"{path}: {type(value).__name__} cannot be stored")


def _number_size(value: float, path: str) -> int:
    if isinstance(value, int):
        fits = -MAX_INTEGER < value < MAX_INTEGER
    else:
        fits = math.isfinite(value) and (value == 0 or MIN_FLOAT <= abs(value) < MAX_FLOAT)
    if not fits:
        raise ValueError(f"{path}: a number that cannot be stored exactly")
    return len(repr(value)) // 2 + 2


def _text_size(text: str) -> int:
    """Count UTF-8 bytes. Raises ValueError for a lone surrogate."""
    return len(text) if text.isascii() else len(text.encode())
