"""The Table port as a dict: what a Table does, in the fewest words. Indexes follow after a lag."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from threading import Lock
from typing import Any, NamedTuple, cast

from neve.adapters.table_cursor import query_name
from neve.adapters.table_rules import INDEX_KEYS, check_each, check_write
from neve.domain.cursors import make_cursor, read_cursor
from neve.ports.errors import Conflict
from neve.ports.table import (
    INDEX_PROJECTION,
    Check,
    Delete,
    Index,
    Item,
    ItemPage,
    Key,
    Put,
    WriteOp,
    holds,
    key_written,
    refused,
    version_after,
)

SECONDARY = (Index.RANK, Index.DUE, Index.RECENT)
_LAST = "\U0010ffff"
_NESTED = frozenset((dict, list))
_SHOWN = {index: names | {"pk", "sk", *INDEX_KEYS[index]} for index, names in INDEX_PROJECTION.items()}


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


class Row(dict[str, Any]):
    """An item as it is stored: nobody changes it, and whoever reads it may be given it as it is. ``parts``: what
    indexes show of it, by name. ``loaded``: itself with the values that it has as JSON text. ``record``: what somebody
    decoded it to, which is the same for all who do."""

    __slots__ = ("loaded", "parts", "record")

    def __init__(self, item: Item, version: int) -> None:
        super().__init__(item)
        super().__setitem__("version", version)
        for name, value in item.items():
            if type(value) in _NESTED:
                super().__setitem__(name, frozen(value))
        self.parts: dict[Index, Row] = {}
        self.loaded: Row | None = None
        self.record: Any = None

    def shown(self, index: Index) -> Row:
        """What a query of the index returns of it."""
        names = _SHOWN.get(index)
        if names is None:
            return self
        part = self.parts.get(index)
        if part is None:
            part = self.parts[index] = Row.of({name: self[name] for name in self if name in names})
        return part

    @classmethod
    def of(cls, attributes: Item) -> Row:
        """A row of what belongs to nobody already."""
        row = cls.__new__(cls)
        dict.update(row, attributes)
        row.parts, row.loaded, row.record = {}, None, None
        return row

    def copied(self) -> Item:
        """Whoever changes the copy changes nothing else."""
        return {name: _copied(value) for name, value in self.items()}


class _List(list[Any]):
    """A list in a row."""

    __slots__ = ()


class _Dict(dict[str, Any]):
    """A map in a row."""

    __slots__ = ()


def _refused(*_: Any, **__: Any) -> Any:
    raise TypeError("a row that was read belongs to everybody who reads it")


for _changing in ("__setitem__", "__delitem__", "__ior__", "clear", "pop", "popitem", "setdefault", "update"):
    for _kind in (Row, _Dict):
        setattr(_kind, _changing, _refused)
for _changing in (
    *("__setitem__", "__delitem__", "__iadd__", "__imul__", "append", "clear", "extend", "insert", "pop", "remove"),
    *("reverse", "sort"),
):
    setattr(_List, _changing, _refused)


def frozen(value: Any) -> Any:
    """What is frozen already is taken as it is: a row that is rewritten shares most with the one before it."""
    kind = type(value)
    if kind is list:
        return _List([frozen(part) if type(part) in _NESTED else part for part in value])
    if kind is dict:
        return _Dict({name: frozen(part) if type(part) in _NESTED else part for name, part in value.items()})
    return value


class Place(NamedTuple):
    """Where a row stands in a partition of an index."""

    sort: str
    pk: str
    sk: str


class Ordered:
    """The rows of an index by partition, in the order of their sort keys. The order of code points is that of UTF-8."""

    def __init__(self) -> None:
        self._partitions: dict[str, dict[Place, Row]] = {}
        self._sorted: dict[str, list[Place]] = {}

    def put(self, partition: str, place: Place, item: Row) -> None:
        rows = self._partitions.setdefault(partition, {})
        if place not in rows:
            self._sorted.pop(partition, None)
        rows[place] = item

    def remove(self, partition: str, place: Place) -> None:
        if self._partitions.get(partition, {}).pop(place, None) is not None:
            self._sorted.pop(partition, None)

    def places(self, partition: str) -> list[Place]:
        places = self._sorted.get(partition)
        if places is None:
            places = self._sorted[partition] = sorted(self._partitions.get(partition, ()))
        return places

    def rows(self, partition: str) -> dict[Place, Row]:
        return self._partitions.get(partition, {})


class _Secondary(Ordered):
    """``partition`` and ``sort``: the attributes of its keys. ``standing``: where it has each row. ``known_at``: when
    the last write of a row comes to it."""

    def __init__(self, partition: str, sort: str) -> None:
        super().__init__()
        self.partition = partition
        self.sort = sort
        self.standing: dict[Key, tuple[str, Place]] = {}
        self.known_at: dict[Key, float] = {}


class MemoryTable:
    """``log``: everything that was ever written, in order. ``lag``: how many seconds an index is behind its row.
    ``copies`` False: reads give rows as they are stored; whoever writes into one fails."""

    def __init__(
        self, now_s: Callable[[], float] = lambda: 0.0, lag: Callable[[], float] = lambda: 0.0, *, copies: bool = True
    ) -> None:
        self.rows: dict[Key, Row] = {}
        self.log: list[Written] = []
        self._now_s = now_s
        self._lag = lag
        self._lock = Lock()
        self._transactions = 0
        self._copies = copies
        self._main = Ordered()
        self._secondary = [_Secondary(*INDEX_KEYS[index]) for index in SECONDARY]
        self._ordered = dict(zip((Index.MAIN, *SECONDARY), (self._main, *self._secondary), strict=True))
        self._before: dict[Key, tuple[float, Row | None]] = {}
        self._coming: list[tuple[float, int, int, Key, Row | None]] = []

    # --- ports.Table ----------------------------------------------------------------------------

    def get(self, key: Key) -> Item | None:
        row = self.rows.get(key)
        return row.copied() if row is not None and self._copies else row

    def get_many(self, keys: Sequence[Key], *, eventual: bool = False) -> dict[Key, Item]:
        with self._lock:
            rows = self.rows
            found = {key: row for key in keys if (row := self._older(key) if eventual else rows.get(key)) is not None}
        return {key: row.copied() for key, row in found.items()} if self._copies else cast("dict[Key, Item]", found)

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
    ) -> ItemPage:
        if limit < 1:
            raise ValueError(f"limit must be at least 1, is {limit}")
        if prefix is not None and between is not None:
            raise ValueError("a prefix or a range, not both")
        ordered = self._ordered[index]
        with self._lock:
            self._settle()
            places = ordered.places(partition)
        if not places and cursor is None:
            return ItemPage([], None)
        name = partial(query_name, partition, index, prefix, between, reverse)
        behind = Place(*read_cursor(name(), cursor, 3)) if cursor is not None else None
        with self._lock:
            found = _selected(ordered.places(partition), prefix, between)
            if reverse:
                found = [place for place in reversed(found) if behind is None or place < behind]
            elif behind is not None:
                found = found[bisect_right(found, behind) :]
            page = found[:limit]
            rows = ordered.rows(partition)
            shown = [rows[place].shown(index) for place in page]
        items = [row.copied() for row in shown] if self._copies else list[Item](shown)
        return ItemPage(items, make_cursor(name(), page[-1]) if len(found) > limit else None)

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

    def write_each(self, puts: Sequence[Put]) -> list[int]:
        check_each(puts)
        return refused(self.write, puts)

    # --- parts ----------------------------------------------------------------------------------

    def _older(self, key: Key) -> Row | None:
        """What an eventual read may give: the row as it was before its last write, for as long as an index may lag."""
        at, before = self._before.get(key, (0.0, None))
        return before if key in self._before and self._now_s() < at + self._lag() else self.rows.get(key)

    def failed(self, ops: Sequence[WriteOp]) -> list[int]:
        """The positions whose expectation does not hold now."""
        stored = [self.rows.get(key_written(op)) for op in ops]
        versions = [row["version"] if row is not None else None for row in stored]
        return [n for n, op in enumerate(ops) if not holds(op.expect, versions[n])]

    def _apply(self, op: Put | Delete, by: str) -> None:
        key = key_written(op)
        old = self.rows.get(key)
        new = Row(op.item, version_after(op)) if type(op) is Put else None
        if old is None and new is None:
            return
        self.log.append(Written(len(self.log) + 1, self._transactions, self._now_s(), by, key, old, new))
        self._before[key] = self._now_s(), old
        place = Place(key.sk, key.pk, key.sk)
        if new is None:
            del self.rows[key]
            self._main.remove(key.pk, place)
        else:
            self.rows[key] = new
            self._main.put(key.pk, place, new)
        for n, index in enumerate(self._secondary):
            shown = new if new is not None and index.partition in new and index.sort in new else None
            if shown is not None or (old is not None and index.partition in old and index.sort in old):
                at = max(self._now_s() + self._lag(), index.known_at.get(key, 0.0))
                index.known_at[key] = at
                heappush(self._coming, (at, len(self.log), n, key, shown))

    def _settle(self) -> None:
        """What the indexes know by now."""
        now = self._now_s()
        while self._coming and self._coming[0][0] <= now:
            _, _, n, key, shown = heappop(self._coming)
            index = self._secondary[n]
            stood = index.standing.pop(key, None)
            if stood is not None:
                index.remove(*stood)
            if shown is not None:
                place = Place(shown[index.sort], key.pk, key.sk)
                index.put(shown[index.partition], place, shown)
                index.standing[key] = (shown[index.partition], place)


def _selected(places: list[Place], prefix: str | None, between: tuple[str, str] | None) -> list[Place]:
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


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(part) for name, part in value.items()}
    return [_copied(part) for part in value] if isinstance(value, list) else value
