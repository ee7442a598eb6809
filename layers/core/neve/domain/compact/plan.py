"""Decides which events a compaction covers (docs/rules/compact.md#turns-kept-verbatim)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.transcript import FIRST_TURNS_KEPT, covered_turns, turns


@dataclass(frozen=True, slots=True)
class Covered:
    """The events that a compaction covers, as seqs, both included. ``inside``: it ends within a turn, which goes on
    behind it."""

    first: int
    last: int
    inside: bool = False


@dataclass(frozen=True, slots=True)
class LogTail:
    """The observed part of a log behind its horizon, not empty. ``tokens``: of each seq, as a prompt would show it.
    ``first``: there is no horizon yet, so the first two turns stay. ``keep_budget``: tokens of the newest turns that
    stay; above ``trigger`` a compaction is due."""

    events: Sequence[Event]
    tokens: Mapping[int, int]
    first: bool
    keep_budget: int
    trigger: int

    def weight(self, span: range) -> int:
        return sum(self.tokens[seq] for seq in span)


def newly_covered(tail: LogTail) -> Covered | None:
    """Decide what is covered next; None when there is nothing. It covers whole turns, and no call without its result.
    Only where that would leave the trigger reached, a turn that alone exceeds ``keep_budget`` is cut inside, behind a
    result that leaves no call open."""
    spans, closed = turns(tail.events), _closed_before(tail.events)
    whole = _whole_turns(tail, spans, closed)
    behind = range((whole.last if whole else tail.events[0].seq - 1) + 1, tail.events[-1].seq + 1)
    if tail.weight(behind) < tail.trigger:
        return whole
    return _inside_turn(tail, spans, closed, whole) or whole


def _whole_turns(tail: LogTail, spans: Sequence[range], closed: set[int]) -> Covered | None:
    first_turns = FIRST_TURNS_KEPT if tail.first else 0
    middle = covered_turns([tail.weight(span) for span in spans], tail.keep_budget, first_turns=first_turns)
    starts = [spans[n].start for n in middle or () if spans[n].start in closed]
    ends = [spans[n].stop - 1 for n in middle or () if spans[n].stop in closed]
    if not starts or not ends or starts[0] > ends[-1]:
        return None
    return Covered(starts[0], ends[-1])


def _inside_turn(tail: LogTail, spans: Sequence[range], closed: set[int], whole: Covered | None) -> Covered | None:
    """Cover up to a step within the newest of the very long turns; None where there is none."""
    done = whole.last if whole else 0
    long = [n for n, span in enumerate(spans) if span.start > done and tail.weight(span) > tail.keep_budget]
    if not long:
        return None
    span = spans[long[-1]]
    types = {event.seq: event.event_type for event in tail.events}
    last_cut = min(span.stop - 1, tail.events[-1].seq)
    steps = [n for n in range(span.start + 1, last_cut + 1) if n in closed and types[n - 1] is EventType.TOOL_RESULT]
    if not steps:
        return None
    keeps_from = _fitting_from(tail)
    cut = next((step for step in steps if step >= keeps_from), steps[-1])
    start = whole.first if whole else _start(tail, spans, long[-1])
    return Covered(start, cut - 1, inside=True) if start in closed and start < cut else None


def _fitting_from(tail: LogTail) -> int:
    """Find the first event of the newest that fit the budget together; the newest is always kept."""
    left = tail.keep_budget
    fits = tail.events[-1].seq
    for event in reversed(tail.events):
        left -= tail.tokens[event.seq]
        if left < 0:
            break
        fits = event.seq
    return fits


def _start(tail: LogTail, spans: Sequence[range], turn: int) -> int:
    """Find where the covered part begins when no whole turn can be covered: behind the message that began the turn, or,
    where turns lie between it and those that stay, with the first of them."""
    if not tail.first:
        return tail.events[0].seq
    if turn > FIRST_TURNS_KEPT:
        return spans[FIRST_TURNS_KEPT].start
    asked = [e.seq for e in tail.events if e.seq in spans[turn] and e.event_type is EventType.USER_MESSAGE]
    return asked[0] + 1 if asked else spans[turn].start


def _closed_before(events: Sequence[Event]) -> set[int]:
    """Find the seqs before which no call waits for its result: a cut there leaves no pair apart. A call that was never
    answered waits until the assistant or the user speaks again."""
    results = _results(events)
    closed: set[int] = set()
    waits_to = 0
    unanswered = False
    for event in events:
        if event.event_type in (EventType.ASSISTANT_RESPONSE, EventType.USER_MESSAGE):
            unanswered = False
        if event.seq > waits_to and not unanswered:
            closed.add(event.seq)
        if event.event_type is EventType.TOOL_CALL:
            waits_to = max(waits_to, results.get(event.seq, 0))
            unanswered = unanswered or event.seq not in results
    if not unanswered:
        closed.add(events[-1].seq + 1)
    return closed


def _results(events: Sequence[Event]) -> dict[int, int]:
    """Map the seq of a call to the seq of its result: the next one with its id."""
    calls: dict[str, int] = {}
    results: dict[int, int] = {}
    for event in events:
        use = str(event.event_data.get("tool_use_id", ""))
        if event.event_type is EventType.TOOL_CALL:
            calls[use] = event.seq
        elif event.event_type is EventType.TOOL_RESULT and use in calls:
            results[calls.pop(use)] = event.seq
    return results
