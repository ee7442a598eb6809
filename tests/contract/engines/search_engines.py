"""The engines of the SearchIndex port, by name. A new engine is one more entry in SEARCHES; no test changes."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

from local.aws.local_servers import READ_S
from local.engine.file_objects import FileObjects
from local.engine.search.search_index import SqliteSearchIndex
from local.engine.sqlite_table import SqliteTable
from neve.adapters.clock import SystemClock, SystemIds, ThreadTasks
from neve.adapters.opensearch.calls import Calls
from neve.adapters.opensearch.client import open_search_client
from neve.adapters.opensearch.index import OpenSearchIndex
from neve.adapters.opensearch.places import create_index
from neve.adapters.segments.index import SegmentsIndex
from neve.ports.search import IndexModel, SearchIndex
from neve.ports.table import Table
from tests.servers import opensearch_url
from tests.simulation.engines.memory_search import MemorySearch

MODEL = IndexModel("contract", 4)
EVERY_SIGN = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Of a ULID."""


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


@contextmanager
def _memory(_: Path) -> Iterator[SearchEngine]:
    yield SearchEngine(MemorySearch(MODEL), _at_once)


@dataclass(frozen=True)
class ReadElsewhere:
    """Segments of which all is merged that is written, and each search is another process's, which has loaded
    nothing."""

    make: Callable[[], SegmentsIndex]

    def __getattr__(self, method: str) -> Any:
        return getattr(self.make(), method)


def segments(folder: Path, table: Table, **merging: Any) -> SegmentsIndex:
    clock = SystemClock()
    objects = FileObjects(folder / "objects", clock, "")
    return SegmentsIndex(table, objects, MODEL, clock=clock, ids=SystemIds(), tasks=ThreadTasks(clock), **merging)


@contextmanager
def _segments(folder: Path) -> Iterator[SearchEngine]:
    with closing(SqliteTable(folder / "table.db")) as table:
        yield SearchEngine(segments(folder, table), _at_once)


@contextmanager
def _merged(folder: Path) -> Iterator[SearchEngine]:
    with closing(SqliteTable(folder / "table.db")) as table:
        make = partial(segments, folder, table, merged_from=1, looked_at=EVERY_SIGN)
        yield SearchEngine(cast("SearchIndex", ReadElsewhere(make)), _at_once)


@contextmanager
def _opensearch(folder: Path) -> Iterator[SearchEngine]:
    """One index for all tests: making one takes longer than most of them, and each has owners of its own."""
    with closing(open_search_client(opensearch_url(), read_s=READ_S)) as client:
        alias = _opensearch_alias()
        index = OpenSearchIndex(client, alias, MODEL, wait=False)
        yield SearchEngine(index, lambda: Calls(client).refresh(alias))


@cache
def _opensearch_alias() -> str:
    alias = f"contract-{uuid.uuid4().hex}"
    with closing(open_search_client(opensearch_url(), read_s=READ_S)) as client:
        create_index(Calls(client), alias, MODEL, live=True)
    return alias


SEARCHES: dict[str, Callable[[Path], AbstractContextManager[SearchEngine]]] = {
    "memory": _memory,
    "opensearch": _opensearch,
    "segments": _segments,
    "segments merged": _merged,
    "sqlite": _sqlite,
}
"""Each makes an index for MODEL; it may hold other owners' passages already."""
