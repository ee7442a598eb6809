"""Durable passages of all users in one SQLite file: the truth that the segments in memory are built from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from sqlite3 import Connection
from typing import Final

from local.engine.sqlite_file import SqliteFile
from neve.adapters.segments.analysis import Analyzer
from neve.adapters.segments.stored_passage import StoredPassage, stored_passage
from neve.domain.indexing.passage import Passage, removal_version
from neve.ports.errors import StoreUnavailable
from neve.ports.search import IndexModel, Owner
from neve.troubles import Troubles

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS owners (
    id INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL, user TEXT NOT NULL,
    next_row INTEGER NOT NULL, passages INTEGER NOT NULL,
    UNIQUE (tenant, user)
);
CREATE TABLE IF NOT EXISTS passages (
    row INTEGER PRIMARY KEY, item_id TEXT NOT NULL, n INTEGER NOT NULL, version INTEGER NOT NULL,
    length INTEGER NOT NULL, source TEXT NOT NULL,
    kind TEXT NOT NULL, status TEXT NOT NULL, tier TEXT NOT NULL, category TEXT, "group" TEXT, session_id TEXT,
    path TEXT, tags TEXT NOT NULL, metadata TEXT NOT NULL, about TEXT NOT NULL,
    only_in TEXT, fingerprint TEXT NOT NULL, observed_ms INTEGER NOT NULL,
    from_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL, created_ms INTEGER NOT NULL, superseded_ms INTEGER NOT NULL,
    vector BLOB, terms BLOB NOT NULL, owner INTEGER NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (owner, item_id, n)
);
CREATE TABLE IF NOT EXISTS removals (
    owner INTEGER NOT NULL, item_id TEXT NOT NULL, keep INTEGER NOT NULL, version INTEGER NOT NULL,
    PRIMARY KEY (owner, item_id, keep)
) WITHOUT ROWID;
"""
"""AUTOINCREMENT: an erased user's number is never given to another. ``row`` is the owner's number and a count, so the
passages of one user lie together; a changed passage gets a new row. ``version`` is a document version. ``removals``
keeps late upserts out: a passage with ``n >= keep`` and a version below ``version`` is refused."""

_COLUMNS: Final = """row, item_id, n, version, length, source, kind, status, tier, category, "group", session_id,
    path, tags, metadata, about, only_in, fingerprint, observed_ms, from_ms, until_ms, created_ms, superseded_ms,
    vector, terms"""
_LOAD: Final = f"SELECT {_COLUMNS} FROM passages WHERE row >= ? AND row < ? ORDER BY row"  # noqa: S608
_INSERT: Final = f"""INSERT INTO passages ({_COLUMNS}, owner, text)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""  # noqa: S608
_ROW_BITS: Final = 32
_LOAD_BATCH: Final = 4_096


@dataclass(slots=True)
class Changes:
    """What a write did to one user's rows."""

    removed_rows: list[int] = field(default_factory=list)
    added: list[StoredPassage] = field(default_factory=list)


