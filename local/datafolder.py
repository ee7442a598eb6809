"""The folder that a local server keeps everything in: one opener at a time, and nothing in it is ever deleted here.

``LOCK`` is held (flock) by the opener and names its process. ``FORMAT`` says that the folder is ours, how it is laid
out and what it must hold. ``CLEAN`` is there between an orderly stop and the next start; without it the databases are
read through before anybody uses them. After an orderly stop so are those up to ``MAX_EAGER_READ_BYTES``; larger ones
are read by the service while it works (``DataFolder.unread``). Opening a healthy folder takes 0.2 s at most after an
orderly stop; after a crash 0.3 s for 600 MB, or 2 s when all of it must come from the disk.

The table and the objects are the truth: a folder in which they are damaged is moved aside. ``DERIVED`` databases are
made again from the table, by whoever opens the folder: ``DataFolder.lost`` names them until ``found_again``."""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from local.engine.sqlite_file import damage_of

LOCK, FORMAT, CLEAN = "LOCK", "FORMAT", "CLEAN"
PARTIAL = ".partial"
FOLDERS = {"embedded": ".neve", "full": ".neve-full"}
"""Where a service of each stack keeps its data unless it is told otherwise."""
FORMAT_NUMBER = 6
"""Raise it with any change of what ``search.db`` holds: of its columns, of a term in ``neve.domain.terms``, of a count
in ``neve.domain.recall.weighted_counts``. The next start rebuilds the search index from the table."""
SEARCH = "search.db"
DERIVED = ("queue.db", SEARCH)
MAX_EAGER_READ_BYTES = 64 * 1024 * 1024
"""Bytes of a database that is read through at each start: 0.03 s from memory, 0.2 s from a disk."""
OLDEST_READ = 4
"""Raise it to ``FORMAT_NUMBER`` with a change after which stored rows are not found any more. Before this one the rows
of sessions had other keys."""


class DataFolderError(Exception):
    """The folder cannot be used; the message is for the person who started the server."""


class FolderInUse(DataFolderError):
    def __init__(self, path: Path, pid: int | None) -> None:
        holder = f"process {pid}" if pid else "another process"
        super().__init__(f"The data folder {path} is in use by {holder}. Stop it first, or choose another folder.")
        self.pid = pid


class _Damaged(Exception):
    """Why the folder cannot be trusted."""


@dataclass(slots=True)
class DataFolder:
    """An open data folder. ``moved_aside``: where a damaged one was put, ``damage`` what was wrong with it; both None
    when the folder was healthy or new. ``lost``: databases that were damaged and removed, or whose making again was
    broken off, each with what was wrong. ``unread``: databases that nobody has read through yet."""

    path: Path
    moved_aside: Path | None
    damage: str | None
    lock: int
    lost: dict[str, str]
    unread: tuple[Path, ...] = ()
    trusted: bool = True

    def must_hold(self, names: Iterable[str]) -> None:
        """Call it once the engines have made their files: from now on the folder counts as damaged when one is gone."""
        _write_format(self.path, names, self.lost)

    def lose(self, name: str, why: str) -> None:
        """Note that a derived database is not to be used any more, and remove it."""
        self.lost[name] = why
        _write_format(self.path, _read_format(self.path).holds, self.lost)
        _remove_database(self.path / name)

    def found_again(self, name: str) -> None:
        """A lost database holds again what it has to."""
        del self.lost[name]
        _write_format(self.path, _read_format(self.path).holds, self.lost)

    def distrust(self) -> None:
        """Damage was found while it was open: the next start reads everything through."""
        self.trusted = False

    def close(self) -> None:
        """The orderly end, after every engine was closed. A folder that lost a file meanwhile, is not to be trusted or
        has no room for the mark is not marked clean."""
        with suppress(_Damaged, OSError):
            databases = [name for name in _read_format(self.path).holds if _is_database(name) and name not in self.lost]
            sizes = {name: (self.path / name).stat().st_size for name in databases}
            if self.trusted:
                _write(self.path / CLEAN, sizes)
        os.ftruncate(self.lock, 0)
        os.close(self.lock)


