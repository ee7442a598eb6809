"""Choose which turns of a session a prompt shows, and where its history is cut (docs/rules/compile.md#cut).

A cut that moved with every turn would change the prompt's beginning with every turn, and nothing of it would be cached.
So a cut is made rarely and leaves room to spare: it is kept with the session until the next epoch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise, takewhile

from neve.domain.compile.conversation import says_nothing, shown_tokens
from neve.domain.records.epochs import HistoryCut, SessionEpoch
from neve.domain.records.sessions import SILENT, Event, EventType
from neve.domain.sessions.transcript import FIRST_TURNS_KEPT, LAST_TURNS_KEPT

MIN_SUMMARY = 100
"""Tokens: the headings alone take most of them. A history with less room for one is cut without."""
SUMMARY_SHARE = 4
"""A stand-in for the summary takes at most one part in so many of the history's tokens, or the least that one has."""
_FROM_THE_USER = (EventType.USER_MESSAGE, EventType.TOOL_RESULT, *SILENT)
_OF_A_TOOL = (EventType.TOOL_CALL, EventType.TOOL_RESULT)


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of the log that is shown or hidden as a whole: a turn, or a round of tool calls of the turn that goes on.
    ``turn``: its number."""

    first: int
    last: int
    tokens: int
    turn: int
    is_round: bool = False


@dataclass(frozen=True, slots=True)
class ShownHistory:
    """A history without what the model has to answer now. ``head`` stands before what is ``hidden``, ``tail`` behind
    it; where nothing is hidden all of it is ``tail``. ``kept``: the message of a turn that was cut inside. ``opens``:
    the seq of the message whose turn goes on, which is always shown and in none of these."""

    head: tuple[Unit, ...]
    tail: tuple[Unit, ...]
    summary_tokens: int = 0
    kept: Unit | None = None
    hidden: HistoryCut | None = None
    opens: int | None = None

    @property
    def tokens(self) -> int:
        return self.summary_tokens + _sum((*self.head, *self.tail)) + (self.kept.tokens if self.kept else 0)

    @property
    def turns(self) -> int:
        opening = {self.kept.turn} if self.kept else set[int]()
        return len({unit.turn for unit in (*self.head, *self.tail)} | opening)

    def parted(self) -> tuple[tuple[Unit, ...], tuple[Unit, ...]]:
        """Return the first two turns and the others apart, also where nothing is hidden yet. Where a cut took the first
        ones they are gone."""
        if self.hidden is not None:
            return self.head, self.tail
        opening = [n for n, unit in enumerate(self.tail) if unit.turn >= FIRST_TURNS_KEPT]
        at = opening[0] if opening else len(self.tail)
        return self.tail[:at], self.tail[at:]

    def joined(self) -> tuple[Unit, ...]:
        """Return the units to the end that nothing hidden stands between."""
        return self.tail if self.hidden is not None else (*self.head, *self.tail)

    def opening(self, newest: Sequence[Unit]) -> Unit | None:
        """Return the message that was kept, where these units are of its turn."""
        return self.kept if self.kept is not None and newest and newest[0].turn == self.kept.turn else None


def _sum(units: Iterable[Unit]) -> int:
    return sum(unit.tokens for unit in units)


# --- what is hidden -------------------------------------------------------------------------------


def hidden_events(epoch: SessionEpoch) -> HistoryCut | None:
    """Return the events that this epoch's prompts do not show: what a compaction covered, and what was cut since."""
    cut = epoch.cut
    if cut is not None and cut.epoch == epoch.epoch:
        return cut
    if epoch.covers_from is None or epoch.covers_to is None:
        return None
    return HistoryCut(epoch.epoch, epoch.covers_from, epoch.covers_to, epoch.covers_keeps)


def answered_to(events: Sequence[Event], cut: HistoryCut | None) -> int:
    """Return how many of the events are history: behind them is what the model has to answer now, messages without an
    answer, or the last round of tool calls with its results. What stands before the hidden part is history also where
    everything behind that was taken back: the part itself has the answer."""
    least = sum(1 for event in events if cut is not None and event.seq < cut.seq_from)
    at = len(events)
    while at > least and (events[at - 1].event_type in _FROM_THE_USER or says_nothing(events[at - 1])):
        at -= 1
    if not any(event.event_type is EventType.TOOL_RESULT for event in events[at:]):
        return at
    first = at
    while first > least and (events[first - 1].event_type in _OF_A_TOOL or says_nothing(events[first - 1])):
        first -= 1
    goes_on = _Round()
    for n in range(first, at):
        if not goes_on.takes(events[n]):
            first = n
    return first if goes_on.open else at


