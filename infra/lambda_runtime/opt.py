"""The folder /opt of a function: its layers laid over each other."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from filecmp import cmp
from pathlib import Path


class Overlap(Exception):
    """Two layers of one function bring different files of one name: Lambda would let the later one win."""


def lay_over(layers: Sequence[Path], opt: Path) -> Path:
    """``opt`` with every file of the layers, as hard links where the file system allows them. Raises Overlap."""
    for layer in layers:
        for parent, _, files in os.walk(layer):
            folder = opt / Path(parent).relative_to(layer)
            folder.mkdir(parents=True, exist_ok=True)
            for name in files:
                if (folder / name).exists():
                    if cmp(folder / name, Path(parent) / name, shallow=False):
                        continue  # what both need, of one version
                    raise Overlap(f"{(folder / name).relative_to(opt)} is in {layer.name} and in a layer before it")
                _place(Path(parent) / name, folder / name)
    return opt


def _place(source: Path, to: Path) -> None:
    try:
        to.hardlink_to(source)
    except OSError:
        shutil.copy(source, to)
