"""The rows of sentence vectors, kept by content for one user. They are written without a condition and without a look
at the user, as those of the recall ledger are: the second look of an erasure finds what came late (ADR 79)."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from typing import Final

from neve.ports.table import Item, Put, Table, key_of
from neve.store.delete_rows import delete_rows
from neve.store.keys import UserKeys
from neve.store.partitions import all_rows

MANY: Final = 300
"""Texts. A query for each takes a second or two then; the user's vectors are some 600 a page."""


def as_kept(vector: bytes) -> bytes:
    """Round a vector of 32 bit numbers to what its row keeps of it."""
    return _full(_half(vector))


def put_vector(keys: UserKeys, text: str, model: str, vector: bytes) -> Put:
    """Make the put of a vector in half precision: with 384 numbers the row is below the KB that one write unit pays
    for. ``text``: the fingerprint."""
    key = keys.vector(text, model)
    return Put({"pk": key.pk, "sk": key.sk, "type": "vector", "vector": _half(vector)})


def read_vector(item: Item) -> bytes:
    """Read a vector, as 32 bit numbers."""
    return _full(item["vector"])


def _half(vector: bytes) -> bytes:
    numbers = struct.unpack(f"<{len(vector) // 4}f", vector)
    return struct.pack(f"<{len(numbers)}e", *numbers)


def _full(kept: bytes) -> bytes:
    numbers = struct.unpack(f"<{len(kept) // 2}e", kept)
    return struct.pack(f"<{len(numbers)}f", *numbers)


def erase_vectors(table: Table, keys: UserKeys, texts: Collection[str]) -> int:
    """Erase the vectors of texts, of every model; return how many. ``texts``: fingerprints of passages, or what they
    begin with. Raises StoreUnavailable."""
    return delete_rows(table, [key_of(item) for item in _vectors(table, keys, texts)])


def _vectors(table: Table, keys: UserKeys, texts: Collection[str]) -> Iterator[Item]:
    """Find the rows of the vectors of texts. With many texts, all that the user has are read once: a worker may not
    live as long as the queries would take."""
    if len(texts) <= MANY:
        for one in sorted(texts):
            yield from all_rows(table, keys.vectors, prefix=one)
        return
    wanted, lengths = set(texts), {len(one) for one in texts}
    for item in all_rows(table, keys.vectors):
        if any(item["sk"][:length] in wanted for length in lengths):
            yield item
