"""Brings the table of data folder format 1 to format 2, in which a row's time to live is a column of its own."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

COLUMN = "expires_at"


def add_expiry_column(database: Path) -> None:
    """Adds the column and fills it from the rows, all or nothing. Leaves a file alone that has the column, or has no
    rows. Nobody else may have the file open. Raises sqlite3.Error."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        columns = {name for _, name, *_ in connection.execute("PRAGMA table_info(rows)")}
        if not columns or COLUMN in columns:
            return
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"ALTER TABLE rows ADD COLUMN {COLUMN} INTEGER")
        connection.execute(
            f"UPDATE rows SET {COLUMN} = json_extract(body, '$.{COLUMN}') WHERE body LIKE '%\"{COLUMN}\":%'"  # noqa: S608
        )
        connection.execute("COMMIT")
