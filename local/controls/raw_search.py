"""Looks for a text in the raw bytes of everything a service keeps: databases, their logs, objects, the server's log."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Found:
    """``place``: a file, or what a store calls the row, object, message or passage that holds a text."""

    place: str
    count: int


def find_raw(folders: Iterable[Path], marker: bytes) -> list[Found]:
    """Every file with the marker; one that its store removes meanwhile counts as without. A text longer than a database
    page may be cut in two by a page boundary in its middle: use short markers."""
    found: list[Found] = []
    for folder in folders:
        for parent, _, names in os.walk(folder):  # skips a folder that is removed meanwhile, where ``rglob`` raises
            paths = sorted(Path(parent, name) for name in names)
            counted = ((path, _count_in(path, marker)) for path in paths)
            found += [Found(str(path.relative_to(folder)), count) for path, count in counted if count]
    return found


def _count_in(path: Path, marker: bytes) -> int:
    try:
        with path.open("rb") as file:
            return _count(file, marker)
    except FileNotFoundError:
        return 0


def _count(file: BinaryIO, marker: bytes) -> int:
    """Occurrences, those across the boundary of two reads included once."""
    count, rest = 0, b""
    while part := file.read(CHUNK):
        window = rest + part
        count += window.count(marker)
        rest = window[-(len(marker) - 1) :] if len(marker) > 1 else b""
    return count