@dataclass
class _Round:
    """A round of tool calls, as ``Conversation`` joins them. ``open``: the ids of calls that have no result yet."""

    open: set[str] = field(default_factory=set)
    answered: bool = False

    def takes(self, event: Event) -> bool:
        """Take in the event, and say whether it stands in the round that is open. A call that does not opens another
        one; results without a call, and what says nothing, may stand between its calls."""
        kind = event.event_type
        if kind is EventType.TOOL_CALL:
            identifier = str(event.event_data["tool_use_id"])
            joins = bool(self.open) and not self.answered and identifier not in self.open
            if not joins:
                self._close()
            self.open.add(identifier)
            return joins
        if not self.open:
            return False
        if kind is EventType.TOOL_RESULT:
            identifier = str(event.event_data["tool_use_id"])
            self.answered = self.answered or identifier in self.open
            self.open.discard(identifier)
            return True
        if says_nothing(event):
            return True
        self._close()
        return False

    def _close(self) -> None:
        self.open, self.answered = set(), False


def units_of(events: Sequence[Event], *, goes_on: bool = False, first_turn: int = 0) -> tuple[Unit, ...]:
    """Split the events into turns, and into rounds the turn that goes on. ``goes_on``: the last turn has more events
    than these; its message is in no unit."""
    starts = [n for n, event in enumerate(events) if event.event_type is EventType.USER_MESSAGE]
    bounds = [0, *[n for n in starts if n > 0], len(events)]
    turns = [list(events[start:end]) for start, end in pairwise(bounds) if end > start]
    units: list[Unit] = []
    for n, turn in enumerate(turns):
        if goes_on and n == len(turns) - 1:
            units += [_unit(part, first_turn + n, is_round=True) for part in _rounds(turn)]
        else:
            units.append(_unit(turn, first_turn + n))
    return tuple(units)


def message_of(events: Sequence[Event]) -> Event | None:
    """Return the message that opens the last turn."""
    return next((event for event in reversed(events) if event.event_type is EventType.USER_MESSAGE), None)


def _rounds(turn: Sequence[Event]) -> list[list[Event]]:
    """Split a turn into rounds. A new one begins with a call, or a text before it, behind a result; never between the
    calls of one round."""
    parts: list[list[Event]] = []
    before: EventType | None = None
    goes_on = _Round()
    for event in turn[turn[0].event_type is EventType.USER_MESSAGE :]:
        inside = goes_on.takes(event)
        if before is None or (not inside and before in _FROM_THE_USER and event.event_type not in _FROM_THE_USER):
            parts.append([])
        parts[-1].append(event)
        before = event.event_type
    return parts


def _unit(events: Sequence[Event], number: int, *, is_round: bool = False) -> Unit:
    return Unit(events[0].seq, events[-1].seq, sum(map(shown_tokens, events)), number, is_round)


# --- where to cut ---------------------------------------------------------------------------------


def floor_of(shown: ShownHistory) -> int:
    """Count the tokens of the least that a history keeps while anything else can give way: the first two turns, a
    summary, and the last three; all of it when that is no more."""
    head, tail = shown.parted()
    newest = _newest(tail, LAST_TURNS_KEPT)
    rounds = [unit for unit in newest if unit.is_round]
    kept = [unit for unit in newest if unit not in rounds[:-LAST_TURNS_KEPT]]
    if len(kept) == len(tail):
        return shown.tokens
    opening = shown.opening(kept)
    tokens = _sum(head) + _sum(kept) + (opening.tokens if opening else 0)
    return min(shown.tokens, tokens + max(shown.summary_tokens, MIN_SUMMARY))


