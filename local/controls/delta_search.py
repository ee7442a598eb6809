"""Looks for a text in the writes of passages that a table holds: it is packed there, so that no raw byte shows it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from local.controls.raw_search import Found
from local.engine.row_codec import decode_row
from neve.adapters.segments.delta import unpack_delta
from neve.ports.search import IndexModel

_NO_MODEL: Final = IndexModel("none", 1)
"""Vectors are no words."""
_WITH_BYTES: Final = """
SELECT body, raw FROM rows WHERE raw IS NOT NULL
UNION ALL SELECT old_body, old_raw FROM outbox WHERE old_raw IS NOT NULL
UNION ALL SELECT new_body, new_raw FROM outbox WHERE new_raw IS NOT NULL
"""


def find_in_deltas(table: Path, text: str) -> list[Found]:
    """Look in the rows of a table's file, and in the changes that were not handled yet."""
    with closing(sqlite3.connect(f"file:{table}?mode=ro", uri=True)) as opened:
        items = [decode_row(body, raw) for body, raw in opened.execute(_WITH_BYTES)]
    deltas = [unpack_delta("", item["packed"], _NO_MODEL) for item in items if item["type"] == "passage_delta"]
    count = sum(text in str(delta) for delta in deltas)
    return [Found(f"{table.name}, deltas of passages", count)] if count else []
