"""The lines of a pass, and how many of them there is room for (docs/rules/observe.md#room)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from neve.domain.records.sessions import Event, EventType
from neve.domain.tokens import estimate, trim_to

MIN_LINES, MAX_LINES = 5, 60
"""Room of a pass of several events, and of any pass."""
_MIN_TRIMMED = len("🟡 …")


@dataclass(frozen=True, slots=True)
class ObservedLine:
    """One dated observation, ``🟡 text (meaning 2026-03-11)``, with the range of the log it speaks of."""

    text: str
    seq_from: int
    seq_to: int


@dataclass(frozen=True, slots=True)
class LineRoom:
    """The lines of a pass that have room. ``lines``: those that are kept. ``covered_to``: the last event that they do
    justice to (None = the last of the pass). ``left_out``: seq of the event at which each line begins, of those up to
    there, that is not kept as a whole."""

    lines: tuple[ObservedLine, ...]
    covered_to: int | None = None
    left_out: tuple[int, ...] = ()


def room_for(events: Sequence[Event]) -> int:
    """Return how many lines the answer to these events may hold: one for each user message, 5 to 60; 60 for a single
    event."""
    if len(events) == 1:
        return MAX_LINES
    messages = sum(event.event_type is EventType.USER_MESSAGE for event in events)
    return min(max(MIN_LINES, messages), MAX_LINES)


def up_to(lines: Sequence[ObservedLine], covered_to: int) -> tuple[ObservedLine, ...]:
    """Return the lines without those that are wholly behind ``covered_to``; the ranges of the others end there."""
    return tuple(replace(line, seq_to=min(line.seq_to, covered_to)) for line in lines if line.seq_from <= covered_to)


def within_tokens(lines: Sequence[ObservedLine], cap: int, events: Sequence[Event]) -> LineRoom:
    """Return the lines of ``events`` that make a text of at most ``cap`` tokens.

    They do justice to the event before the first line that has no room, but at least to the first turn, so that the
    next pass begins behind this one: of that turn's lines the last is trimmed, and what then has no room is lost."""
    fitting: list[ObservedLine] = []
    text = ""
    if estimate("\n".join(line.text for line in lines)) <= cap:
        return LineRoom(tuple(lines))
    ordered = sorted(lines, key=lambda line: (line.seq_from, line.seq_to))
    for line in ordered:
        longer = f"{text}\n{line.text}" if fitting else line.text
        if estimate(longer) > cap:
            covered_to = max(line.seq_from - 1, _end_of_first_turn(events))
            lost = tuple(one.seq_from for one in ordered[len(fitting) :] if one.seq_from <= covered_to)
            trimmed = trim_to(longer, cap)[len(text) :].strip()
            if line.seq_from <= covered_to and len(trimmed) > _MIN_TRIMMED:
                fitting.append(replace(line, text=trimmed))
            return LineRoom(up_to(fitting, covered_to), covered_to, lost)
        fitting.append(line)
        text = longer
    return LineRoom(tuple(fitting))


def earlier(*covered_to: int | None) -> int | None:
    """Return the first of several ends of a pass; None is its last event."""
    return min((seq for seq in covered_to if seq is not None), default=None)


def _end_of_first_turn(events: Sequence[Event]) -> int:
    """Return the seq of the last of ``events`` before the second message of a user."""
    end, messages = events[0].seq, 0
    for event in events:
        messages += event.event_type is EventType.USER_MESSAGE
        if messages > 1:
            break
        end = event.seq
    return end
