"""Finds what a memory was made of, for what is left of it once it is deleted (docs/rules/retract.md#erase)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neve.domain.memories.made_of import Sources, joined_sources, left_of_memory
from neve.domain.records.memories import Kind, Memory
from neve.scope import UserScope
from neve.store import rows

READ_BATCH_SIZE = 50
"""Sources of one read: of each the row, or what is left of it."""


def sources_left(scope: UserScope, memory: Memory) -> Sources | None:
    """Give what a memory was made of; for a reflection of several sessions, which has no range of its own, what its
    sources were made of. None where it is not known, which is so of too many sessions; no further source is read then.
    Raises StoreUnavailable."""
    known, seen, ids = left_of_memory(memory), {memory.id}, list(_source_ids(memory))
    while known is not None and ids:
        part = [one for one in dict.fromkeys(ids[:READ_BATCH_SIZE]) if one not in seen]
        seen.update(part)
        ids = ids[READ_BATCH_SIZE:]
        for sources, further in _read(scope, part):
            known = joined_sources((*known, *sources)) if known is not None and sources is not None else None
            ids += further
    return known


def _source_ids(memory: Memory) -> Sequence[str]:
    """Give the ids of the sources that say it: those of an imported one are of another log."""
    if memory.kind is not Kind.REFLECTION or memory.provenance.by == "import" or left_of_memory(memory):
        return ()
    return memory.supersedes


def _read(scope: UserScope, ids: Sequence[str]) -> Iterator[tuple[Sources | None, Sequence[str]]]:
    """Read what each was made of, and the ids of its own sources."""
    keys = scope.keys
    found = scope.ports.table.get_many([key for one in ids for key in (keys.memory(one), keys.deleted_memory(one))])
    for one in ids:
        row, left = found.get(keys.memory(one)), found.get(keys.deleted_memory(one))
        if row is not None:
            memory = rows.read_memory(row)
            yield left_of_memory(memory), _source_ids(memory)
        else:
            yield rows.read_left_sources(left) if left is not None else None, ()
