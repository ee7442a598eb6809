"""The folder that a local server keeps everything in: one opener at a time, and nothing in it is ever deleted here.

``LOCK`` is held (flock) by the opener and names its process. ``FORMAT`` says that the folder is ours, how it is laid
out and what it must hold. ``CLEAN`` is there between an orderly stop and the next start; without it the databases are
read through before anybody uses them. Opening a healthy folder takes some milliseconds after an orderly stop, whatever
its size; after a crash 0.3 s for 600 MB, or 2 s when all of it must come from the disk."""

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
from local.engine.table_expiry import add_expiry_column

LOCK, FORMAT, CLEAN = "LOCK", "FORMAT", "CLEAN"
PARTIAL = ".partial"
FOLDERS = {"embedded": ".neve", "full": ".neve-full"}
"""Where a service of each stack keeps its data unless it is told otherwise."""
FORMAT_NUMBER = 2
WITHOUT_EXPIRY = 1
"""The format whose table had no column for the time at which a row expires."""


class DataFolderError(Exception):
    """The folder cannot be used; the message is for the person who started the server."""


class FolderInUse(DataFolderError):
    def __init__(self, path: Path, pid: int | None) -> None:
        holder = f"process {pid}" if pid else "another process"
        super().__init__(f"The data folder {path} is in use by {holder}. Stop it first, or choose another folder.")
        self.pid = pid


class _Damaged(Exception):
    """Why the folder cannot be trusted."""


@dataclass(frozen=True, slots=True)
class DataFolder:
    """An open data folder. ``moved_aside``: where a damaged one was put, ``damage`` what was wrong with it; both None
    when the folder was healthy or new."""

    path: Path
    moved_aside: Path | None
    damage: str | None
    lock: int

    def must_hold(self, names: Iterable[str]) -> None:
        """Call it once the engines have made their files: from now on the folder counts as damaged when one is gone."""
        _write(self.path / FORMAT, {"format": FORMAT_NUMBER, "holds": sorted(names)})

    def close(self) -> None:
        """The orderly end, after every engine was closed. A folder that lost a file meanwhile is not marked clean."""
        with suppress(_Damaged, FileNotFoundError):
            databases = [name for name in _read_format(self.path).holds if _is_database(name)]
            _write(self.path / CLEAN, {name: (self.path / name).stat().st_size for name in databases})
        os.ftruncate(self.lock, 0)
        os.close(self.lock)


def open_data_folder(path: Path) -> DataFolder:
    """Creates what is missing and takes the lock; a lock whose process died is taken over. A folder of an older format
    is brought to this one. A damaged folder is moved aside to ``<name>.damaged-<UTC time>`` and a fresh one takes its
    place. Raises FolderInUse, and DataFolderError for
    a folder that is not ours, is of a newer format, or cannot be written."""
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
        _prepare(path)
    except _Damaged as found:
        aside = _move_aside(path, lock, str(found))
        return _open(path, aside, str(found))
    except BaseException:
        os.close(lock)
        raise
    return DataFolder(path, moved_aside, damage, lock)


def _check_ours(path: Path) -> None:
    """Never lock, and never move, somebody else's folder."""
    if path.is_dir() and any(path.iterdir()) and not any((path / name).exists() for name in (LOCK, FORMAT)):
        raise DataFolderError(f"{path} holds something else: choose an empty folder, or one that does not exist.")


def _prepare(path: Path) -> None:
    """Mark a new folder as ours, or check a used one and bring it to this format. Afterwards it counts as not cleanly
    stopped."""
    if {entry.name for entry in path.iterdir()} <= {LOCK, FORMAT + PARTIAL}:
        _write(path / FORMAT, {"format": FORMAT_NUMBER, "holds": []})
        return
    marker = _read_format(path)
    _check(path, marker.holds, _read(path / CLEAN))
    (path / CLEAN).unlink(missing_ok=True)
    sync_folder(path)
    if marker.number == WITHOUT_EXPIRY:
        for database in path.glob("*.db"):
            add_expiry_column(database)
        _write(path / FORMAT, {"format": FORMAT_NUMBER, "holds": marker.holds})


def _check(path: Path, holds: list[str], clean: dict[str, int] | None) -> None:
    """Raises _Damaged. ``clean``: the sizes at the orderly stop, None without one."""
    for name in holds:
        if not (path / name).exists():
            raise _Damaged(f"{name} is missing")
        if _is_database(name) and (path / name).stat().st_size == 0:
            raise _Damaged(f"{name} is empty")
    for name, size in (clean or {}).items():
        found = (path / name).stat().st_size
        if found != size:
            raise _Damaged(f"{name} has {found} bytes, it had {size}")
    for database in sorted(path.glob("*.db")):
        damage = damage_of(database, thorough=clean is None)
        if damage is not None:
            raise _Damaged(f"{database.name}: {damage}")


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


def _read_format(path: Path) -> _Format:
    """The folder's format, and what it must hold."""
    marker = _read(path / FORMAT)
    number = marker.get("format") if marker else None
    if isinstance(number, int) and number > FORMAT_NUMBER:
        raise DataFolderError(f"{path} has format {number}; this version reads up to {FORMAT_NUMBER}.")
    if marker is None or number not in (WITHOUT_EXPIRY, FORMAT_NUMBER) or not isinstance(marker.get("holds"), list):
        raise _Damaged(f"{FORMAT} is missing or unreadable")
    return _Format(number, [str(name) for name in marker["holds"]])


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
