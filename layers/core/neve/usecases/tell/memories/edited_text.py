"""Removes what is kept beside a memory by its words, when it gets others."""

from __future__ import annotations

from neve.domain.memories.passages import texts_of_memory
from neve.domain.records.memories import Memory
from neve.scope import UserScope
from neve.store.vectors import erase_vectors


def leave_text(scope: UserScope, memory: Memory, before: Memory) -> None:
    """Erase the vectors of what ``before`` said and ``memory`` does not say, before that is written: they are kept by
    content, and what is still needed of them is made again. Raises StoreUnavailable."""
    erase_vectors(scope.ports.table, scope.keys, texts_of_memory(before) - texts_of_memory(memory))
