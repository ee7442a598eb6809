"""E9 GET: a user's memories in the order they were made, as one generation sees them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from heapq import merge
from itertools import islice
from operator import itemgetter

from neve.domain.cursors import InvalidCursor, make_cursor, number_in, read_cursor
from neve.domain.errors import not_found
from neve.domain.memories.copies import made_in
from neve.domain.memories.visibility import born, in_force, status_at, visible
from neve.domain.metadata import has_all
from neve.domain.records.memories import Memory, Status
from neve.domain.records.users import UserHead
from neve.ports.table import Item, Key, key_of
from neve.scope import UserScope
from neve.store import rows
from neve.store.keys import is_memory_key, memory_place, own_memory_at
from neve.store.partitions import all_rows

LISTED = (Status.ACTIVE, Status.RESOLVED, Status.INBOX)
"""Statuses listed without a filter. Superseded and archived rows are listed when asked for, and always readable by
id."""
MAX_SCANNED = 2_000
"""Rows read by one call at most: a page may be short, its cursor goes on."""
READ_BATCH_SIZE = 100
READINGS = 8
"""*Chosen*: how often a first page is read while replacements move ``gen`` under it. The last one stands as it was
read, like a later page, whose cursor pins its generation."""


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """The filters of a caller. ``after`` (inclusive) and ``before`` (exclusive) bound ``observed_at``, in stored form.
    ``of_sessions``: made of these conversations and of no others, whatever its status. ``as_of``: in force then,
    whatever its status is now. ``about``: said by any of these participants."""

    kind: str | None = None
    tier: str | None = None
    category: str | None = None
    status: str | None = None
    scope: str | None = None
    session_id: str | None = None
    group: str | None = None
    tags: tuple[str, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()
    never_recall: bool | None = None
    written_by: str | None = None
    after: str | None = None
    before: str | None = None
    of_sessions: tuple[str, ...] = ()
    as_of: str | None = None
    about: tuple[str, ...] = ()

    def admits(self, memory: Memory, status: Status) -> bool:
        anything = self.of_sessions or self.as_of
        return (
            (status == self.status if self.status else anything or status in LISTED)
            and self.kind in (None, memory.kind)
            and self.tier in (None, memory.tier)
            and self.category in (None, memory.category)
            and self.scope in (None, memory.scope)
            and self.session_id in (None, memory.session_id)
            and self.group in (None, memory.group)
            and set(self.tags) <= set(memory.tags)
            and has_all(memory.metadata, dict(self.metadata))
            and self.never_recall in (None, memory.never_recall)
            and self.written_by in (None, memory.written_by)
            and (self.after is None or memory.observed_at >= self.after)
            and (self.before is None or memory.observed_at < self.before)
            and (not self.about or not set(self.about).isdisjoint(memory.about))
            and (not self.of_sessions or set() < made_in(memory) <= set(self.of_sessions))
        )


def list_memories(
    scope: UserScope, where: MemoryFilter, limit: int, cursor: str | None
) -> tuple[list[Memory], str | None]:
    """List memories, the oldest first, with the cursor of the next page. The cursor pins the generation of the first
    page, so that a replacement that happens between two pages neither repeats nor loses rows. Raises InvalidCursor for
    a cursor of another list: of another user, or with other filters."""
    pinned, after = _read_cursor(_listed(scope, where), cursor) if cursor else (None, None)
    for _ in range(READINGS):
        head = _head(scope)
        if rows.hidden(head):
            return [], None
        gen = pinned or head.gen
        page = _page(scope, where, limit, after, replace(head, gen=gen))
        if pinned or _head(scope).gen == gen:
            break
    return page


def get_memory(scope: UserScope, memory_id: str) -> Memory:
    """Read one memory, of any status. Raises memory_not_found."""
    keys = scope.keys
    found = scope.ports.table.get_many([keys.head, keys.memory(memory_id)])
    item, head = found.get(keys.memory(memory_id)), rows.read_head(found.get(keys.head))
    if item is None or not born(item["born_gen"], head.gen) or rows.hidden(head):
        raise not_found("memory", memory_id)
    return as_seen(item, head.gen)


def as_seen(item: Item, gen: int) -> Memory:
    """Give the row with the status that generation ``gen`` sees."""
    memory = rows.read_memory(item)
    seen = status_at(memory, gen)
    if seen is memory.status:
        return memory
    return rows.read_memory(item | {"status": seen})


def _head(scope: UserScope) -> UserHead:
    return rows.read_head(scope.ports.table.get(scope.keys.head))


def _page(
    scope: UserScope, where: MemoryFilter, limit: int, after: str | None, head: UserHead
) -> tuple[list[Memory], str | None]:
    """Read one page and its cursor. ``after``: behind which place."""
    listed_rows: list[Memory] = []
    last, gen = None, head.gen
    for scanned, (place, item) in enumerate(_items(scope, after, head.foreign_ids), start=1):
        if len(listed_rows) == limit or scanned > MAX_SCANNED:
            return listed_rows, make_cursor(_listed(scope, where), [str(gen), own_memory_at(str(last))])
        memory, last = as_seen(item, gen), place
        if born(memory.born_gen, gen) and where.admits(memory, memory.status) and _in_view(memory, where, gen):
            listed_rows.append(memory)
    return listed_rows, None


def _in_view(memory: Memory, where: MemoryFilter, gen: int) -> bool:
    """Say whether a row is in the list: a replaced one is not, unless such rows were asked for, or those of a time."""
    if where.as_of is not None:
        return in_force(memory, gen, where.as_of)
    return (
        visible(memory.born_gen, memory.died_gen, gen) or bool(where.of_sessions) or where.status == Status.SUPERSEDED
    )


def _items(scope: UserScope, after: str | None, foreign: bool) -> Iterator[tuple[str, Item]]:
    """Give the rows behind a place, in the order of time, each with its place. A user without foreign ids costs no
    query for them."""
    table, keys = scope.ports.table, scope.keys
    own = (
        (memory_place(key_of(item)), item) for item in all_rows(table, keys.partition, between=keys.own_behind(after))
    )
    return merge(own, _foreign(scope, after), key=itemgetter(0)) if foreign else own


def _foreign(scope: UserScope, after: str | None) -> Iterator[tuple[str, Item]]:
    table, keys = scope.ports.table, scope.keys
    places = all_rows(table, keys.partition, between=keys.foreign_behind(after))
    while some := list(islice(places, READ_BATCH_SIZE)):
        found = table.get_many([keys.memory(item["id"]) for item in some])
        for item in some:
            if (row := found.get(keys.memory(item["id"]))) is not None:
                yield memory_place(key_of(item)), row


def _listed(scope: UserScope, where: MemoryFilter) -> bytes:
    """Give what a cursor is bound to."""
    return json.dumps([scope.keys.partition, *astuple(where)]).encode()


def _read_cursor(listed: bytes, cursor: str) -> tuple[int, str]:
    """Read the pinned generation and the place of the page's end. Raises InvalidCursor."""
    gen, after = read_cursor(listed, cursor, 2)
    if not is_memory_key(after):
        raise InvalidCursor("not a cursor of this list")
    return number_in(gen), memory_place(Key("", after))
