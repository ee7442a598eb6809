"""What every Table engine refuses before it writes, so that a call is malformed on one engine iff it is on all.

The numbers are DynamoDB's: the engine that cannot be argued with. The embedded engine and the local stand-ins for
DynamoDB accept more than the service does; a caller must not come to depend on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from neve.ports import MAX_WRITE_OPS, Check, Expect, Index, Item, Key, Put, WriteOp, key_of

MAX_ITEM_BYTES = 400 * 1024
MAX_TRANSACTION_BYTES = 4 * 1024 * 1024
MAX_PARTITION_KEY_BYTES = 2048
MAX_SORT_KEY_BYTES = 1024
MAX_DEPTH = 32
MAX_INTEGER = 10**38
"""DynamoDB keeps 38 significant digits."""
SMALLEST_FLOAT, LARGEST_FLOAT = 1e-130, 1e126

INDEX_KEYS: dict[Index, tuple[str, str]] = {
    Index.MAIN: ("pk", "sk"),
    Index.RANK: ("rank_pk", "rank_sk"),
    Index.DUE: ("due_pk", "due_sk"),
    Index.RECENT: ("recent_pk", "recent_sk"),
}
"""The partition and sort key attributes of each index."""


def check_write(ops: Sequence[WriteOp]) -> None:
    """Raises ValueError unless ``ops`` is a transaction that every engine takes."""
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


def operation_key(op: WriteOp) -> Key:
    """The row that ``op`` is about. Raises ValueError when its key cannot be one."""
    if isinstance(op, Put):
        _check_keys(op.item)
        return key_of(op.item)
    _check_key("pk", op.key.pk, MAX_PARTITION_KEY_BYTES)
    _check_key("sk", op.key.sk, MAX_SORT_KEY_BYTES)
    return op.key


def item_size(item: Item) -> int:
    """Bytes as DynamoDB counts them, to within a few; ``version`` counts as a short number. Raises ValueError for a
    value that cannot be stored (None first of all) and for an item that is too large."""
    size = len("version") + 3
    for name, value in item.items():
        if name != "version":
            size += _name_size(name, name) + _value_size(value, name, 1)
    if size > MAX_ITEM_BYTES:
        raise ValueError(f"item {item['pk']} {item['sk']} has {size} bytes, at most {MAX_ITEM_BYTES} are possible")
    return size


def _check_keys(item: Item) -> None:
    for index, (partition, sort) in INDEX_KEYS.items():
        for name, limit in ((partition, MAX_PARTITION_KEY_BYTES), (sort, MAX_SORT_KEY_BYTES)):
            if name in item:
                _check_key(name, item[name], limit)
            elif index is Index.MAIN:
                raise ValueError(f"{name} is missing")


def _check_key(name: str, value: Any, limit: int) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{name} must be text, is {type(value).__name__}")
    if not 1 <= _text_size(value) <= limit:
        raise ValueError(f"{name} must have 1 to {limit} bytes")


def _name_size(name: Any, path: str) -> int:
    if not isinstance(name, str) or not name:
        raise ValueError(f"{path}: an attribute name must be a text that is not empty")
    return _text_size(name)


def _value_size(value: Any, path: str, depth: int) -> int:
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
        return 3 + sum(1 + _value_size(part, path, depth + 1) for part in value)
    if isinstance(value, dict):
        parts = ((name, f"{path}.{name}", part) for name, part in value.items())
        return 3 + sum(1 + _name_size(name, at) + _value_size(part, at, depth + 1) for name, at, part in parts)
    raise ValueError(f"{path}: {type(value).__name__} cannot be stored")


def _number_size(value: float, path: str) -> int:
    if isinstance(value, int):
        fits = abs(value) < MAX_INTEGER
    else:
        fits = math.isfinite(value) and (value == 0 or SMALLEST_FLOAT <= abs(value) < LARGEST_FLOAT)
    if not fits:
        raise ValueError(f"{path}: a number that cannot be stored exactly")
    return len(repr(value)) // 2 + 2


def _text_size(text: str) -> int:
    """UTF-8 bytes. Raises ValueError for a lone surrogate."""
    return len(text) if text.isascii() else len(text.encode())
