"""The names that the cursors of a table's queries are bound to (``domain/cursors.py``)."""

from __future__ import annotations

import json

from neve.adapters.table_rules import MAX_SORT_KEY_BYTES
from neve.domain.cursors import InvalidCursor, read_cursor
from neve.ports.table import Index


def query_name(
    partition: str, index: Index, prefix: str | None, between: tuple[str, str] | None, reverse: bool
) -> bytes:
    """Name what tells one query from another; the limit may change from page to page."""
    return json.dumps([partition, index, prefix, between, reverse]).encode()


def read_place(
    cursor: str, index: Index, selected: tuple[str, str | None, tuple[str, str] | None, bool]
) -> tuple[str, ...]:
    """Read the values of ``index``'s order behind which the next page begins. ``selected``: partition, prefix, range
    and direction of the query. Raises InvalidCursor for a cursor of another one, and for a place outside of it, which a
    service takes for a malformed call."""
    partition, prefix, between, reverse = selected
    query = query_name(partition, index, prefix, between, reverse)
    position = read_cursor(query, cursor, 1 if index is Index.MAIN else 3)
    sort = position[0].encode()
    low, high = (bound.encode() for bound in between) if between else (b"", None)
    outside = sort < low or (high is not None and sort > high) or not sort.startswith((prefix or "").encode())
    if outside or not all(position) or max(len(sort), len(position[-1].encode())) > MAX_SORT_KEY_BYTES:
        raise InvalidCursor("not a place in this list")
    return position
