"""The facts of a pass: where in the log each was said, whose word it is, and how many of them there is room for
(docs/rules/facts.md#from-a-pass)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from neve.domain.memories.statements import statements
from neve.domain.memories.storage_decision import asks_to_remember
from neve.domain.memories.text import fingerprint
from neve.domain.observe.lines import ObservedLine
from neve.domain.observe.trust import SaidHere, is_of_a_tool, trust_of_lines
from neve.domain.records.memories import By, Category, Relation, Trust
from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.transcript import event_text
from neve.domain.times import iso, parse
from neve.domain.words import content_words

MAX_FACTS = 10
"""The most facts of one pass."""
_OF_THE_USER: tuple[By, ...] = ("user_stated", "user_confirmed")
_NEARER = {EventType.USER_MESSAGE: 1, EventType.TOOL_RESULT: 2}
"""The events that are preferred as the source of a fact that the model takes for the user's, where several share as
many words with it: an assistant often repeats them; but what a tool says as well is not taken for the user's."""
_SUBJECT = frozenset({"user"})
"""The word that observers use for the person whom a fact is about."""


@dataclass(frozen=True, slots=True)
class ProposedFact:
    """A fact as an observer proposes it. ``seq_from``, ``seq_to`` None: it did not say where. ``also``: further
    memories whose place it takes, beside ``target_id``. ``valid_until``: when it ends, in stored form, where it says so
    itself. ``keeps_words``: what it says again stays in its words, which the observer reads again."""

    text: str
    category: Category
    importance: int
    by: By
    relation: Relation
    target_id: str | None = None
    seq_from: int | None = None
    seq_to: int | None = None
    also: tuple[str, ...] = ()
    valid_until: str | None = None
    keeps_words: bool = False


@dataclass(frozen=True, slots=True)
class StatedFact:
    """One statement with its range of the log. ``by`` is what that range bears out, ``trust`` its lowest.
    ``remembered``: a message of the user in it asks to remember something. ``observed_at``: when its last event was."""

    text: str
    category: Category
    importance: int
    by: By
    trust: Trust
    relation: Relation
    target_id: str | None
    seq_from: int
    seq_to: int
    remembered: bool
    observed_at: str
    also: tuple[str, ...] = ()
    valid_until: str | None = None
    keeps_words: bool = False


@dataclass(frozen=True, slots=True)
class FactRoom:
    """The facts of a pass that have room. ``facts``: those that are kept, in the order of the log. ``covered_to``: the
    last event that they do justice to (None = the last of the pass). ``left_out``: how many of its first event had no
    room."""

    facts: tuple[StatedFact, ...]
    covered_to: int | None = None
    left_out: int = 0


def stated_facts(proposed: Sequence[ProposedFact], said: SaidHere) -> list[StatedFact]:
    """Return the facts in the order of the log, each once; what was proposed as one and is two statements becomes two,
    of which the first has the relation. ``said``: what they are held against; its events are those of a pass, not
    empty."""
    events = said.events
    once: dict[str, ProposedFact] = {}
    for fact in (one for given in proposed for one in _split(given)):
        once.setdefault(fingerprint(fact.text), fact)
    split = list(once.values())
    ranges = _ranges(split, events)
    lines = [ObservedLine(fact.text, *range_) for fact, range_ in zip(split, ranges, strict=True)]
    found = [
        _stated_fact(fact, range_, trust, said)
        for fact, range_, trust in zip(split, ranges, trust_of_lines(lines, said), strict=True)
    ]
    return sorted(found, key=lambda fact: (fact.seq_from, fact.seq_to))


def facts_with_room(facts: Sequence[StatedFact], first: int) -> FactRoom:
    """Return the facts for which there is room. ``facts`` are in the order of the log; ``first``: seq of the pass's
    first event, which is always covered."""
    if len(facts) <= MAX_FACTS:
        return FactRoom(tuple(facts))
    covered_to = max(facts[MAX_FACTS].seq_from - 1, first)
    covered = facts_up_to(facts, covered_to)
    best = sorted(range(len(covered)), key=lambda n: (-covered[n].importance, n))[:MAX_FACTS]
    return FactRoom(tuple(covered[n] for n in sorted(best)), covered_to, len(covered) - len(best))


def facts_up_to(facts: Sequence[StatedFact], covered_to: int) -> list[StatedFact]:
    """Return the facts without those from behind ``covered_to``; the ranges of the others end there."""
    return [replace(fact, seq_to=min(fact.seq_to, covered_to)) for fact in facts if fact.seq_from <= covered_to]


def _split(fact: ProposedFact) -> list[ProposedFact]:
    first, *others = statements(fact.text) or [""]
    further = replace(fact, relation="new", target_id=None, also=(), valid_until=None)
    return [replace(fact, text=first), *(replace(further, text=text) for text in others)] if first else []


def _ranges(facts: Sequence[ProposedFact], events: Sequence[Event]) -> list[tuple[int, int]]:
    """Clip the range of each fact into the pass. A fact without one has the event that shares most words with it, of
    several the nearer to the speaker whom the observer names, or the last."""
    first, last = events[0].seq, events[-1].seq
    words: list[tuple[Event, frozenset[str]]] = []
    ranges = []
    for fact in facts:
        stated = [min(max(seq, first), last) for seq in (fact.seq_from, fact.seq_to) if seq is not None]
        if not stated:
            words = words or [(event, content_words(event_text(event))) for event in events]
            wanted = content_words(fact.text) - _SUBJECT
            nearer = _NEARER if fact.by in _OF_THE_USER else {}
            most, _, at = max((len(wanted & held), nearer.get(one.event_type, 0), one.seq) for one, held in words)
            stated = [at] if most else [first, last]
        ranges.append((min(stated), max(stated)))
    return ranges


def _stated_fact(fact: ProposedFact, range_: tuple[int, int], trust: Trust, said: SaidHere) -> StatedFact:
    within = [event for event in said.events if range_[0] <= event.seq <= range_[1]]
    of_user = [event for event in within if event.event_type is EventType.USER_MESSAGE]
    by = fact.by
    if by in _OF_THE_USER and (trust == "tool" or not of_user):
        by = "tool" if trust == "tool" else "assistant"
    elif by == "user_stated" and is_of_a_tool(fact.text, of_user, said):
        by = "assistant"  # who tells it is the assistant, of what a tool said
    asked = any(asks_to_remember(statement) for event in of_user for statement in statements(event_text(event)))
    last = within[-1] if within else said.events[-1]
    until = fact.valid_until if fact.valid_until and fact.valid_until > iso(parse(last.created_at)) else None
    return StatedFact(
        text=fact.text,
        category=fact.category,
        importance=fact.importance,
        by=by,
        trust=trust,
        relation=fact.relation,
        target_id=fact.target_id,
        seq_from=range_[0],
        seq_to=range_[1],
        remembered=asked,
        observed_at=last.created_at,
        also=fact.also,
        valid_until=until,
        keeps_words=fact.keeps_words,
    )
