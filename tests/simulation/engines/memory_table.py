"""The Table port as a dict: what a Table does, in the fewest words. Indexes follow after a lag."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from threading import Lock
from typing import Any, NamedTuple

from neve.adapters.table_cursor import query_name
from neve.adapters.table_rules import INDEX_KEYS, check_write, operation_key
from neve.domain.cursors import make_cursor, read_cursor
from neve.ports import (
    INDEX_PROJECTION,
    Check,
    Conflict,
    Delete,
    Expect,
    Expectation,
    Index,
    Item,
    Key,
    Page,
    Put,
    Version,
    WriteOp,
)

SECONDARY = (Index.RANK, Index.DUE, Index.RECENT)
_LAST = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class Written:
    """One row of one transaction, as a stream tells it. Nobody may change ``old`` and ``new``."""

    seq: int
    transaction: int
    at_s: float
    by: str
    key: Key
    old: Item | None
    new: Item | None


class Place(NamedTuple):
    """Where a row stands in a partition of an index."""

    sort: str
    pk: str
    sk: str


class Ordered:
    """The rows of an index by partition, in the order of their sort keys. The order of code points is that of UTF-8."""

    def __init__(self) -> None:
        self._partitions: dict[str, dict[Place, Item]] = {}
        self._sorted: dict[str, list[Place]] = {}

    def put(self, partition: str, place: Place, item: Item) -> None:
        rows = self._partitions.setdefault(partition, {})
        if place not in rows:
            self._sorted.pop(partition, None)
        rows[place] = item

    def remove(self, partition: str, place: Place) -> None:
        if self._partitions.get(partition, {}).pop(place, None) is not None:
            self._sorted.pop(partition, None)

    def places(self, partition: str) -> list[Place]:
        if partition not in self._sorted:
            self._sorted[partition] = sorted(self._partitions.get(partition, ()))
        return self._sorted[partition]

    def item(self, partition: str, place: Place) -> Item:
        return self._partitions[partition][place]


class MemoryTable:
    """``log``: everything that was ever written, in order. ``lag``: how many seconds an index is behind its row."""

    def __init__(self, now_s: Callable[[], float] = lambda: 0.0, lag: Callable[[], float] = lambda: 0.0) -> None:
        self.rows: dict[Key, Item] = {}
        self.log: list[Written] = []
        self._now_s = now_s
        self._lag = lag
        self._lock = Lock()
        self._transactions = 0
        self._indexes = {index: Ordered() for index in Index}
        self._standing: dict[tuple[Index, Key], tuple[str, Place]] = {}
        self._coming: list[tuple[float, int, Index, Key, Item | None]] = []
        self._known_at: dict[tuple[Index, Key], float] = {}

    # --- ports.Table ----------------------------------------------------------------------------

    def get(self, key: Key) -> Item | None:
        item = self.rows.get(key)
        return None if item is None else copied(item)

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Item]:
        with self._lock:
            return {key: copied(self.rows[key]) for key in keys if key in self.rows}

    def query(  # noqa: PLR0913
        self,
        partition: str,
        *,
        index: Index = Index.MAIN,
        prefix: str | None = None,
        between: tuple[str, str] | None = None,
        reverse: bool = False,
        limit: int,
        cursor: str | None = None,
    ) -> Page:
        if limit < 1:
            raise ValueError(f"limit must be at least 1, is {limit}")
        if prefix is not None and between is not None:
            raise ValueError("a prefix or a range, not both")
        name = query_name(partition, index, prefix, between, reverse)
        behind = Place(*read_cursor(name, cursor)) if cursor is not None else None
        with self._lock:
            self._settle()
            found = self._selected(partition, index, prefix, between)
            if reverse:
                found = [place for place in reversed(found) if behind is None or place < behind]
            elif behind is not None:
                found = found[bisect_right(found, behind) :]
            page = found[:limit]
            items = [copied(self._indexes[index].item(partition, place)) for place in page]
        return Page(items, make_cursor(name, page[-1]) if len(found) > limit else None)

    def write(self, ops: Sequence[WriteOp], by: str = "") -> None:
        check_write(ops)
        with self._lock:
            failed = self.failed(ops)
            if failed:
                raise Conflict(failed)
            self._transactions += 1
            for op in ops:
                if not isinstance(op, Check):
                    self._apply(op, by)

    # --- parts ----------------------------------------------------------------------------------

    def failed(self, ops: Sequence[WriteOp]) -> list[int]:
        """The positions whose expectation does not hold now."""
        return [n for n, op in enumerate(ops) if not _holds(op.expect, self.rows.get(operation_key(op)))]

    def _apply(self, op: Put | Delete, by: str) -> None:
        key = operation_key(op)
        old = self.rows.get(key)
        new = copied(op.item) | {"version": _next_version(op.expect)} if isinstance(op, Put) else None
        if old is None and new is None:
            return
        if new is None:
            del self.rows[key]
        else:
            self.rows[key] = new
        self.log.append(Written(len(self.log) + 1, self._transactions, self._now_s(), by, key, old, new))
        main, place = self._indexes[Index.MAIN], Place(key.sk, key.pk, key.sk)
        if new is None:
            main.remove(key.pk, place)
        else:
            main.put(key.pk, place, new)
        for index in SECONDARY:
            self._announce(index, key, old, new)

    def _announce(self, index: Index, key: Key, old: Item | None, new: Item | None) -> None:
        shown = _projected(index, new)
        if shown is None and _projected(index, old) is None:
            return
        known = (index, key)
        at = max(self._now_s() + self._lag(), self._known_at.get(known, 0.0))
        self._known_at[known] = at
        heappush(self._coming, (at, len(self.log), index, key, shown))

    def _settle(self) -> None:
        """What the indexes know by now."""
        now = self._now_s()
        while self._coming and self._coming[0][0] <= now:
            _, _, index, key, shown = heappop(self._coming)
            stood = self._standing.pop((index, key), None)
            if stood is not None:
                self._indexes[index].remove(*stood)
            if shown is not None:
                partition, sort = INDEX_KEYS[index]
                place = Place(shown[sort], key.pk, key.sk)
                self._indexes[index].put(shown[partition], place, shown)
                self._standing[index, key] = (shown[partition], place)

    def _selected(
        self, partition: str, index: Index, prefix: str | None, between: tuple[str, str] | None
    ) -> list[Place]:
        places = self._indexes[index].places(partition)
        if prefix is not None:
            start = bisect_left(places, (prefix,))
            found = start
            while found < len(places) and places[found].sort.startswith(prefix):
                found += 1
            return places[start:found]
        if between is not None:
            low, high = between
            return places[bisect_left(places, (low,)) : bisect_right(places, (high, _LAST, _LAST + _LAST))]
        return places


def _holds(expect: Expectation, row: Item | None) -> bool:
    if isinstance(expect, Version):
        return row is not None and row["version"] == expect.n
    return expect is Expect.ANY or row is None


def _next_version(expect: Expectation) -> int:
    if isinstance(expect, Version):
        return expect.n + 1
    return 1 if expect is Expect.ABSENT else 0


def _projected(index: Index, item: Item | None) -> Item | None:
    """What the index shows of a row; None for one that it does not hold."""
    partition, sort = INDEX_KEYS[index]
    if item is None or partition not in item or sort not in item:
        return None
    if index not in INDEX_PROJECTION:
        return item
    names = INDEX_PROJECTION[index] | {"pk", "sk", partition, sort}
    return {name: value for name, value in item.items() if name in names}


def copied(value: Any) -> Any:
    """Whoever changes the copy changes nothing else."""
    if isinstance(value, dict):
        return {name: copied(part) if isinstance(part, (dict, list)) else part for name, part in value.items()}
    if isinstance(value, list):
        return [copied(part) if isinstance(part, (dict, list)) else part for part in value]
    return value
