"""Looks for a text in the raw bytes of everything a service keeps: databases, their logs, objects, the server's log."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

CHUNK = 1024 * 1024


def find_raw(folders: Iterable[Path], marker: bytes) -> list[dict[str, int | str]]:
    """``{file, count}`` of every file with the marker; one that its store removes meanwhile counts as without. A text
    longer than a database page may be cut in two by a page boundary in its middle: use short markers."""
    found: list[dict[str, int | str]] = []
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            count = _count_in(path, marker) if path.is_file() else 0
            if count:
                found.append({"file": str(path.relative_to(folder)), "count": count})
    return found


def _count_in(path: Path, marker: bytes) -> int:
    try:
        with path.open("rb") as file:
            return _count(file, marker)
    except FileNotFoundError:
        return 0


def _count(file: BinaryIO, marker: bytes) -> int:
    """Occurrences, those across the boundary of two reads included once."""
    count, kept = 0, b""
    while part := file.read(CHUNK):
        window = kept + part
        count += window.count(marker)
        kept = window[-(len(marker) - 1) :] if len(marker) > 1 else b""
    return count
