"""All rows of a partition, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from neve.ports import Index, Item, Table
from neve.store.keys import due_partitions, due_until
from neve.store.rows import time_bucket

PAGE = 200
"""Rows of one read. A page of a DynamoDB query ends at 1 MB, whatever is asked for."""


def all_rows(
    table: Table,
    partition: str,
    *,
    index: Index = Index.MAIN,
    prefix: str | None = None,
    between: tuple[str, str] | None = None,
    page: int = PAGE,
) -> Iterator[Item]:
    """In sort-key order; a page is read when its first row is asked for. Raises StoreUnavailable."""
    cursor: str | None = None
    while True:
        read = table.query(partition, index=index, prefix=prefix, between=between, limit=page, cursor=cursor)
        yield from read.items
        cursor = read.cursor
        if cursor is None:
            return


def due_rows(table: Table, kind: str, until: datetime | None = None, first: int = 0) -> Iterator[Item]:
    """What the index ``due`` holds of a kind of work, oldest first in each shard, the shard ``first`` before the
    others; ``until``: what is due since then or earlier, to the 10 minute bucket. It may be a moment behind the rows.
    Raises StoreUnavailable."""
    bounds = due_until(None if until is None else time_bucket(until))
    for partition in due_partitions(kind, first):
        yield from all_rows(table, partition, index=Index.DUE, between=bounds)
