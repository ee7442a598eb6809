"""Finds what was made of a memory and still says what it said: the reflections that condensed it, those that condensed
them, and its copies (docs/rules/memories.md#delete)."""

from __future__ import annotations

from neve.domain.ids import is_own_memory_id, ulid_time
from neve.domain.records.memories import Kind, Memory
from neve.domain.times import parse
from neve.scope import UserScope
from neve.store import rows
from neve.store.memories import memories_of
from neve.store.partitions import all_rows


def derived_memories(scope: UserScope, memory: Memory) -> list[Memory]:
    """Find what was made of a memory, in the order in which it was made. One replacement writes its rows between the
    first of them, which the source names, and the time at which the source was superseded; only those are read. Raises
    StoreUnavailable."""
    found: dict[str, Memory] = {}
    ahead = [memory]
    while ahead:
        source = ahead.pop()
        made = [row for row in _replaced_by(scope, source) if row.id not in found and _says_it(row, source)]
        found |= {row.id: row for row in made}
        ahead += made
    return sorted(found.values(), key=lambda row: row.id)


def _replaced_by(scope: UserScope, source: Memory) -> list[Memory]:
    successor, at = source.superseded_by, source.superseded_at
    if successor is None or at is None:
        return []
    if not is_own_memory_id(successor):
        return memories_of(scope.ports.table, scope.keys, [successor])
    between = written_between(scope, successor, at)
    read = map(rows.read_memory, all_rows(scope.ports.table, scope.keys.partition, between=between))
    return [row for row in read if source.id in row.supersedes]


def written_between(scope: UserScope, successor: str, at: str) -> tuple[str, str]:
    """Give the bounds of the sort keys of what one replacement wrote. ``successor``: the first of them, an id of our
    own. ``at``: when what it replaced was superseded."""
    return scope.keys.memories_from(successor, ulid_time(parse(at)))


def _says_it(row: Memory, source: Memory) -> bool:
    """Say whether a row says what its source said. A newer statement that took its place does not."""
    return row.kind is Kind.REFLECTION or row.fingerprint == source.fingerprint
