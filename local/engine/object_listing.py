"""The keys below a prefix of a folder of objects, in order.

A folder has no order and is read as a whole. So a listing that ends behind a page is kept open: who asks for the next
page goes on in it, and each folder is read once for all pages. One that a new object would belong to is closed, and the
folders are read again behind the key that was asked for."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from local.engine.object_paths import CONTINUED, FILE, segment_of, start_of

OPEN = 4
"""*Chosen*: listings at once; each holds the names of the folders that it is in, 15 MB for 100,000 objects in one."""


class Listings:
    """Of one folder, in which nobody else writes. For one thread at a time. All methods raise OSError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: OrderedDict[tuple[str, str], Iterator[str]] = OrderedDict()

    def all(self, prefix: str) -> list[str]:
        return list(self._keys(prefix, ""))

    def page(self, prefix: str, behind: str, size: int) -> list[str]:
        """At most ``size`` of them, behind a key."""
        keys = self._open.pop((prefix, behind), None) or self._keys(prefix, behind)
        found = list(islice(keys, size))
        if len(found) == size:
            self._open[prefix, found[-1]] = keys
            while len(self._open) > OPEN:
                self._open.popitem(last=False)
        return found

    def added(self, key: str) -> None:
        """There is an object of this name, maybe since now."""
        for listing in [one for one in self._open if key.startswith(one[0])]:
            del self._open[listing]

    def _keys(self, prefix: str, behind: str) -> Iterator[str]:
        first = prefix[: prefix.rfind("/") + 1]
        for key, path in _walk(self._folder / start_of(prefix), first, prefix, behind):
            if path.is_file():  # it may have been deleted since the folder was read
                yield key


class _Entry(NamedTuple):
    """``name``: what it adds to a key; of a folder with the slash behind it."""

    name: str
    path: Path


def _walk(folder: Path, first: str, prefix: str, behind: str) -> Iterator[tuple[str, Path]]:
    """Keys and files. ``first``: what all keys in the folder begin with. What begins with a folder's name stands
    together in the order of keys, because no other name in its place holds a slash."""
    for entry in sorted(_entries(folder, "")):
        key = first + entry.name
        if not entry.name.endswith("/"):
            if key > behind and key.startswith(prefix):
                yield key, entry.path
        elif (key > behind or behind.startswith(key)) and (key.startswith(prefix) or prefix.startswith(key)):
            yield from _walk(entry.path, key, prefix, behind)


def _entries(folder: Path, begun: str) -> Iterator[_Entry]:
    """``begun``: of a name that goes on in this folder, what stands in those before. None where the folder is gone, as
    it is with its last object."""
    try:
        found = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in found:
        path = folder / entry.name
        if entry.name.endswith(CONTINUED):
            yield from _entries(path, begun + entry.name.removesuffix(CONTINUED))
        elif entry.name.startswith(FILE):
            yield _Entry(segment_of(begun + entry.name.removeprefix(FILE)), path)
        else:
            yield _Entry(segment_of(begun + entry.name) + "/", path)
