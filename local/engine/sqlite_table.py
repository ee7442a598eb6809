"""The Table port on one SQLite file, with the change stream that a table of the cloud would have."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from sqlite3 import Connection
from typing import Any, NamedTuple

from local.engine.gathered_rows import COLUMNS, StoredRow, gathered
from local.engine.row_codec import decode_row, encode_row
from local.engine.sqlite_file import SqliteFile
from neve.adapters.table_cursor import query_name, read_place
from neve.adapters.table_rules import INDEX_KEYS, check_each, check_write, operation_key
from neve.domain.cursors import make_cursor
from neve.ports.errors import Conflict
from neve.ports.table import (
    INDEX_PROJECTION,
    MAX_WRITE_OPS,
    Delete,
    Index,
    Item,
    ItemPage,
    Key,
    Put,
    Version,
    WriteOp,
    holds,
    key_of,
    unreadable_item,
    version_after,
)
from neve.troubles import Troubles

SCHEMA = """
CREATE TABLE IF NOT EXISTS rows (
    pk TEXT NOT NULL, sk TEXT NOT NULL, version INTEGER NOT NULL,
    rank_pk TEXT, rank_sk TEXT, due_pk TEXT, due_sk TEXT, recent_pk TEXT, recent_sk TEXT,
    expires_at INTEGER, body TEXT NOT NULL, raw BLOB,
    UNIQUE (pk, sk)
);
CREATE INDEX IF NOT EXISTS rows_rank ON rows (rank_pk, rank_sk, pk, sk) WHERE rank_pk IS NOT NULL;
CREATE INDEX IF NOT EXISTS rows_due ON rows (due_pk, due_sk, pk, sk) WHERE due_pk IS NOT NULL;
CREATE INDEX IF NOT EXISTS rows_recent ON rows (recent_pk, recent_sk, pk, sk) WHERE recent_pk IS NOT NULL;
CREATE INDEX IF NOT EXISTS rows_expiry ON rows (expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS outbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, old_body TEXT, old_raw BLOB, new_body TEXT, new_raw BLOB
);
"""
"""AUTOINCREMENT: a sequence number is never given twice, also when the outbox was emptied in between."""

UPSERT = """
INSERT INTO rows (pk, sk, version, rank_pk, rank_sk, due_pk, due_sk, recent_pk, recent_sk, expires_at, body, raw)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (pk, sk) DO UPDATE SET version = excluded.version,
    rank_pk = excluded.rank_pk, rank_sk = excluded.rank_sk, due_pk = excluded.due_pk, due_sk = excluded.due_sk,
    recent_pk = excluded.recent_pk, recent_sk = excluded.recent_sk, expires_at = excluded.expires_at,
    body = excluded.body, raw = excluded.raw
