"""Fit what is to be summarised into one request (docs/rules/compact.md#summary)."""

from __future__ import annotations

from collections.abc import Sequence

from neve.domain.records.sessions import Event
from neve.domain.sessions.transcript import render_line, shortened
from neve.domain.tokens import Counter, estimate

MIN_TOKENS = 60
"""No event is cut below this: what is left would say nothing (*chosen*)."""


def within_request(events: Sequence[Event], cap: int, count: Counter = estimate) -> list[Event]:
    """Fit the events into ``cap`` tokens as the request shows them. The longest are cut in the middle, all to the same
    length, so that as little as possible is lost of the short ones; where even that does not do, the oldest are left
    out: every event was observed before."""
    sizes = [_size(event, count) for event in events]
    if sum(sizes) <= cap:
        return list(events)
    limit = _limit(sizes, cap)
    cut = [
        event if size <= limit else shortened(event, limit, count) for event, size in zip(events, sizes, strict=True)
    ]
    total = sum(_size(event, count) for event in cut)
    left_out = 0
    while left_out < len(cut) - 1 and total > cap:
        total -= _size(cut[left_out], count)
        left_out += 1
    return cut[left_out:]


def _size(event: Event, count: Counter) -> int:
    """Count the tokens of an event's lines, with those that part it from the next."""
    return count(f"{render_line(event)}\n\n")


def _limit(sizes: Sequence[int], cap: int) -> int:
    """Find the largest length to which all may be cut, between the shortest cut and the whole cap."""
    low, high = MIN_TOKENS, max(cap, MIN_TOKENS)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(size, middle) for size in sizes) <= cap:
            low = middle
        else:
            high = middle - 1
    return low
