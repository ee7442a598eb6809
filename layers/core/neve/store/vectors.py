"""The rows of sentence vectors, kept by content for one user."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from neve.ports.table import Item, Table, key_of
from neve.store.delete_rows import delete_rows
from neve.store.keys import UserKeys
from neve.store.partitions import all_rows

MANY: Final = 300
"""Texts. A query for each takes a second or two then; the user's vectors are some 600 a page."""


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
