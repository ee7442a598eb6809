"""The ports of the service with a bill: every call is counted in DynamoDB's units, SQS requests or S3 requests, and
takes the virtual time that it would take inside a region."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from local.controls.virtual_time import VirtualClock, VirtualTasks, spend
from local.engines import Engines
from local.functions import current_function
from neve.adapters.dynamodb.table import PUTS_AT_ONCE
from neve.adapters.table_rules import INDEX_KEYS, item_size
from neve.caching import Caches
from neve.ports.queue import Message, QueueName
from neve.ports.table import (
    INDEX_PROJECTION,
    Check,
    Delete,
    Expect,
    Index,
    Item,
    ItemPage,
    Key,
    Put,
    Table,
    WriteOp,
    key_of,
    key_written,
)

KB = 1024
ROW_OVERHEAD = 100
"""Bytes that DynamoDB adds to every row, and to every entry of an index, for storage."""
BATCH = 10
"""Messages of one SendMessageBatch."""
WAIT_MS = {"table": 4.0, "write": 10.0, "search": 15.0, "queue": 8.0, "objects": 20.0}
"""How long a function waits for one call, **assumed**: no AWS account was at hand."""


@dataclass
class Bill:
    """Units by function. ``stored``: bytes that the table grew by, indexes included."""

    units: dict[str, Counter[str]] = field(default_factory=dict)
    stored: int = 0

    def add(self, unit: str, by: float = 1) -> None:
        self.units.setdefault(current_function.get(), Counter())[unit] += by  # type: ignore[assignment]

    def clear(self) -> None:
        self.units.clear()
        self.stored = 0


class PricedTable:
    """``ports.table.Table`` by what DynamoDB publishes: 1 read unit for each 4 KB of a row read consistently, and for
    a row that is not there; half of it where the read is eventual, as it is through an index; 1 write unit for each KB
    of the larger of the old row and the new one, twice that in a transaction, checks included; each index entry that
    changes is a plain write of its own, and one whose sort key moves is two."""

    def __init__(self, table: Table, bill: Bill) -> None:
        self._table, self._bill = table, bill

    def get(self, key: Key) -> Item | None:
        spend(WAIT_MS["table"])
        found = self._table.get(key)
        self._bill.add("read unit", _read_units(_size(found)))
        return found

    def get_many(self, keys: Sequence[Key], *, eventual: bool = False) -> dict[Key, Item]:
        spend(WAIT_MS["table"])
        found = self._table.get_many(keys, eventual=eventual)
        units = sum(_read_units(_size(found.get(key))) for key in dict.fromkeys(keys))
        self._bill.add("read unit", units / 2 if eventual else units)
        return found

    def query(self, partition: str, *, index: Index = Index.MAIN, **given: Any) -> ItemPage:
        spend(WAIT_MS["table"])
        page = self._table.query(partition, index=index, **given)
        units = _read_units(sum(map(_size, page.items)))
        self._bill.add("read unit", units if index is Index.MAIN else units / 2)
        return page

    def write(self, ops: Sequence[WriteOp]) -> None:
        spend(WAIT_MS["write"])
        plain = len(ops) == 1 and (isinstance(ops[0], Put) or (isinstance(ops[0], Delete) and _any(ops[0])))
        for op in ops:
            old, new = self._table.get(key_written(op)), op.item if isinstance(op, Put) else None
            factor = 1 if plain else 2
            self._bill.add("write unit", factor * _write_units(max(_size(old), _size(new))))
            if not isinstance(op, Check):
                self._price_change(old, new)
        self._table.write(ops)

    def write_each(self, puts: Sequence[Put]) -> list[int]:
        """One plain write each, ``PUTS_AT_ONCE`` side by side."""
        spend(WAIT_MS["write"] * -(-len(puts) // PUTS_AT_ONCE))
        for put in puts:
            old = self._table.get(key_of(put.item))
            self._bill.add("write unit", _write_units(max(_size(old), _size(put.item))))
            self._price_change(old, put.item)
        return self._table.write_each(puts)

    def _price_change(self, old: Item | None, new: Item | None) -> None:
        self._bill.stored += _stored(new) - _stored(old)
        for index in (Index.RANK, Index.DUE, Index.RECENT):
            before, after = _entry(index, old), _entry(index, new)
            self._bill.stored += _stored(after) - _stored(before)
            self._bill.add("write unit", _index_units(index, before, after))


def _any(op: Delete) -> bool:
    return op.expect is Expect.ANY


def _size(item: Item | None) -> int:
    return item_size(item) if item else 0


def _stored(item: Item | None) -> int:
    return item_size(item) + ROW_OVERHEAD if item else 0


def _read_units(size: int) -> int:
    return max(1, math.ceil(size / (4 * KB)))


def _write_units(size: int) -> int:
    return max(1, math.ceil(size / KB))


def _entry(index: Index, item: Item | None) -> Item | None:
    """What an index holds of a row."""
    partition, sort = INDEX_KEYS[index]
    if item is None or partition not in item or sort not in item:
        return None
    if index not in INDEX_PROJECTION:
        return item
    projected = INDEX_PROJECTION[index] | {"pk", "sk", partition, sort}
    return {name: value for name, value in item.items() if name in projected}


def _index_units(index: Index, before: Item | None, after: Item | None) -> int:
    """0 for an entry that stays as it is. A row's version is new with every write, so that an index of whole rows
    always changes."""
    if before is None or after is None:
        there = before or after
        return _write_units(_size(there)) if there else 0
    if any(before[name] != after[name] for name in INDEX_KEYS[index]):
        return _write_units(_size(before)) + _write_units(_size(after))
    if index in INDEX_PROJECTION and before == after:
        return 0
    return _write_units(max(_size(before), _size(after)))


class PricedQueue:
    """``ports.queue.Queue``."""

    def __init__(self, queue: Any, bill: Bill, fifo: Mapping[str, bool]) -> None:
        self._queue, self._bill, self._fifo = queue, bill, fifo

    def send(self, queue: QueueName, messages: Sequence[Message]) -> None:
        spend(WAIT_MS["queue"])
        unit = "fifo request" if self._fifo[queue] else "standard request"
        self._bill.add(unit, math.ceil(len(messages) / BATCH))
        self._queue.send(queue, messages)


class Priced:
    """Any other port: its calls are counted as ``units`` say and take their time."""

    def __init__(self, port: Any, bill: Bill, wait_ms: float, units: Mapping[str, str]) -> None:
        self._port, self._bill, self._wait_ms, self._units = port, bill, wait_ms, units

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        return self._counted(found, self._units[name]) if name in self._units else found

    def _counted(self, work: Callable[..., Any], unit: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            spend(self._wait_ms)
            self._bill.add(unit)
            return work(*args, **kwargs)

        return call


SEARCHES = dict.fromkeys(("search_text", "search_vector", "upsert", "trim", "count", "erase"), "search request")
OBJECTS = {"put": "object write", "put_new": "object write", "list": "object write", "get": "object read"}


class PricedPorts:
    """``ports.engines.Ports`` around the embedded engines."""

    def __init__(self, engines: Engines, fifo: Mapping[str, bool]) -> None:
        self.bill = Bill()
        self.clock = VirtualClock(engines.clock)
        self.tasks = VirtualTasks()
        self.ids = engines.ids
        self.counter = engines.counter
        self.caches = Caches(self.clock.now)
        self.observer = engines.observer
        self.observer_languages = engines.observer_languages
        self.embedder = engines.embedder
        self.multi = engines.multi
        self.cross_encoder = engines.cross_encoder
        self.receivers = engines.receivers
        self.table = PricedTable(engines.table, self.bill)
        self.queue = PricedQueue(engines.queue, self.bill, fifo)
        self.search = Priced(engines.search, self.bill, WAIT_MS["search"], SEARCHES)
        self.objects = Priced(engines.objects, self.bill, WAIT_MS["objects"], OBJECTS)
