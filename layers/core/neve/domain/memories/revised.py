"""A memory whose search has to be made anew."""

from __future__ import annotations

from dataclasses import replace

from neve.domain.records.memories import EmbeddingState, Memory
from neve.domain.validity import Valid, holds_at


def revised(memory: Memory, now: str | None) -> Memory:
    """Move a memory to its next rev, which the search index has neither with its words nor with its vectors. ``now``:
    in stored form; None for a row that is not searched."""
    return replace(memory, rev=memory.rev + 1, rev_at=now, words_at=None, embedding_state=EmbeddingState.PENDING)


def with_times_of(known: Memory, said: Valid, at: str, now: str) -> Memory:
    """Give a known memory the times of what states it again at a time, where that names any, or where the known one
    does not hold then (docs/rules/memories.md#validity). What was said before it changes nothing."""
    times = (said.valid_from, said.valid_until)
    if at < known.observed_at or (times == (None, None) and holds_at(known, at)):
        return known
    if times == (known.valid_from, known.valid_until):
        return known
    return revised(replace(known, valid_from=said.valid_from, valid_until=said.valid_until), now)
