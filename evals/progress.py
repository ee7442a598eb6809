"""A progress bar on a terminal, a line every tenth elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

T = TypeVar("T")
_WIDTH = 32


def tracked(title: str, things: Iterable[T], total: int | None = None) -> Iterator[T]:
    """The things, one by one, with the bar moving behind them."""
    if total is None:
        total = len(things) if isinstance(things, Sized) else 0
    for done, thing in enumerate(things):
        _show(title, done, total)
        yield thing
    _show(title, total, total)
    if sys.stderr.isatty():
        print(file=sys.stderr)


def _show(title: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        filled = _WIDTH * done // max(total, 1)
        bar = "#" * filled + "." * (_WIDTH - filled)
        print(f"\r{title:24} [{bar}] {done}/{total}", end="", file=sys.stderr, flush=True)
    elif done == total or done % max(total // 10, 1) == 0:
        print(f"{title}: {done}/{total}", file=sys.stderr, flush=True)
