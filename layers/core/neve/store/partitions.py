"""All rows of a partition, and all keys of objects below a prefix, page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial

from neve.ports.objects import ObjectStore
from neve.ports.table import Index, Item, ItemPage, Table, key_of
from neve.store.keys import due_partitions, due_until
from neve.store.rows import time_bucket

PAGE = 200
"""Rows of one read. A page of a DynamoDB query ends at 1 MB, whatever is asked for."""


def readable_whole(table: Table) -> Table:
    """Give the table with the rows that cannot be understood, for a caller that needs nothing but their keys."""
    found: Table = getattr(table, "whole", table)
    return found


def all_rows(
    table: Table,
    partition: str,
    *,
    index: Index = Index.MAIN,
    prefix: str | None = None,
    between: tuple[str, str] | None = None,
    page: int = PAGE,
) -> Iterator[Item]:
    """Give the rows of a partition in sort-key order; a page is read when its first row is asked for. Raises
    StoreUnavailable."""
    query = partial(table.query, partition, index=index, prefix=prefix, between=between, limit=page)
    return (item for items in _read(query) for item in items)


def all_rows_backwards(
    table: Table,
    partition: str,
    *,
    prefix: str | None = None,
    between: tuple[str, str] | None = None,
    page: int = PAGE,
) -> Iterator[Item]:
    """Give the rows of a partition as ``all_rows`` does, from the last one on."""
    query = partial(table.query, partition, prefix=prefix, between=between, reverse=True, limit=page)
    return (item for items in _read(query) for item in items)


def pages(
    table: Table,
    partition: str,
    *,
    index: Index = Index.MAIN,
    between: tuple[str, str] | None = None,
    page: int = PAGE,
) -> Iterator[list[Item]]:
    """Give the rows as ``all_rows`` does, page by page, for a caller that notes how far it has come; no page is
    empty."""
    return _read(partial(table.query, partition, index=index, between=between, limit=page))


def named_rows(table: Table, partition: str, index: Index, *, page: int = PAGE) -> Iterator[Item]:
    """Read the rows themselves that an index names, which may be a moment behind them. Raises StoreUnavailable."""
    for named in pages(table, partition, index=index, page=page):
        yield from table.get_many([key_of(item) for item in named]).values()


def _read(query: Callable[..., ItemPage]) -> Iterator[list[Item]]:
    cursor: str | None = None
    while True:
        read = query(cursor=cursor)
        if read.items:
            yield read.items
        cursor = read.cursor
        if cursor is None:
            return


def object_pages(objects: ObjectStore, prefix: str, behind: str = "") -> Iterator[Sequence[str]]:
    """Give the keys of objects below a prefix, in order, from behind one on; a page is read when it is asked for, and
    none is empty. A caller that deletes the named objects loses none of the others. Raises StoreUnavailable."""
    while page := objects.page(prefix, behind):
        yield page
        behind = page[-1]


def due_rows(table: Table, kind: str, until: datetime | None = None, first: int = 0) -> Iterator[Item]:
    """Give the rows of a kind of work in the index ``due``, oldest first in each shard, the shard ``first`` before the
    others; ``until``: what is due since then or earlier, to the 10 minute bucket. The index may be a moment behind the
    rows. Raises StoreUnavailable."""
    bounds = due_until(None if until is None else time_bucket(until))
    for partition in due_partitions(kind, first):
        yield from all_rows(table, partition, index=Index.DUE, between=bounds)
