"""Which candidates of the pack's global layer are kept (docs/rules/pack.md#global)."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def candidate_limit(budget: int) -> int:
    """How many candidates a build reads at most: ``max(50, ceil(budget / 50))``, which makes it O(budget)."""
    return max(50, -(-budget // 50))


def greedy_fit(tokens: Sequence[int], budget: int, first: Collection[int] = ()) -> list[int]:
    """Indexes kept, in order: each candidate that still fits ``budget``; one that does not is skipped, not the end.
    ``first``: those that have their room already, whatever stands before them."""
    kept = []
    left = budget - sum(tokens[index] for index in first)
    for index, size in enumerate(tokens):
        if index in first:
            kept.append(index)
        elif size <= left:
            kept.append(index)
            left -= size
    return kept
