"""What pure functions of the product have answered, in this run or in another one: the same rows are decoded by every
process that reads them, and clients of all runs say much the same. What they answer is nobody's to change, so that
no process learns anything from another one."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import EnumType
from functools import lru_cache
from typing import Any

from neve.domain.indexing import passage
from neve.domain.privacy import screen
from neve.domain.records import memories, sessions
from neve.domain.tenants.policy import Action, PiiClass
from neve.ports import queue, table
from neve.store import rows
from tests.simulation.engines.memory_table import Row, frozen
from tests.simulation.machine.swapped import swapped

TEXTS = 20_000
"""Some 10 MB. The clients of a thousand runs say fewer, but for those of tools."""
RECORDS = ("_head", "_session", "_marker", "_epoch", "_memory", "_event", "_job", "_summary", "_retraction")
NEW_OBJECTS = 30_000
"""As many as some ten runs leave behind. What a run leaves refers to itself, so that only a collection frees it."""


class _Decoder:
    """A ``TypeAdapter`` that decodes a stored row once."""

    def __init__(self, adapter: Any) -> None:
        self._adapter = adapter
        self._decode = adapter.validator.validate_python
        self.dump_python = adapter.serializer.to_python

    def validate_python(self, item: Any) -> Any:
        if type(item) is not Row:
            return self._decode(item)
        known = item.record
        if known is None or known[0] is not self:
            known = item.record = self, _frozen_record(self._decode(item))
        return known[1]


MUTABLE = ("content", "event_data", "result", "state")
"""Fields of a record that hold lists and maps."""


def _frozen_record(record: Any) -> Any:
    """A record that nobody changes in place: it is everybody's who reads the row."""
    for name in MUTABLE:
        value = getattr(record, name, None)
        if type(value) in (list, dict):
            object.__setattr__(record, name, frozen(value))
    return record


_load = rows._loaded


def _loaded(item: Any, *names: str) -> Any:
    """A row's JSON is read once."""
    if type(item) is not Row:
        return _load(item, *names)
    if item.loaded is None:
        read = _load(item, *names)
        item.loaded = item if read is item else Row.of(read)
    return item.loaded


_screen_parts = screen.screen_parts


@lru_cache(maxsize=TEXTS)
def _screened(texts: tuple[str, ...], classes: tuple[tuple[PiiClass, Action], ...]) -> tuple[list[str], Counter[str]]:
    return _screen_parts(texts, dict(classes))


def _parts_screened(texts: Sequence[str], classes: Mapping[PiiClass, Action]) -> tuple[list[str], Counter[str]]:
    parts, found = _screened(tuple(texts), tuple(classes.items()))
    return list(parts), Counter(found)


def _find_members_at_once(*kinds: EnumType) -> None:
    """As from Python 3.12 on: before, each use of a member calls a property of its class, a hundredth of a run."""
    for kind in kinds:
        for name in kind.__members__:
            type.__setattr__(kind, name, kind[name])


_find_members_at_once(
    *(
        kind
        for module in (memories, sessions, passage, queue, table)
        for kind in vars(module).values()
        if isinstance(kind, EnumType)
    )
)
_SWAPS = (
    *((rows, name, _Decoder(getattr(rows, name))) for name in RECORDS),
    (rows, "_loaded", _loaded),
    (screen, "screen_parts", _parts_screened),
)


@contextmanager
def remembering() -> Iterator[None]:
    with swapped(*_SWAPS):
        yield


@contextmanager
def seldom_collected() -> Iterator[None]:
    """For many runs: what was there before is not looked at again and again for what can be freed, nor is a run that is
    under way."""
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def collect() -> None:
    """Between two runs, when there is enough to look at."""
    if not gc.isenabled() and gc.get_count()[0] > NEW_OBJECTS:
        gc.collect(1)