"""
KEYS_A_STATEMENT = 400
_KEYED = (Index.RANK, Index.DUE, Index.RECENT)
LAST_CODE_POINT = 0x10FFFF


class Change(NamedTuple):
    """One changed row: ``old`` is None for a new row, ``new`` is None for a deleted one."""

    seq: int
    key: Key
    old: Item | None
    new: Item | None


class SqliteTable:
    """One process has the file open. Writes take turns; reads never wait for them."""

    def __init__(self, path: Path, troubles: Troubles | None = None) -> None:
        self._file = SqliteFile(path, store="table", schema=SCHEMA, troubles=troubles)
        self._changed = threading.Condition()
        with self._file.reading() as connection:
            self._newest_seq: int = connection.execute("SELECT coalesce(max(seq), 0) FROM outbox").fetchone()[0]
        self._discarded_seq = 0
        self._closed = False

    # --- ports.Table ----------------------------------------------------------------------------

    def get(self, key: Key) -> Item | None:
        with self._file.reading() as connection:
            row = connection.execute("SELECT version, body, raw FROM rows WHERE pk = ? AND sk = ?", key).fetchone()
        return self._decoded(key, StoredRow(*row)) if row else None

    def get_many(self, keys: Sequence[Key], *, eventual: bool = False) -> dict[Key, Item]:  # noqa: ARG002
        with self._file.reading() as connection:
            found = _stored(connection, keys)
        return {key: self._decoded(key, row) for key, row in found.items()}

    def query(
        self,
        partition: str,
        *,
        index: Index = Index.MAIN,
        prefix: str | None = None,
        between: tuple[str, str] | None = None,
        reverse: bool = False,
        limit: int,
        cursor: str | None = None,
    ) -> ItemPage:
        if limit < 1:
            raise ValueError(f"limit must be at least 1, is {limit}")
        if prefix is not None and between is not None:
            raise ValueError("a query takes a prefix or a range, not both")
        query = query_name(partition, index, prefix, between, reverse)
        selected = partition, prefix, between, reverse
        after = read_place(cursor, index, selected) if cursor is not None else None
        where, values = _range(index, prefix, between, reverse, after)
        order = ", ".join(f"{name}{' DESC' if reverse else ''}" for name in _order(index))
        page = f"SELECT * FROM rows WHERE {INDEX_KEYS[index][0]} = ? {where} ORDER BY {order} LIMIT ?"  # noqa: S608
        with self._file.reading() as connection:
            sql = f"SELECT {COLUMNS} FROM ({page})"  # noqa: S608
            found = list(gathered(connection, sql, (partition, *values, limit + 1)))
        in_order = sorted((self._decoded(Key(*key), row) for key, row in found), key=_place(index), reverse=reverse)
        items, more = in_order[:limit], len(in_order) > limit
        following = make_cursor(query, [items[-1][name] for name in _order(index)]) if more else None
        return ItemPage([_projected(item, index) for item in items], following)

    def _decoded(self, key: Key, row: StoredRow) -> Item:
        """Of a row that cannot be read, with its keys in the indexes."""
        if (item := _readable(row)) is not None and (item.get("pk"), item.get("sk")) == key:
            return item
        names = [name for index in _KEYED for name in INDEX_KEYS[index]]
        with self._file.reading() as connection:
            sql = f"SELECT {', '.join(names)} FROM rows WHERE pk = ? AND sk = ?"  # noqa: S608
            values = connection.execute(sql, key).fetchone() or ()
        own = {name: value for name, value in zip(names, values, strict=False) if value is not None}
        return unreadable_item(key, row.version) | own

    def write(self, ops: Sequence[WriteOp]) -> None:
        check_write(ops)
        self._write(_Writes.of(ops), whole=True)

    def write_each(self, puts: Sequence[Put]) -> list[int]:
        """In one transaction of the file: whoever reads it sees all of them or none."""
        check_each(puts)
        return self._write(_Writes.of(puts), whole=False) if puts else []

    def _write(self, writes: _Writes, *, whole: bool) -> list[int]:
        """The places of those whose expectation does not hold. ``whole``: then nothing is written. Raises Conflict."""
        newest = None
        with self._file.writing(durable=writes.durable) as connection:
            stored = _stored(connection, writes.keys)
            versions = {key: row.version for key, row in stored.items()}
            failed = [at for at, op in enumerate(writes.ops) if not holds(op.expect, versions.get(writes.keys[at]))]
            if failed and whole:
                raise Conflict(failed)
            if _apply(connection, writes.without(failed), stored):
                newest = connection.execute("SELECT last_insert_rowid()").fetchone()[0]
        if newest is not None:
            with self._changed:
                self._newest_seq = max(self._newest_seq, newest)
                self._changed.notify_all()
        return failed

    @property
    def has_writer(self) -> bool:
        """Whether another write would wait now."""
        return self._file.has_writer

    # --- time to live ---------------------------------------------------------------------------

    def delete_expired(self, now: datetime) -> int:
        """Remove the rows whose ``expires_at`` (seconds since 1970) is over, as a table of the cloud does by itself;
        each is told to the change stream. Returns how many there were."""
        removed = 0
        while True:
            with self._file.reading() as connection:
                found = connection.execute(
                    "SELECT pk, sk, version FROM rows WHERE expires_at <= ? LIMIT ?",
                    (int(now.timestamp()), MAX_WRITE_OPS),
                ).fetchall()
            if not found:
                return removed
            try:
                self.write([Delete(Key(pk, sk), Version(version)) for pk, sk, version in found])
            except Conflict:
                continue
            removed += len(found)

    # --- the change stream ----------------------------------------------------------------------

    def read_changes(self, after: int, limit: int) -> list[Change]:
        """The first ``limit`` changes above ``after`` that were not discarded, in the order in which they were made."""
        with self._file.reading() as connection:
            found = connection.execute(
                "SELECT seq, old_body, old_raw, new_body, new_raw FROM outbox WHERE seq > ? ORDER BY seq LIMIT ?",
                (after, limit),
            ).fetchall()
        return [_change(*row) for row in found]

    def discard_changes(self, through: int) -> None:
        """Forget the changes up to and including ``through``, a number that ``read_changes`` gave: they have been
        handled. A crash before this returns delivers them once more, and so does a power cut shortly after it."""
        with self._file.writing(durable=False) as connection:
            connection.execute("DELETE FROM outbox WHERE seq <= ?", (through,))
        with self._changed:
            self._discarded_seq = max(self._discarded_seq, through)

    def catch_up(self) -> None:
        """A change can be read as soon as it is committed."""

    def wait_for_changes(self, timeout_s: float) -> bool:
        """Until there is a change that was not discarded, be it from before this call; False when the time is over or
        the table was closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._newest_seq > self._discarded_seq, timeout_s)
            return not self._closed and self._newest_seq > self._discarded_seq

    def wipe(self) -> bool:
        """See ``SqliteFile``. A change that was not discarded keeps the row as it was."""
        return self._file.wipe()

    def close(self) -> None:
        self._file.close()
        with self._changed:
            self._closed = True
            self._changed.notify_all()