def summary_room(grant: int, target: int, kept: int = 0) -> int:
    """Return the tokens that the stand-in for a summary may have beside the turns that are ``kept``; 0 where there is
    no room for one. It gives way to them down to its least: the first two turns and the last three stay as long as a
    floor does."""
    room = min(target, max(MIN_SUMMARY, grant // SUMMARY_SHARE), grant - kept)
    return room if room >= MIN_SUMMARY else 0


def plan_cut(shown: ShownHistory, grant: int, *, target: int, window: int | None = None) -> HistoryCut | None:
    """Choose where a new epoch's prompts cut the history; None when it stays as it is. ``grant``: tokens that it may
    have; ``target``: of a summary; ``window``: turns, at least so many and at most twice as many. The caller that
    stores the cut fills in its epoch."""
    least = MIN_SUMMARY if grant >= MIN_SUMMARY * SUMMARY_SHARE else 0
    if window is not None and shown.turns > 2 * window:
        wanted = _newest(shown.joined(), window)
        if least + _kept_tokens(shown, (), wanted) <= grant:
            return _cut(shown, (), wanted)
    elif shown.tokens <= grant:
        return None
    for first, newest in _choices(shown, grant - summary_room(grant, target)):
        if least + _kept_tokens(shown, first, newest) <= grant:
            return _cut(shown, first, newest)
    return _cut(shown, (), ())


def _choices(shown: ShownHistory, grant: int) -> Iterator[tuple[Sequence[Unit], Sequence[Unit]]]:
    """Yield the units that may be kept at the beginning and at the end, the most first; the first turns go before one
    of the last three does. The newest turns fill half of the room at most, so that the next cut is not due with the
    next turn."""
    head, tail = shown.parted()
    weights, everything = _weights(tail), shown.joined()
    fits = _newest_fitting(weights, (grant - _sum(head)) // 2)
    most = len(weights) - 1
    if fits > LAST_TURNS_KEPT:
        yield head, _newest(tail, min(fits, most))
    for turns in range(LAST_TURNS_KEPT, 0, -1):
        if turns <= most:
            yield head, _newest(tail, turns)
        if turns <= len({unit.turn for unit in everything}):
            yield (), _newest(everything, turns)
    for first, units in ((head, tail), ((), everything)):
        rounds = [unit for unit in _newest(units, 1) if unit.is_round]
        for start in range(max(1, len(rounds) // 2), len(rounds)):
            yield first, rounds[start:]


def _weights(units: Sequence[Unit]) -> list[int]:
    """Return the tokens of each turn, the oldest first."""
    weights: dict[int, int] = {}
    for unit in units:
        weights[unit.turn] = weights.get(unit.turn, 0) + unit.tokens
    return list(weights.values())


def _newest_fitting(weights: Sequence[int], room: int) -> int:
    """Count the newest turns that have room together."""
    return sum(1 for _ in takewhile(lambda tokens: tokens <= room, accumulate(reversed(weights))))


def _newest(units: Sequence[Unit], turns: int) -> tuple[Unit, ...]:
    """Return the units of the newest turns. ``units``: in the order of the log, as their turns are."""
    numbers = list(dict.fromkeys(unit.turn for unit in units))
    first = numbers[-turns:][:1]
    return tuple(unit for unit in units if unit.turn >= first[0])


def _kept_tokens(shown: ShownHistory, first: Sequence[Unit], newest: Sequence[Unit]) -> int:
    opening = shown.opening(newest)
    return _sum(first) + _sum(newest) + (opening.tokens if opening else 0)


def _cut(shown: ShownHistory, first: Sequence[Unit], newest: Sequence[Unit]) -> HistoryCut:
    """Make the cut after which, of what is shown, only these units go on being shown."""
    last = shown.hidden.seq_to if shown.hidden else 0
    seq_from = first[-1].last + 1 if first else 1
    seq_to = newest[0].first - 1 if newest else max([last, *(unit.last for unit in shown.tail)])
    kept = shown.opening(newest)
    keeps = kept.first if kept else None
    if shown.opens is not None and seq_from <= shown.opens <= seq_to:
        keeps = shown.opens
    return HistoryCut(0, seq_from, seq_to, keeps)


def is_hidden(seq: int, cut: HistoryCut | None) -> bool:
    return cut is not None and cut.seq_from <= seq <= cut.seq_to and seq != cut.keeps
