"""A memory whose search has to be made anew."""

from __future__ import annotations

from dataclasses import replace

from neve.domain.records.memories import EmbeddingState, Memory


def revised(memory: Memory, now: str | None) -> Memory:
    """Move a memory to its next rev, which the search index has neither with its words nor with its vectors. ``now``:
    in stored form; None for a row that is not searched."""
    return replace(memory, rev=memory.rev + 1, rev_at=now, words_at=None, embedding_state=EmbeddingState.PENDING)
