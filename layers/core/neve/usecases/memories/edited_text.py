"""What is kept beside a memory by what it says, and goes when it says something else."""

from __future__ import annotations

from neve.domain.memories.passages import texts_of_memory
from neve.domain.records.memories import Memory
from neve.ports.table import Delete, WriteOp
from neve.scope import UserScope
from neve.store.vectors import erase_vectors


def leave_text(scope: UserScope, memory: Memory, before: Memory) -> list[WriteOp]:
    """What is to be written with ``memory``, of which ``before`` said something else. The vectors of what it no longer
    says go at once, before that: they are kept by content, and what is still needed of them is made again. Raises
    StoreUnavailable."""
    erase_vectors(scope.ports.table, scope.keys, texts_of_memory(before) - texts_of_memory(memory))
    return [Delete(scope.keys.tokens_of(memory.id))]
