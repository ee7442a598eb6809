"""Whose word a memory is, by code and never by a model (docs/rules/observe.md#trust)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from neve.domain.observe.lines import ObservedLine
from neve.domain.records.memories import DEFAULT_TRUST, TRUST, Trust
from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.transcript import event_text
from neve.domain.words import plain_words

_OF_EVENT: dict[EventType, Trust] = {
    EventType.USER_MESSAGE: "user",
    EventType.ASSISTANT_RESPONSE: "assistant",
    EventType.TOOL_CALL: "assistant",
    EventType.TOOL_RESULT: "tool",
}
"""A task boundary says nothing."""
SHARED_WORDS = 5
"""A line with so many consecutive words of a tool's result repeats it, whatever range it names."""

Run = tuple[str, ...]


def lowest(levels: Iterable[Trust]) -> Trust:
    """``assistant`` for none."""
    return max(levels, key=TRUST.index, default=DEFAULT_TRUST)


def trust_of_lines(lines: Sequence[ObservedLine], events: Sequence[Event]) -> list[Trust]:
    """Of each line of a pass over ``events``: the lowest of the events in its range, and ``tool`` if it repeats what a
    tool answered."""
    results = [runs_of(event_text(event)) for event in events if event.event_type is EventType.TOOL_RESULT]
    of_tools = frozenset().union(*results)
    return [_of_line(line, events, of_tools) for line in lines]


def _of_line(line: ObservedLine, events: Sequence[Event], of_tools: frozenset[Run]) -> Trust:
    if of_tools and not of_tools.isdisjoint(runs_of(line.text)):
        return "tool"
    within = (event for event in events if line.seq_from <= event.seq <= line.seq_to)
    return lowest(_OF_EVENT[event.event_type] for event in within if event.event_type in _OF_EVENT)


def runs_of(text: str) -> frozenset[Run]:
    """Every run of ``SHARED_WORDS`` consecutive words: two texts that share one say the same in the same words."""
    words = plain_words(text)
    return frozenset(tuple(words[n : n + SHARED_WORDS]) for n in range(len(words) - SHARED_WORDS + 1))