class PassageFile:
    """All methods raise StoreUnavailable. One process has the file open."""

    def __init__(self, path: Path, model: IndexModel, analyzer: Analyzer, troubles: Troubles | None = None) -> None:
        self._analyzer = analyzer
        self._file = SqliteFile(path, store="search", schema=SCHEMA, troubles=troubles)
        self.model = self._settle_model(model)

    def close(self) -> None:
        self._file.close()

    def condemn(self) -> StoreUnavailable:
        """See ``SqliteFile``."""
        return self._file.condemn()

    def wipe(self) -> bool:
        """See ``SqliteFile``."""
        return self._file.wipe()

    def count(self, owner: Owner) -> int:
        with self._file.reading() as connection:
            found = connection.execute("SELECT passages FROM owners WHERE tenant = ? AND user = ?", owner).fetchone()
        return int(found[0]) if found else 0

    def load(self, owner: Owner) -> Iterator[list[StoredPassage]]:
        """A user's passages by rising row, in batches. The caller keeps writers of this user out meanwhile."""
        with self._file.reading() as connection:
            found = connection.execute("SELECT id FROM owners WHERE tenant = ? AND user = ?", owner).fetchone()
            if found is None:
                return
            rows = connection.execute(_LOAD, (found[0] << _ROW_BITS, (found[0] + 1) << _ROW_BITS))
            while batch := rows.fetchmany(_LOAD_BATCH):
                yield [StoredPassage(*row) for row in batch]

    def text(self, row: int) -> str | None:
        """The text of one passage; None when it was replaced or removed."""
        with self._file.reading() as connection:
            found = connection.execute("SELECT text FROM passages WHERE row = ?", (row,)).fetchone()
        return None if found is None else str(found[0])

    def upsert(self, owner: Owner, passages: Sequence[Passage]) -> Changes:
        """Write the passages that are not older than what is stored or removed. Vectors must be normalised."""
        prepared = [(passage, self._analyzer.analyse(passage)) for passage in passages]
        changes = Changes()
        with self._file.writing() as connection:
            number, next_row = _register(connection, owner)
            for passage, analysed in prepared:
                replaced = _replaced(connection, number, passage)
                if replaced is None:
                    continue
                changes.removed_rows += replaced
                connection.executemany("DELETE FROM passages WHERE row = ?", [(row,) for row in replaced])
                stored = stored_passage(number << _ROW_BITS | next_row, passage, analysed)
                connection.execute(_INSERT, (*stored, number, passage.text))
                changes.added.append(stored)
                next_row += 1
            _recount(connection, number, next_row, len(changes.added) - len(changes.removed_rows))
        return _without_overtaken(changes)

    def trim(self, owner: Owner, item_id: str, *, keep: int, version: int) -> Changes:
        limit = removal_version(version)
        with self._file.writing() as connection:
            number, next_row = _register(connection, owner)
            removed = connection.execute(
                "DELETE FROM passages WHERE owner = ? AND item_id = ? AND n >= ? AND version <= ? RETURNING row",
                (number, item_id, keep, limit),
            ).fetchall()
            _refuse_late(connection, number, item_id, keep, limit)
            _recount(connection, number, next_row, -len(removed))
        return Changes(removed_rows=[row for (row,) in removed])

    def erase(self, owner: Owner) -> int:
        """Returns once no row of the user's passages is left in the file or its log; see ``wipe``."""
        erased = 0
        with self._file.writing() as connection:
            found = connection.execute("SELECT id FROM owners WHERE tenant = ? AND user = ?", owner).fetchone()
            if found is not None:
                erased = connection.execute("DELETE FROM passages WHERE owner = ?", found).rowcount
                connection.execute("DELETE FROM removals WHERE owner = ?", found)
                connection.execute("DELETE FROM owners WHERE id = ?", found)
        if not self._file.cut_log():
            raise StoreUnavailable("search", "the log of the erased rows is still being read")
        return erased

    def _settle_model(self, model: IndexModel) -> IndexModel:
        with self._file.writing() as connection:
            for name, value in (("model", model.tag), ("dimensions", str(model.dimensions))):
                connection.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", (name, value))
            about = dict(connection.execute("SELECT name, value FROM about"))
        return IndexModel(about["model"], int(about["dimensions"]))


def _register(connection: Connection, owner: Owner) -> tuple[int, int]:
    """The owner's number and next row."""
    connection.execute("INSERT OR IGNORE INTO owners (tenant, user, next_row, passages) VALUES (?, ?, 0, 0)", owner)
    number, next_row = connection.execute(
        "SELECT id, next_row FROM owners WHERE tenant = ? AND user = ?", owner
    ).fetchone()
    return int(number), int(next_row)


def _replaced(connection: Connection, number: int, passage: Passage) -> list[int] | None:
    """The row that a passage takes the place of, if any; None when the passage is too old."""
    key = (number, passage.item_id, passage.n)
    [removed_at] = connection.execute(
        "SELECT max(version) FROM removals WHERE owner = ? AND item_id = ? AND keep <= ?", key
    ).fetchone()
    if removed_at is not None and passage.document_version < removed_at:
        return None
    present = connection.execute(
        "SELECT row, version FROM passages WHERE owner = ? AND item_id = ? AND n = ?", key
    ).fetchone()
    if present is None:
        return []
    row, version = present
    return None if passage.document_version < version else [row]


def _refuse_late(connection: Connection, number: int, item_id: str, keep: int, version: int) -> None:
    """Note a removal and forget those that it covers."""
    covered = (number, item_id, keep, version)
    connection.execute("DELETE FROM removals WHERE owner = ? AND item_id = ? AND keep >= ? AND version <= ?", covered)
    connection.execute("INSERT OR IGNORE INTO removals (owner, item_id, keep, version) VALUES (?, ?, ?, ?)", covered)


def _recount(connection: Connection, number: int, next_row: int, difference: int) -> None:
    connection.execute(
        "UPDATE owners SET next_row = ?, passages = passages + ? WHERE id = ?", (next_row, difference, number)
    )


def _without_overtaken(changes: Changes) -> Changes:
    """A call may hold a passage twice: a row that it both added and removed never was."""
    added = {stored.row for stored in changes.added}
    removed = set(changes.removed_rows)
    return Changes(
        removed_rows=[row for row in changes.removed_rows if row not in added],
        added=[stored for stored in changes.added if stored.row not in removed],
    )