# --- reading ------------------------------------------------------------------------------------


def _readable(row: StoredRow) -> Item | None:
    """None for bytes that are no row."""
    try:
        item = decode_row(row.body, row.raw)
        return item if isinstance(item, dict) else None
    except (ValueError, TypeError, LookupError):
        return None


@lru_cache(maxsize=KEYS_A_STATEMENT)
def _select_keys(n: int) -> str:
    """CROSS JOIN makes the wanted keys the outer loop: one index search a key, whatever the planner believes.
    (``(pk, sk) IN (VALUES …)`` scans the whole table.)"""
    return (
        f"WITH wanted (pk, sk) AS (VALUES {', '.join(['(?, ?)'] * n)}) "  # noqa: S608
        f"SELECT {COLUMNS} FROM (SELECT rows.* FROM wanted CROSS JOIN rows "
        "ON rows.pk = wanted.pk AND rows.sk = wanted.sk)"
    )


def _stored(connection: Connection, keys: Sequence[Key]) -> dict[Key, StoredRow]:
    """The rows of ``keys`` in one state of the file."""
    wanted = list(dict.fromkeys(keys))
    several = len(wanted) > KEYS_A_STATEMENT and not connection.in_transaction
    if several:
        connection.execute("BEGIN")
    found: dict[Key, StoredRow] = {}
    for start in range(0, len(wanted), KEYS_A_STATEMENT):
        part = wanted[start : start + KEYS_A_STATEMENT]
        values = [text for key in part for text in key]
        found |= {Key(*key): row for key, row in gathered(connection, _select_keys(len(part)), values)}
    if several:
        connection.execute("COMMIT")
    return found


def _order(index: Index) -> tuple[str, ...]:
    """What makes the order of an index total. Text compares byte by byte in UTF-8 (collation BINARY)."""
    sort = INDEX_KEYS[index][1]
    return ("sk",) if index is Index.MAIN else (sort, "pk", "sk")


def _place(index: Index) -> Callable[[Item], tuple[str, ...]]:
    """Where an item stands in the order of an index: code points order as their UTF-8 bytes do."""
    names = _order(index)
    return lambda item: tuple([item[name] for name in names])


def _range(
    index: Index, prefix: str | None, between: tuple[str, str] | None, reverse: bool, after: tuple[str, ...] | None
) -> tuple[str, list[str]]:
    """The conditions on the sort key. ``after`` replaces the bound on its side, so that a page starts where the last
    one ended instead of scanning up to there."""
    sort = INDEX_KEYS[index][1]
    bounds: list[tuple[str, str | None, bool]] = []
    if prefix is not None:
        bounds = [(">=", prefix, False), ("<", _after_prefix(prefix), True)]
    if between is not None:
        bounds = [(">=", between[0], False), ("<=", between[1], True)]
    narrowed = [
        (sign, bound) for sign, bound, upper in bounds if bound is not None and (after is None or upper != reverse)
    ]
    where = "".join(f" AND {sort} {sign} ?" for sign, _ in narrowed)
    values = [bound for _, bound in narrowed]
    if after is not None:
        names = _order(index)
        where += f" AND ({', '.join(names)}) {'<' if reverse else '>'} ({', '.join('?' * len(names))})"
        values += after
    return where, values


