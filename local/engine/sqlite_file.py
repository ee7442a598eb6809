"""One SQLite file as the embedded engines use it: one writer at a time, readers beside it, durable when it says so."""

from __future__ import annotations

import math
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from neve.ports.errors import StoreUnavailable
from neve.troubles import Troubles

BUSY_TIMEOUT_S = 10.0
"""Only a checkpoint or another program that looks into the file can make a connection wait."""
IDLE_READERS = 8
READER_CACHE_KB = 8 * 1024
WRITER_CACHE_KB = 32 * 1024
MAX_IDLE_WAL = 64 * 1024 * 1024
"""A burst may grow the write-ahead log beyond this; the next checkpoint gives the disk space back."""
SMALL_FILE = 32 * 1024 * 1024
"""Rewritten in 0.3 s (1.5 s for 200 MB), which a sweep each few minutes may take from the writers."""
RESTS = 200
"""A larger file is left alone for 200 times as long as its last rewriting took: writers wait 0.5 % of the time.
One that many write to also waits for ten times that: 200 MB hold up an append for 1.5 s, once in 50 minutes of load."""
BUSY_RESTS = 2_000
BUSY_COMMITS_PER_S = 1.0
"""Above this rate since the last ``wipe`` somebody is probably waiting for an answer now; an idle service's own passes
commit less."""
NO_DATABASE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
PRIMARY_CODE = 0xFF
CONDEMNED = -1
"""The ``user_version`` of a file in whose order SQLite finds no fault, and in whose content its reader did."""


