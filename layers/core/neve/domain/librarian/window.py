"""Chooses the part of a long session that a librarian reads (docs/rules/librarian.md#window)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from neve.domain.compact.shorten import within_request
from neve.domain.records.sessions import Event
from neve.domain.sessions.transcript import event_text, render_line, turns
from neve.domain.tokens import Counter, estimate

SHARE = 80
"""Per cent of the window that the events of one request may take."""
NEWEST_SHARE = 30
"""Per cent of what is read that belongs to the newest turns."""
MAX_REQUEST = 150_000
"""Tokens, whatever the window: as for a summary, within what a model with 200,000 takes (*chosen*)."""
_MARKED = re.compile(r"\bremember this\b|\b(?:don't|do not) forget\b|\bimportant\s*:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cut:
    """The events that are shown. ``left_out``: how many are not."""

    events: tuple[Event, ...]
    left_out: int


def request_cap(window: int) -> int:
    """Give the tokens that the events of one request may have."""
    return min(MAX_REQUEST, window * SHARE // 100)


def within_window(events: Sequence[Event], cap: int, count: Counter = estimate) -> Cut:
    """Choose events of at most ``cap`` tokens, in order. The blocks are turns. What is too long keeps its first block,
    the newest ones within 30 % of the cap, those in which a speaker asks to have them remembered, and as many of the
    others, newest first, as have room. Where even what is to be kept is too long, its longest events are cut in the
    middle."""
    sizes = {event.seq: count(f"{render_line(event)}\n\n") for event in events}
    if sum(sizes.values()) <= cap:
        return Cut(tuple(events), 0)
    blocks = _blocks(events)
    weights = [sum(sizes[event.seq] for event in block) for block in blocks]
    inside = {0, *_newest(weights, cap * NEWEST_SHARE // 100), *_marked(blocks)}
    left = cap - sum(weights[n] for n in inside)
    for n in reversed(range(len(blocks))):
        if n not in inside and weights[n] <= left:
            inside.add(n)
            left -= weights[n]
    chosen = within_request([event for n in sorted(inside) for event in blocks[n]], cap, count)
    return Cut(tuple(chosen), len(events) - len(chosen))


def is_marked(text: str) -> bool:
    """Say whether the text asks to have it remembered."""
    return _MARKED.search(text.replace("’", "'")) is not None


def _blocks(events: Sequence[Event]) -> list[list[Event]]:
    by_seq = {event.seq: event for event in events}
    return [[by_seq[seq] for seq in span if seq in by_seq] for span in turns(events)]


def _newest(weights: Sequence[int], room: int) -> Iterable[int]:
    """Give the last block, whatever its size, and those before it that fit with it."""
    for n in reversed(range(len(weights))):
        room -= weights[n]
        if room < 0 and n != len(weights) - 1:
            return
        yield n


def _marked(blocks: Sequence[Sequence[Event]]) -> Iterable[int]:
    return (n for n, block in enumerate(blocks) if any(is_marked(event_text(event)) for event in block))