def _after_prefix(prefix: str) -> str | None:
    """The smallest text above everything that starts with ``prefix``; None when there is none. Code points order as
    their UTF-8 bytes do; surrogates are not code points."""
    trimmed = prefix.rstrip(chr(LAST_CODE_POINT))
    if not trimmed:
        return None
    following = ord(trimmed[-1]) + 1
    return trimmed[:-1] + chr(0xE000 if following == 0xD800 else following)


def _projected(item: Item, index: Index) -> Item:
    """RANK and DUE hand out what the real index would hold, so that no caller comes to depend on more."""
    projection = INDEX_PROJECTION.get(index)
    if projection is None:
        return item
    projected = {"pk", "sk", *INDEX_KEYS[index]} | projection
    return {name: value for name, value in item.items() if name in projected}


# --- writing ------------------------------------------------------------------------------------


class _Writes(NamedTuple):
    """Operations, the rows that they are about, and how they will leave these."""

    ops: Sequence[WriteOp]
    keys: Sequence[Key]
    images: Sequence[StoredRow | None]

    @classmethod
    def of(cls, ops: Sequence[WriteOp]) -> _Writes:
        return cls(ops, [operation_key(op) for op in ops], [_new_image(op) for op in ops])

    @property
    def durable(self) -> bool:
        return not all(isinstance(op, Put) and not op.durable for op in self.ops)

    def without(self, places: Sequence[int]) -> _Writes:
        if not places:
            return self
        left = [one for at, one in enumerate(zip(*self, strict=True)) if at not in places]
        return _Writes([op for op, _, _ in left], [key for _, key, _ in left], [image for _, _, image in left])


def _new_image(op: WriteOp) -> StoredRow | None:
    """The row as ``op`` will leave it; the expectation settles its version before the row has been read."""
    if not isinstance(op, Put):
        return None
    version = version_after(op)
    return StoredRow(version, *encode_row(op.item, version))


def _apply(connection: Connection, writes: _Writes, stored: dict[Key, StoredRow]) -> int:
    """Writes the rows, then the outbox; returns how many rows changed. Like a stream of the cloud it is silent about a
    write that changed nothing."""
    upserts: list[tuple[Any, ...]] = []
    deletes: list[Key] = []
    outbox: list[tuple[Any, ...]] = []
    for op, key, new in zip(*writes, strict=True):
        old = stored.get(key)
        if isinstance(op, Put) and new is not None and new != old:
            upserts.append((*key, new.version, *_index_values(op.item), op.item.get("expires_at"), new.body, new.raw))
        elif isinstance(op, Delete) and old is not None:
            deletes.append(key)
        else:
            continue
        outbox.append((*(_image_of(key, old) if old else (None, None)), *(new[1:] if new else (None, None))))
    connection.executemany("DELETE FROM rows WHERE pk = ? AND sk = ?", deletes)
    connection.executemany(UPSERT, upserts)
    connection.executemany("INSERT INTO outbox (old_body, old_raw, new_body, new_raw) VALUES (?, ?, ?, ?)", outbox)
    return len(outbox)


def _image_of(key: Key, old: StoredRow) -> tuple[str, bytes | None]:
    """For the outbox, which everybody waits for who cannot read a row of it."""
    if _readable(old) is not None:
        return old.body, old.raw
    return encode_row(unreadable_item(key, old.version), old.version)


def _index_values(item: Item) -> list[str | None]:
    """A row is in an index iff it has both of its keys."""
    values: list[str | None] = []
    for index in _KEYED:
        pair = [item.get(name) for name in INDEX_KEYS[index]]
        values += [None, None] if None in pair else pair
    return values


def _change(
    seq: int, old_body: str | None, old_raw: bytes | None, new_body: str | None, new_raw: bytes | None
) -> Change:
    old = decode_row(old_body, old_raw) if old_body is not None else None
    new = decode_row(new_body, new_raw) if new_body is not None else None
    known = new or old or {}
    return Change(seq, key_of(known), old, new)