def open_data_folder(path: Path) -> DataFolder:
    """Creates what is missing and takes the lock; a lock whose process died is taken over. A folder of an older format
    that is read still is brought to this one. Damaged ``DERIVED`` databases are removed. A folder that is damaged
    otherwise is moved aside to ``<name>.damaged-<UTC time>`` and a fresh one takes its place. Raises FolderInUse, and
    DataFolderError for a folder that is not ours, is of a newer format or of one before ``OLDEST_READ``, or cannot be
    written."""
    path = path.expanduser().resolve()
    try:
        return _open(path, None, None)
    except (OSError, sqlite3.Error) as error:
        raise DataFolderError(f"The data folder {path} cannot be opened: {error}") from error


def _open(path: Path, moved_aside: Path | None, damage: str | None) -> DataFolder:
    _check_ours(path)
    path.mkdir(parents=True, exist_ok=True)
    lock = _take_lock(path)
    try:
        lost, unread = _prepare(path)
    except _Damaged as found:
        aside = _move_aside(path, lock, str(found))
        return _open(path, aside, str(found))
    except BaseException:
        os.close(lock)
        raise
    return DataFolder(path, moved_aside, damage, lock, lost, unread)


def _check_ours(path: Path) -> None:
    """Never lock, and never move, somebody else's folder."""
    if path.exists() and not path.is_dir():
        raise DataFolderError(f"{path} is a file: choose a folder, or one that does not exist.")
    if path.is_dir() and any(path.iterdir()) and not any((path / name).exists() for name in (LOCK, FORMAT)):
        raise DataFolderError(f"{path} holds something else: choose an empty folder, or one that does not exist.")


def _prepare(path: Path) -> tuple[dict[str, str], tuple[Path, ...]]:
    """Mark a new folder as ours, or check a used one and bring it to this format. Afterwards it counts as not cleanly
    stopped. Returns ``lost`` and ``unread`` of DataFolder. Raises _Damaged."""
    if {entry.name for entry in path.iterdir()} <= {LOCK, FORMAT + PARTIAL}:
        _write_format(path, [], {})
        return {}, ()
    marker = _read_format(path)
    checked = _check(path, marker.holds, _read(path / CLEAN))
    (path / CLEAN).unlink(missing_ok=True)
    sync_folder(path)
    lost = marker.lost | checked.damaged
    if marker.number < FORMAT_NUMBER and SEARCH in marker.holds:
        lost.setdefault(SEARCH, f"{SEARCH} is of an older layout")
    if lost != marker.lost:
        # first: the removal must not look like a new, empty database
        _write_format(path, marker.holds, lost, marker.number)
    for name in lost:
        _remove_database(path / name)
    if marker.number < FORMAT_NUMBER:
        _write_format(path, marker.holds, lost)
    return lost, checked.unread


class _Checked(NamedTuple):
    """``damaged``: derived databases, with what is wrong. ``unread``: what only its head was read of."""

    damaged: dict[str, str]
    unread: tuple[Path, ...]


def _check(path: Path, holds: list[str], clean: dict[str, int] | None) -> _Checked:
    """Raises _Damaged when what is damaged cannot be made again. ``clean``: the sizes at the orderly stop, None without
    one."""
    damaged: dict[str, str] = {}
    unread: list[Path] = []
    for name in sorted({*holds, *(database.name for database in path.glob("*.db"))}):
        at_once = clean is None or _size(path / name) <= MAX_EAGER_READ_BYTES
        found = _damage(path / name, name in holds, (clean or {}).get(name), thorough=at_once)
        if found is not None and name in DERIVED:
            damaged[name] = found
        elif found is not None:
            raise _Damaged(found)
        elif not at_once and _is_database(name):
            unread.append(path / name)
    return _Checked(damaged, tuple(unread))


