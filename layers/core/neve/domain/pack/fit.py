"""Chooses the rows that a pack has room for (docs/rules/pack.md#global, docs/rules/pack.md#local)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from neve.domain.records.memories import Memory, Priority

_WEIGHTIEST_FIRST = (Priority.HIGH, Priority.MEDIUM, Priority.LOW)


def candidate_limit(budget: int) -> int:
    """Give how many candidates a build reads at most: ``max(50, ceil(budget / 50))``, which makes it O(budget)."""
    return max(50, -(-budget // 50))


def greedy_fit(tokens: Sequence[int], budget: int, first: Collection[int] = ()) -> list[int]:
    """Give the indexes that are kept, in order: each candidate that still fits ``budget``; one that does not is
    skipped, not the end. ``first``: those that have their room already, whatever stands before them."""
    chosen = []
    left = budget - sum(tokens[index] for index in first)
    for index, size in enumerate(tokens):
        if index in first:
            chosen.append(index)
        elif size <= left:
            chosen.append(index)
            left -= size
    return chosen


def weightiest_first(chronicle: Sequence[Memory]) -> list[int]:
    """Give the places of rows: of high priority before medium and low, and of one priority the newest first."""
    newest_first = sorted(range(len(chronicle)), reverse=True)
    return sorted(newest_first, key=lambda place: _WEIGHTIEST_FIRST.index(chronicle[place].priority))


def fit_chronicle(chronicle: Sequence[Memory], budget: int) -> list[Memory]:
    """Keep those of a session's observations and reflections that ``budget`` has room for, in the order they have:
    those of high priority before medium and low, and of one priority the newest."""
    ordered = weightiest_first(chronicle)
    chosen = greedy_fit([chronicle[place].tokens for place in ordered], budget)
    return [chronicle[place] for place in sorted(ordered[index] for index in chosen)]
