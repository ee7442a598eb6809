"""The engines of the SearchIndex port, by name. A new engine is one more entry in SEARCHES; no test changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from local.engine.search_index import SqliteSearchIndex
from neve.ports import IndexModel, SearchIndex

MODEL = IndexModel("contract", 4)


@dataclass(frozen=True)
class SearchEngine:
    """``refresh`` returns once the searches see every earlier write."""

    index: SearchIndex
    refresh: Callable[[], None]


def _at_once() -> None:
    """Writes are visible when they return."""


@contextmanager
def _sqlite(folder: Path) -> Iterator[SearchEngine]:
    with closing(SqliteSearchIndex(folder / "search.db", MODEL)) as index:
        yield SearchEngine(index, _at_once)


SEARCHES: dict[str, Callable[[Path], AbstractContextManager[SearchEngine]]] = {"sqlite": _sqlite}
"""Each makes an index for MODEL; it may hold other owners' passages already."""