def damage_of(path: Path, *, thorough: bool) -> str | None:
    """What is wrong with a SQLite file that nobody has open, None when nothing is. ``thorough`` reads all of it
    (``quick_check``: 0.5 s a GB from memory, 3.5 s a GB from disk); otherwise only its head. Changes nothing, not even
    the write-ahead log. Raises sqlite3.Error when it cannot look."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        finding: str = connection.execute("PRAGMA quick_check(1)").fetchone()[0] if thorough else "ok"
        if connection.execute("PRAGMA user_version").fetchone()[0] == CONDEMNED:
            finding = "what it holds could not be read"
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & PRIMARY_CODE not in NO_DATABASE:
            raise
        return str(error)
    finally:
        connection.close()
    return None if finding == "ok" else finding


def _text(stored: bytes) -> str:
    """Of a damaged one as much as there is: it would keep whole statements from being read."""
    return stored.decode(errors="surrogateescape")


class SqliteFile:
    """Every sqlite3 error inside ``reading`` and ``writing`` becomes StoreUnavailable, which ``store`` names.

    The file is in WAL mode; with ``synchronous=FULL`` a commit costs one fsync and survives a power cut. Deleted
    content is overwritten with zeros (``secure_delete``), so that an erased text does not stay in a free page; ``wipe``
    removes the copies that SQLite itself made of it."""

    def __init__(self, path: Path, *, store: str, schema: str, troubles: Troubles | None = None) -> None:
        """``troubles`` hear of a page that is damaged and of a disk that is full."""
        self._troubles = troubles
        self._path = path
        self._store = store
        self._writer_lock = threading.Lock()
        self._readers: deque[sqlite3.Connection] = deque()
        self._closed = False
        self._wiped_at: int | None = None  # of the writer's changes; another process may have left something
        self._rewritten_at = -math.inf
        self._rewriting_took = 0.0
        self._commits = 0
        self._wipe_asked = (time.monotonic(), 0)  # when, and the commits until then
        try:
            self._writer = self._connect(WRITER_CACHE_KB)
            for pragma in ("journal_mode=WAL", "secure_delete=ON"):
                self._writer.execute(f"PRAGMA {pragma}")
            self._writer.execute(f"PRAGMA journal_size_limit={MAX_IDLE_WAL}")
            self._writer.executescript(schema)
        except sqlite3.Error as error:
            raise self._unavailable(error) from error

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection of the pool; each statement sees one committed state of the file."""
        if self._closed:
            raise StoreUnavailable(self._store, "closed")
        connection = None
        try:
            connection = self._take_reader()
            yield connection
        except sqlite3.Error as error:
            raise self._unavailable(error) from error
        finally:
            if connection is not None:
                self._give_back(connection)

    @contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """The one writer inside a transaction: committed at the end, rolled back when anything is raised.

        ``durable=False`` leaves out the fsync. Such a commit survives the death of the process, but not a power cut
        unless a durable one followed; right for work whose loss means that something is done once more."""
        with self._writer_lock:
            if self._closed:
                raise StoreUnavailable(self._store, "closed")
            try:
                self._writer.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
                self._writer.execute("BEGIN IMMEDIATE")
                try:
                    yield self._writer
                    self._writer.execute("COMMIT")
                    self._commits += 1
                finally:
                    if self._writer.in_transaction:
                        self._writer.execute("ROLLBACK")
            except sqlite3.Error as error:
                raise self._unavailable(error) from error
        if self._troubles is not None:
            self._troubles.worked(self._store)

    @property
    def has_writer(self) -> bool:
        """Whether somebody is writing now."""
        return self._writer_lock.locked()

    def _unavailable(self, error: sqlite3.Error) -> StoreUnavailable:
        code = getattr(error, "sqlite_errorcode", 0) & PRIMARY_CODE
        if self._troubles is not None and code in NO_DATABASE:
            self._troubles.note(self._store, "damaged", str(error))
        elif self._troubles is not None and code == sqlite3.SQLITE_FULL:
            self._troubles.note(self._store, "full", str(error))
        elif self._troubles is not None and code == sqlite3.SQLITE_IOERR:
            self._troubles.failed(self._store, str(error))
        return StoreUnavailable(self._store, str(error))

    def condemn(self) -> StoreUnavailable:
        """Of a file that can be made again: some of what it holds cannot be read. To be raised; the next start makes it
        again."""
        with self.writing():
            self._writer.execute(f"PRAGMA user_version = {CONDEMNED}")
        reason = "what it holds cannot be read; the next start makes it again"
        if self._troubles is not None:
            self._troubles.note(self._store, "damaged", reason)
        return StoreUnavailable(self._store, reason)

    def wipe(self) -> bool:
        """Leave no byte of what was deleted, in the file or in its log. ``secure_delete`` does not see to all of it: a
        page that SQLite rearranges keeps a copy of the rows that moved, in the part that is free afterwards (2 to 7
        rows of 6,000 writes with SQLite 3.40). So the file is rewritten, a large one not each time. False when
        somebody was reading in the log or the file must rest; a later call may succeed. Raises StoreUnavailable, also
        where the disk has no room for the copy."""
        return self._rewrite() & self.cut_log()

    def _rewrite(self) -> bool:
        with self._writer_lock:
            if self._closed:
                raise StoreUnavailable(self._store, "closed")
            began = time.monotonic()
            if self._writer.total_changes == self._wiped_at:
                return True
            rests = BUSY_RESTS if self._busy(began) else RESTS
            if self._path.stat().st_size > SMALL_FILE and began < self._rewritten_at + rests * self._rewriting_took:
                return False
            try:
                self._writer.execute("VACUUM")
            except sqlite3.Error as error:
                raise self._unavailable(error) from error
            self._wiped_at = self._writer.total_changes
            self._rewritten_at = time.monotonic()
            self._rewriting_took = self._rewritten_at - began
            return True

    def _busy(self, now: float) -> bool:
        (asked_at, commits), self._wipe_asked = self._wipe_asked, (now, self._commits)
        return self._commits - commits > BUSY_COMMITS_PER_S * (now - asked_at)

    def cut_log(self) -> bool:
        """Fold the write-ahead log into the file and leave nothing of it. False when somebody was reading in it; the
        next call may succeed. Raises StoreUnavailable."""
        with self.reading() as connection:
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    def close(self) -> None:
        """Waits for the writer and folds the write-ahead log into the file. Later calls raise StoreUnavailable."""
        with self._writer_lock:
            if self._closed:
                return
            self._closed = True
            while self._readers:
                self._readers.pop().close()
            self._writer.close()

    def _connect(self, cache_kb: int) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        connection.execute(f"PRAGMA cache_size=-{cache_kb}")
        connection.text_factory = _text
        return connection

    def _take_reader(self) -> sqlite3.Connection:
        try:
            return self._readers.pop()
        except IndexError:
            connection = self._connect(READER_CACHE_KB)
            connection.execute("PRAGMA query_only=ON")
            return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if self._closed or len(self._readers) >= IDLE_READERS:
            connection.close()
        else:
            self._readers.append(connection)
