"""Decides whose word a memory is, by code and never by a model (docs/rules/observe.md#trust)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from neve.domain.memories.marks import OF_A_TOOL, marked
from neve.domain.observe.distinctive import Spoken, distinctive_words
from neve.domain.observe.lines import ObservedLine
from neve.domain.records.memories import DEFAULT_TRUST, TRUST, Trust
from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.transcript import event_text
from neve.domain.tokens import compact_json
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
OWN_TOOLS = frozenset({"recall_memory", "read_document", "search_conversation", "search_knowledge"})
"""Neve's own tools: what they answer was remembered, and has a trust of its own."""

Run = tuple[str, ...]


@dataclass(frozen=True)
class SaidHere:
    """Holds what is known of what tools and users said in a session. ``events``: what a text was made of. ``further``:
    what else was said in the session. ``tools`` and ``users``: what they said before, and is remembered as that."""

    events: Sequence[Event]
    further: Sequence[Event] = ()
    tools: Sequence[str] = ()
    users: Sequence[str] = ()

    @cached_property
    def by_tools(self) -> Spoken:
        results = (event for event in (*self.events, *self.further) if event.event_type is EventType.TOOL_RESULT)
        return Spoken((*(event_text(event) for event in results if not _is_own(event)), *self.tools))

    @cached_property
    def by_users(self) -> Spoken:
        events = (event for event in (*self.events, *self.further) if event.event_type is EventType.USER_MESSAGE)
        return Spoken((*_spoken(events).texts, *self.users))

    @cached_property
    def runs(self) -> frozenset[Run]:
        """Give the runs of what tools said that no user said."""
        of = {kind: [event_text(one) for one in self.events if one.event_type is kind] for kind in EventType}
        users = frozenset().union(*map(shared_runs, of[EventType.USER_MESSAGE]))
        return frozenset().union(*map(shared_runs, (*of[EventType.TOOL_RESULT], *self.tools))) - users


def lowest(levels: Iterable[Trust]) -> Trust:
    """Give the lowest trust; ``assistant`` for none."""
    return max(levels, key=TRUST.index, default=DEFAULT_TRUST)


def trust_of_lines(lines: Sequence[ObservedLine], said: SaidHere) -> list[Trust]:
    """Give for each line of a pass over the events of ``said`` the lowest of the events in its range, and ``tool`` if a
    tool said it."""
    return [trust_of(line.text, events_of(line, said.events), said) for line in lines]


def trust_of(text: str, within: Sequence[Event], said: SaidHere) -> Trust:
    """Give the lowest of the events ``within`` its range, and ``tool`` if a tool said it."""
    of_range = lowest(_OF_EVENT[event.event_type] for event in within if event.event_type in _OF_EVENT)
    return "tool" if of_range == "tool" or is_of_a_tool(text, within, said) else of_range


def is_of_a_tool(text: str, within: Sequence[Event], said: SaidHere) -> bool:
    """Tell whether the text repeats what a tool said in the same words, or holds a word that names something, that a
    tool said and neither an event ``within`` its range nor a user. ``within``: none where a text has no range."""
    if said.runs and not said.runs.isdisjoint(shared_runs(text)):
        return True
    own = _spoken(within)
    return any(
        not word.stands_in(own) and not word.stands_in(said.by_users) and word.comes_from(said.by_tools)
        for word in distinctive_words(text)
    )


def trust_in_doubt(text: str, within: Sequence[Event], said: SaidHere) -> bool:
    """Tell whether what else was said in the session may change whose word the text is."""
    if any(event.event_type is EventType.TOOL_RESULT for event in within):
        return False
    own = _spoken(within)
    return any(not word.stands_in(own) and not word.stands_in(said.by_users) for word in distinctive_words(text))


def with_mark(text: str, said: SaidHere) -> str:
    """Put a text without a range of its own behind the mark of what a tool said, if one said it or if it stood there
    already."""
    bare = text.removeprefix(OF_A_TOOL).lstrip()
    return marked(bare, "tool" if bare != text or is_of_a_tool(bare, (), said) else "assistant")


def events_of(line: ObservedLine, events: Sequence[Event]) -> list[Event]:
    """Give the events in the text's range."""
    return [event for event in events if line.seq_from <= event.seq <= line.seq_to]


def shared_runs(text: str) -> frozenset[Run]:
    """Give every run of ``SHARED_WORDS`` consecutive words: two texts that share one say the same in the same words."""
    words = plain_words(text)
    return frozenset(tuple(words[n : n + SHARED_WORDS]) for n in range(len(words) - SHARED_WORDS + 1))


def _spoken(events: Iterable[Event]) -> Spoken:
    """Take the names of who spoke and what tools were called with for words, too."""
    return Spoken(tuple(f"{event.name or ''} ; {event_text(event)} ; {_called_with(event)}" for event in events))


def _is_own(event: Event) -> bool:
    return (event.event_data.get("name") or event.name) in OWN_TOOLS


def _called_with(event: Event) -> str:
    args = event.event_data.get("args") if event.event_type is EventType.TOOL_CALL else None
    return args if isinstance(args, str) else compact_json(args or {})
