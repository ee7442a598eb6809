"""BuildSha: one sum over the layers, the functions and the template.

A function's alias moves to a new version only when this sum is another, so that whatever changes how a function runs
has to be in it: its memory and its variables, too, which the template has. The same files give the same sum on every
machine: times, owners and the order of a folder are not in it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

LENGTH = 16
"""Hexadecimal digits that are kept: enough that no two builds of a stack meet."""


def build_sha(parts: Mapping[str, Path]) -> str:
    """``parts``: files and folders by the names under which they are summed; compiled files are left out."""
    total = hashlib.sha256()
    for name, part in sorted(parts.items()):
        for path in _files(part):
            total.update(f"{name}/{path.relative_to(part).as_posix()}\0".encode())
            total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:LENGTH]


def _files(part: Path) -> Iterable[Path]:
    if part.is_file():
        return [part]
    found = [path for path in part.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return sorted(found, key=lambda path: path.relative_to(part).as_posix())
