"""The place of a fact whose text or status changes by itself: no two facts that hold say the same
(docs/rules/facts.md#place)."""

from __future__ import annotations

from neve.domain.errors import NeveError, invalid
from neve.domain.memories.statements import statements
from neve.domain.memories.visibility import being_replaced
from neve.domain.records.memories import Kind, Memory, Status
from neve.domain.same.meaning import place_of
from neve.ports.table import Delete, Item, Key, Version, WriteOp
from neve.scope import UserScope
from neve.store import rows
from neve.store.keys import UserKeys

HOLDING = (Status.ACTIVE, Status.INBOX)
"""Statuses of a fact that holds its place: what is said again is counted there."""


def one_statement(memory: Memory) -> None:
    """Refuse a fact with two statements. Raises 422."""
    if memory.kind is Kind.FACT and len(statements(memory.text)) > 1:
        raise invalid("text", "holds more than one statement; a fact is one")


def place_key(keys: UserKeys, text: str) -> Key:
    """Give the key of the place of a statement: the same for whatever says the same."""
    return keys.place(place_of(text))


def holds(memory: Memory, place: str) -> bool:
    """Say whether a memory holds a place. A row that left its place (superseded, resolved, archived, edited) says
    nothing any more, whatever the place's row names."""
    return memory.status in HOLDING and place_of(memory.text) == place and not being_replaced(memory)


def holder_of(scope: UserScope, text: str) -> tuple[Item | None, Memory | None]:
    """Read the row of the place of a statement, and the fact that holds it. Two reads."""
    table, keys = scope.ports.table, scope.keys
    place = table.get(place_key(keys, text))
    item = table.get(keys.memory(str(place["memory_id"]))) if place else None
    memory = rows.read_memory(item) if item else None
    return place, memory if memory and holds(memory, place_of(text)) else None


def take_place(scope: UserScope, memory: Memory, before: Memory) -> list[WriteOp]:
    """Give what is to be written with ``memory``, so that it holds its place and has left that of its words before.
    ``before``: the row as it was. Raises conflict when another fact says the same."""
    if not memory.has_place:
        return []
    moved = place_of(before.text) != place_of(memory.text)
    left = leave_place(scope, before) if moved else []
    if memory.status not in HOLDING or (before.status in HOLDING and not moved):
        return left
    place, holder = holder_of(scope, memory.text)
    if holder is not None and holder.id != memory.id:
        raise NeveError("conflict", f"Memory '{holder.id}' is the same statement.")
    return [*left, rows.put_place(place_key(scope.keys, memory.text), memory.id, place)]


def leave_place(scope: UserScope, memory: Memory) -> list[WriteOp]:
    """Give what is to be written with the deletion of ``memory``, or with its edit: a place is named by a hash of what
    was said there."""
    if memory.kind is not Kind.FACT:
        return []
    key = place_key(scope.keys, memory.text)
    place = scope.ports.table.get(key)
    if place is None or place["memory_id"] != memory.id:
        return []
    return [Delete(key, Version(place["version"]))]