def _damage(file: Path, held: bool, size: int | None, *, thorough: bool) -> str | None:
    """``size``: at the orderly stop, if there was one. A database that was never finished is no damage."""
    if not file.exists():
        return f"{file.name} is missing"
    if not _is_database(file.name):
        return None
    if held and _size(file) == 0:
        return f"{file.name} is empty"
    if size is not None and _size(file) != size:
        return f"{file.name} has {_size(file)} bytes, it had {size}"
    found = damage_of(file, thorough=thorough)
    return None if found is None else f"{file.name}: {found}"


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _remove_database(file: Path) -> None:
    """With its log, which would be taken for a part of the next one. It is not kept: it holds nothing of its own, and
    what is erased from the table must not stay in a copy."""
    for ending in ("", "-wal", "-shm"):
        file.with_name(file.name + ending).unlink(missing_ok=True)
    sync_folder(file.parent)


def _move_aside(path: Path, lock: int, damage: str) -> Path:
    """Gives up the lock: it belongs to the folder that is moved."""
    stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    more = 1
    while aside.exists():
        more += 1
        aside = path.with_name(f"{path.name}.damaged-{stamp}-{more}")
    try:
        path.rename(aside)
        sync_folder(path.parent)
    except OSError as error:
        raise DataFolderError(f"{path} is damaged ({damage}) and cannot be moved aside: {error}") from error
    finally:
        os.close(lock)
    return aside


# --- the lock -----------------------------------------------------------------------------------


def _take_lock(path: Path) -> int:
    while True:
        lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(lock, 32, 0).decode("ascii", "replace").strip()
            os.close(lock)
            raise FolderInUse(path, int(holder) if holder.isdecimal() else None) from None
        if _is_still(path / LOCK, lock):
            os.ftruncate(lock, 0)
            os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
            return lock
        os.close(lock)


def _is_still(file: Path, descriptor: int) -> bool:
    """False when the folder was moved aside between the opening of its lock file and the locking."""
    try:
        return os.path.samestat(file.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


# --- the markers --------------------------------------------------------------------------------


class _Format(NamedTuple):
    number: int
    holds: list[str]
    lost: dict[str, str]


def _read_format(path: Path) -> _Format:
    """The folder's format, what it must hold, and what of that is lost."""
    marker = _read(path / FORMAT)
    number = marker.get("format") if marker else None
    if isinstance(number, int) and number > FORMAT_NUMBER:
        raise DataFolderError(f"{path} has format {number}; this version reads up to {FORMAT_NUMBER}.")
    if isinstance(number, int) and 1 <= number < OLDEST_READ:
        raise DataFolderError(
            f"{path} has format {number}; this version reads from {OLDEST_READ} on. Choose another folder. "
            "What this one holds comes over by an export from the version that made it and an import."
        )
    if marker is None or not isinstance(number, int) or number < 1 or not isinstance(marker.get("holds"), list):
        raise _Damaged(f"{FORMAT} is missing or unreadable")
    lost = marker.get("lost") or {}
    return _Format(number, [str(name) for name in marker["holds"]], {name: str(why) for name, why in lost.items()})


def _write_format(path: Path, holds: Iterable[str], lost: dict[str, str], number: int | None = None) -> None:
    """``lost`` is not written when there is nothing. ``number`` None: of this version."""
    content = {"format": number or FORMAT_NUMBER, "holds": sorted(holds)}
    _write(path / FORMAT, content | ({"lost": lost} if lost else {}))


def _read(file: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(file.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _write(file: Path, content: dict[str, Any]) -> None:
    """Whole or not at all, and on disk."""
    partial = file.with_name(file.name + PARTIAL)
    with partial.open("w") as stream:
        json.dump(content, stream)
        stream.flush()
        os.fsync(stream.fileno())
    partial.replace(file)
    sync_folder(file.parent)


def sync_folder(folder: Path) -> None:
    """What was created, renamed or removed in it survives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_database(name: str) -> bool:
    return name.endswith(".db")
