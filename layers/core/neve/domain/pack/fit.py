"""Which candidates of the pack's global layer are kept (docs/rules/pack.md#global)."""

from __future__ import annotations

from collections.abc import Sequence


def candidate_limit(budget: int) -> int:
    """How many candidates a build reads at most: ``max(50, ceil(budget / 50))``, which makes it O(budget)."""
    return max(50, -(-budget // 50))


def greedy_fit(tokens: Sequence[int], budget: int) -> list[int]:
    """Indexes kept, in order: each candidate that still fits ``budget``; one that does not is skipped, not the end."""
    kept = []
    left = budget
    for index, size in enumerate(tokens):
        if size <= left:
            kept.append(index)
            left -= size
    return kept
