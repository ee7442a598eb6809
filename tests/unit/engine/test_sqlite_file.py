"""What holds for every SQLite file of the embedded engines."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from local.engine import sqlite_file
from local.engine.sqlite_file import SqliteFile, damage_of
from neve.ports.errors import StoreUnavailable

SCHEMA = "CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, body TEXT)"


@pytest.fixture
def file(tmp_path: Path) -> Iterator[SqliteFile]:
    with closing(SqliteFile(tmp_path / "f.db", store="thing", schema=SCHEMA)) as opened:
        yield opened


def numbers(file: SqliteFile) -> list[int]:
    with file.reading() as connection:
        return [n for (n,) in connection.execute("SELECT n FROM t ORDER BY n")]


def test_a_transaction_that_raises_leaves_nothing_and_frees_the_writer(file: SqliteFile) -> None:
    with pytest.raises(KeyError), file.writing() as connection:
        connection.execute("INSERT INTO t VALUES (1, 'x')")
        raise KeyError
    with pytest.raises(StoreUnavailable, match="thing: no such table"), file.writing() as connection:
        connection.execute("INSERT INTO t VALUES (2, 'x')")
        connection.execute("INSERT INTO missing VALUES (1)")
    with file.writing() as connection:
        connection.execute("INSERT INTO t VALUES (3, 'x')")
    assert numbers(file) == [3]


@pytest.mark.parametrize(("durable", "mode"), [(True, 2), (False, 1)])
def test_a_commit_is_synced_unless_it_may_be_lost(file: SqliteFile, durable: bool, mode: int) -> None:
    for again in (not durable, durable):
        with file.writing(durable=again) as connection:
            found = connection.execute("PRAGMA synchronous").fetchone()[0]
    assert found == mode
    with file.writing() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA secure_delete").fetchone() == (1,)


def test_readers_see_the_last_commit_while_a_writer_works(file: SqliteFile) -> None:
    with file.writing() as connection:
        connection.execute("INSERT INTO t VALUES (1, 'x')")
        assert numbers(file) == []
    assert numbers(file) == [1]


def test_a_reader_cannot_write(file: SqliteFile) -> None:
    with pytest.raises(StoreUnavailable, match="readonly"), file.reading() as connection:
        connection.execute("INSERT INTO t VALUES (1, 'x')")


def test_more_readers_than_the_pool_keeps(file: SqliteFile) -> None:
    def nested(depth: int) -> list[int]:
        with file.reading() as connection:
            assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)
            return nested(depth - 1) if depth else numbers(file)

    assert nested(20) == []
    assert numbers(file) == []


def test_a_file_that_is_no_database_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "f.db").write_bytes(b"not a database, but long enough to be looked at" * 100)
    with pytest.raises(StoreUnavailable, match="thing: file is not a database"):
        SqliteFile(tmp_path / "f.db", store="thing", schema=SCHEMA)


def test_looking_for_damage_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    with closing(SqliteFile(path, store="thing", schema=SCHEMA)) as file:
        with file.writing() as connection:
            connection.execute("INSERT INTO t VALUES (1, ?)", ("x" * 100_000,))
        for name in ("f.db", "f.db-wal"):
            (tmp_path / f"copy-{name}").write_bytes((tmp_path / name).read_bytes())
    copy, wal = tmp_path / "copy-f.db", tmp_path / "copy-f.db-wal"
    before = copy.read_bytes(), wal.read_bytes()
    assert damage_of(copy, thorough=True) is None
    assert damage_of(copy, thorough=False) is None
    assert (copy.read_bytes(), wal.read_bytes()) == before
    with closing(SqliteFile(copy, store="thing", schema=SCHEMA)) as file:
        assert numbers(file) == [1]


MARK = re.compile(rb"mark\d{6}")


def keyed_rows(file: SqliteFile, seed: int) -> set[bytes]:
    """The marks of what is left of 6,000 rows that were put, put again and deleted, in an order of keys that makes
    SQLite rearrange its pages."""
    draw, marks = random.Random(seed), dict[str, str]()
    with file.writing() as connection:
        connection.execute("CREATE TABLE keyed (k TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID")
        for n in range(6000):
            key = draw.choice(list(marks)) if marks and draw.random() < 0.4 else f"{draw.randrange(10**9):09}"
            if marks.pop(key, None) and draw.random() < 0.5:
                connection.execute("DELETE FROM keyed WHERE k = ?", (key,))
                continue
            marks[key] = f"mark{n:06}"
            connection.execute("REPLACE INTO keyed VALUES (?, ?)", (key, marks[key] + "." * draw.randrange(20, 1500)))
    return {mark.encode() for mark in marks.values()}


def raw_marks(folder: Path) -> set[bytes]:
    return {mark for path in folder.glob("f.db*") for mark in MARK.findall(path.read_bytes())}


@pytest.mark.parametrize("seed", range(3))
def test_no_byte_of_what_was_deleted_is_left(file: SqliteFile, tmp_path: Path, seed: int) -> None:
    left = keyed_rows(file, seed)
    assert file.cut_log()
    assert raw_marks(tmp_path) > left, "SQLite alone would do"
    assert file.wipe()
    assert raw_marks(tmp_path) == left


def test_a_large_file_rests_between_two_wipes(
    file: SqliteFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "SMALL_FILE", 1024)
    assert file.wipe() and file.wipe(), "nothing was changed in between"
    left = keyed_rows(file, 0)
    monkeypatch.setattr("time.monotonic", lambda: 0.0)
    assert not file.wipe()
    assert raw_marks(tmp_path) > left
    monkeypatch.setattr("time.monotonic", lambda: 1e9)
    assert file.wipe()
    assert raw_marks(tmp_path) == left


@pytest.mark.parametrize(("commits", "wiped"), [(600, True), (601, False)])
def test_a_large_file_that_many_write_to_rests_longer(
    file: SqliteFile, monkeypatch: pytest.MonkeyPatch, commits: int, wiped: bool
) -> None:
    """Ten minutes between two sweeps, each reading of the clock a second later: the first rewriting took a second."""
    clock = count(1000.0)
    monkeypatch.setattr(sqlite_file, "SMALL_FILE", 1024)
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    keyed_rows(file, 0)
    assert file.wipe()
    for number in range(commits):
        with file.writing(durable=False) as connection:
            connection.execute("REPLACE INTO keyed VALUES (?, 'again')", (str(number),))
    clock = count(1600.0)
    assert file.wipe() == wiped
    clock = count(3100.0)
    assert file.wipe()


def test_who_reads_in_the_log_puts_a_wipe_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_TIMEOUT_S", 0.01)
    with closing(SqliteFile(tmp_path / "f.db", store="thing", schema=SCHEMA)) as file:
        left = keyed_rows(file, 0)
        with file.reading() as connection:
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM keyed").fetchone()
            assert not file.wipe()
        assert file.wipe()
        assert raw_marks(tmp_path) == left
