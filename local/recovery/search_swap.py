"""A new search file beside the one in use, whose place it takes at once or not at all.

Until then the service starts with the one in use, whatever became of the new one, and removes that: nobody tells it of
what is erased."""

from __future__ import annotations

from pathlib import Path

from local.datafolder import PARTIAL, sync_folder
from neve.ports.errors import StoreUnavailable

WAL = "-wal"


def file_beside(search: Path) -> Path:
    """Its name does not end in ``.db``: a data folder is not damaged by what is wrong with it."""
    return search.with_name(search.name + PARTIAL)


def remove_unfinished(search: Path) -> None:
    beside = file_beside(search)
    for ending in ("", WAL, "-shm"):
        beside.with_name(beside.name + ending).unlink(missing_ok=True)


def put_in_place(search: Path) -> None:
    """Both files must be closed. Raises StoreUnavailable for one whose write-ahead log is still there, which would be
    taken for a part of the other."""
    beside = file_beside(search)
    for file in (search, beside):
        if file.with_name(file.name + WAL).exists():
            raise StoreUnavailable("search", f"{file.name} is still open")
    beside.replace(search)
    sync_folder(search.parent)
