"""What the cursors of a table's queries are bound to (``domain/cursors.py``)."""

from __future__ import annotations

import json

from neve.ports.table import Index


def query_name(
    partition: str, index: Index, prefix: str | None, between: tuple[str, str] | None, reverse: bool
) -> bytes:
    """What tells one query from another; the limit may change from page to page."""
    return json.dumps([partition, index, prefix, between, reverse]).encode()
