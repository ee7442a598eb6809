"""Finds the index behind the alias, and the model whose vectors it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from neve.adapters.opensearch.calls import STORE, Calls, IndexMissing
from neve.adapters.opensearch.mapping import (
    MAPPING_VERSION,
    NEVER,
    REFRESHED_EVERY,
    index_body,
    index_name,
    write_alias,
)
from neve.caching import Caches, CacheSpec
from neve.ports.errors import StoreUnavailable
from neve.ports.search import IndexModel

ALIAS_TTL_S: Final = 30.0
"""The seconds for which a process goes on with the index it saw behind the alias. After a switch every process has seen
the new one when this is over."""


@dataclass(frozen=True, slots=True)
class IndexPlace:
    """An index by its own name, so that vectors of one model are never compared with another's whatever becomes of the
    alias meanwhile."""

    index: str
    model: IndexModel

    @property
    def writes(self) -> str:
        return write_alias(self.index)


ALIAS_CACHE: CacheSpec[str, IndexPlace] = CacheSpec("places", 4, timedelta(seconds=ALIAS_TTL_S))
"""The places that were looked up, by alias."""


class Places:
    """The index behind an alias, looked up again when it is gone. ``alias`` may be an index's own name too. ``model``:
    what an index is made for where there is none. ``caches``: by the wall clock, because a function's process may stand
    still between two calls."""

    def __init__(self, calls: Calls, alias: str, model: IndexModel, caches: Caches) -> None:
        self._calls = calls
        self._alias = alias
        self._model = model
        self._seen = caches.of(ALIAS_CACHE)

    def model(self) -> IndexModel:
        try:
            return self.current().model
        except IndexMissing:
            return self._model

    def current(self) -> IndexPlace:
        """Find the place to search. Raises IndexMissing, and StoreUnavailable for an index that this version of the
        code cannot use."""
        return self._seen.read(self._alias, lambda: find_place(self._calls, self._alias))

    def writable(self) -> IndexPlace:
        """Find the place to write to, and make the index where there is none yet."""
        try:
            return self.current()
        except IndexMissing:
            prepare_index(self._calls, self._alias, self._model)
            return self.current()

    def forget(self) -> None:
        self._seen.drop(self._alias)


def find_place(calls: Calls, name: str) -> IndexPlace:
    """Find the place of an index, or of the one behind an alias."""
    found = calls.mappings(name)
    if len(found) != 1:
        raise StoreUnavailable(STORE, f"{len(found)} indexes behind {name}")
    [(index, mapping)] = found.items()
    about = mapping.get("_meta", {})
    if about.get("mapping") != MAPPING_VERSION:
        wanted = f"mapping {about.get('mapping')}, this code needs {MAPPING_VERSION}: reindex"
        raise StoreUnavailable(STORE, f"{index} has {wanted}")
    return IndexPlace(index, IndexModel(about["model"], about["dimensions"]))


def prepare_index(calls: Calls, alias: str, model: IndexModel) -> None:
    """Make an empty index behind the alias, unless there is one. Two callers at once make one."""
    try:
        find_place(calls, alias)
    except IndexMissing:
        create_index(calls, alias, model, live=True)


def create_index(calls: Calls, alias: str, model: IndexModel, *, live: bool) -> str:
    """Make the alias's index for a model when it is not there, and give its name. ``live``: it comes into being behind
    the alias. Otherwise searches see nothing of it until it is switched to: so many passages are loaded in a third of
    the time."""
    index = index_name(alias, model)
    names = [write_alias(index), alias] if live else [write_alias(index)]
    body = index_body(model, refreshed_every=REFRESHED_EVERY if live else NEVER)
    calls.create(index, body | {"aliases": {name: {} for name in names}})
    return index


def empty_index(calls: Calls, alias: str, model: IndexModel) -> str:
    """Make a new index for a model, or take the one behind the alias if that is it, and give its name. One that was
    left over is removed first: what was erased since is still in it."""
    index = index_name(alias, model)
    if index not in _indexes_of(calls, alias):
        calls.delete(index)
        create_index(calls, alias, model, live=False)
    return index


def left_over(calls: Calls, alias: str) -> list[str]:
    """List the indexes that were made for the alias and are not behind it."""
    return sorted(calls.mappings(f"{alias}-v*").keys() - _indexes_of(calls, alias).keys())


def switch_alias(calls: Calls, alias: str, index: str) -> list[str]:
    """Put an index behind the alias in place of what is there now, at once for every reader. The indexes that were
    there; they stay."""
    calls.refresh_every(index, REFRESHED_EVERY)
    calls.refresh(index)
    before = [name for name in _indexes_of(calls, alias) if name != index]
    changes = [{"remove": {"index": name, "alias": alias}} for name in before]
    calls.change_aliases([*changes, {"add": {"index": index, "alias": alias}}])
    return before


def _indexes_of(calls: Calls, alias: str) -> Mapping[str, Any]:
    """Give the mappings of the indexes behind the alias, by name."""
    try:
        return calls.mappings(alias)
    except IndexMissing:
        return {}
