"""Decides what becomes of memories when a part of the log that they were made from is taken back
(docs/rules/retract.md#derived). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from neve.domain.memories.fact_statements import (
    first_statement,
    is_retracted,
    restated,
    sessions_of,
    statements_of,
    with_room_for,
    with_statement,
    without_retracted,
)
from neve.domain.memories.made_of import Sources, meets_any, ranges_of
from neve.domain.memories.visibility import status_at, visible
from neve.domain.records.memories import BY_A_PERSON, Kind, Memory, Statement, Status
from neve.domain.records.sessions import SessionHead, Span, Spans
from neve.domain.same.meaning import place_of
from neve.domain.sessions.spans import meets, without

_SHOWN = (Status.ACTIVE, Status.RESOLVED, Status.INBOX)
MAX_FACTS = 40
"""Facts that come back together (*follows*: their places move with the flip, whose transaction has 100 actions, and one
that leaves may bring several back)."""


@dataclass(frozen=True, slots=True)
class Consequences:
    """The changes that a retraction brings. ``leave``: what readers see and are no longer to see. ``back``: what is to
    be seen again, as copies: the sources of reflections that leave, facts that only a fact that leaves had replaced,
    and facts that leave and were said again in what stays, as these say it. ``again``: observations of which something
    is left to be read again. ``touched``: the ids of everything that may hold words of what was taken back, whatever
    its status. ``more``: as ``MAX_FACTS`` come back already, further memories leave, and others come back for them,
    only after these.

    Before all that: ``changed``, facts whose list of statements is to become another one, by id, with the statements
    that join it; those of the session that are taken back leave it. ``inherited``: what those of them that say what
    does not come back name as replaced from then on. ``retained``: touched facts that something else has replaced, as
    they stand by other statements in the same words, which an erasure leaves of them. ``asked``: sessions whose spans
    were needed."""

    leave: tuple[Memory, ...]
    back: tuple[Memory, ...]
    again: tuple[Memory, ...]
    touched: frozenset[str]
    more: bool = False
    changed: Mapping[str, tuple[Statement, ...]] = field(default_factory=dict)
    inherited: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    retained: tuple[Memory, ...] = ()
    asked: frozenset[str] = frozenset()

    @property
    def facts_back(self) -> tuple[Memory, ...]:
        return tuple(memory for memory in self.back if memory.kind is Kind.FACT)


def is_touched(memory: Memory, session: str, spans: Sequence[Span]) -> bool:
    """Say whether a memory's own range meets the spans."""
    return any(meets(spans, part) for part in ranges_of(memory, session))


def goes_with(memory: Memory, log: SessionHead) -> bool:
    """Say whether a memory goes with what is taken back of a log, as far as its own range tells: what a person last
    wrote goes with what is deleted alone."""
    return is_touched(memory, log.session_id, log.erased if memory.corrected else log.retracted)


def left_of(memory: Memory, session: str, spans: Sequence[Span]) -> Spans:
    return tuple(part for own in ranges_of(memory, session) for part in without(own, spans))


def unknown_sources(memories: Mapping[str, Memory]) -> set[str]:
    """Give the ids that reflections and facts among ``memories`` replaced, and that are not among them."""
    return {i for memory in memories.values() for i in memory.supersedes} - memories.keys()


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Facts from outside the session's own log. ``retracted``: spans that are taken back in other sessions.
    ``unsupported``: statements that do not stand by themselves, each with the id of its fact: the fact's words are
    those of a message that was deleted. ``gone``: sources of reflections that were deleted, by id, with what those had
    been made of. ``outliving``: ids of what a person last wrote, and of which nothing is deleted."""

    retracted: Mapping[str, Spans] = field(default_factory=dict)
    unsupported: frozenset[tuple[str, Statement]] = frozenset()
    gone: Mapping[str, Sources | None] = field(default_factory=dict)
    outliving: frozenset[str] = frozenset()


NOTHING_ELSE = Elsewhere()


def consequences(
    memories: Iterable[Memory], session: str, spans: Spans, gen: int, elsewhere: Elsewhere = NOTHING_ELSE
) -> Consequences:
    """Weigh what becomes of memories. ``memories``: every row that may be made from the events in ``spans`` of a
    session's log, and what those rows replaced; a source that is not among them is gone. ``gen``: the generation that
    is seen."""
    return _Weighing({memory.id: memory for memory in memories}, session, spans, gen, elsewhere).weighed()


def touched(
    memories: Mapping[str, Memory], session: str, spans: Spans, elsewhere: Elsewhere = NOTHING_ELSE
) -> frozenset[str]:
    """Give the ids of the memories that may hold words of what is taken back in ``spans``."""
    return _Weighing(memories, session, spans, 0, elsewhere).touched


@dataclass
class _Weighing:
    memories: Mapping[str, Memory]
    session: str
    spans: Spans
    gen: int
    elsewhere: Elsewhere
    known: dict[str, bool] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    joining: dict[str, tuple[Statement, ...]] = field(default_factory=dict)
    inherited: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def touched(self) -> frozenset[str]:
        return frozenset(memory.id for memory in self.memories.values() if self._touched(memory))

    def weighed(self) -> Consequences:
        touched = [memory for memory in self.memories.values() if self._touched(memory)]
        leave = [memory for memory in touched if self._shown(memory)]
        leave.sort(key=lambda memory: memory.kind is Kind.FACT)
        back: dict[tuple[Kind, str], Memory] = {}
        again = {memory.id: memory for memory in leave if self._worth_reading(memory)}
        for place, memory in enumerate(leave):
            for source in self._successors(memory):
                if self._stands_elsewhere(source):
                    continue
                if self._worth_reading(source):
                    again[source.id] = source
                elif source.kind is Kind.FACT or not self._touched(source):
                    same = back.get(_said_key(source))
                    back[_said_key(source)] = _merge_facts(source, same) if same else source
            if sum(one.kind is Kind.FACT for one in back.values()) >= MAX_FACTS:
                leave = leave[: place + 1]
                break
        more = len(leave) < sum(self._shown(memory) for memory in touched)
        outcome = Consequences(tuple(leave), _in_order(back.values()), _in_order(again.values()), self.touched, more)
        retained = self._retained(memory for memory in touched if not self._shown(memory))
        outcome = replace(outcome, changed=self._changed(), inherited=self.inherited)
        return replace(outcome, retained=tuple(retained), asked=frozenset(self.asked))

    def _shown(self, memory: Memory) -> bool:
        return visible(memory.born_gen, memory.died_gen, self.gen) and status_at(memory, self.gen) in _SHOWN

    def _touched(self, memory: Memory) -> bool:
        """Say whether it may hold words of what is taken back. A reflection is judged by its sources, and where some of
        them are gone by what those were made of, and by its own range: one of several sessions has none."""
        if memory.id in self.elsewhere.outliving:
            return False
        if memory.id not in self.known:
            self.known[memory.id] = False  # nothing replaces itself, whatever an import says
            self.known[memory.id] = self._is_touched(memory)
        return self.known[memory.id]

    def _is_touched(self, memory: Memory) -> bool:
        if memory.kind is Kind.FACT and (memory.id, first_statement(memory)) in self.elsewhere.unsupported:
            return True
        if memory.kind is not Kind.REFLECTION:
            return is_touched(memory, self.session, self.spans)
        sources = [self.memories.get(i) for i in memory.supersedes]
        if any(source is not None and self._touched(source) for source in sources):
            return True
        if any(self._gone_was_touched(i) for i in memory.supersedes):
            return True
        return (not sources or None in sources) and is_touched(memory, self.session, self.spans)

    def _gone_was_touched(self, source: str) -> bool:
        """Say whether a source that was deleted had been made of what is taken back. What an import has brought back
        under its id is not what the reflection was made of."""
        if source not in self.elsewhere.gone:
            return False
        return any(meets_any(self.elsewhere.gone[source], self.session, span) for span in self.spans)

    def _worth_reading(self, memory: Memory) -> bool:
        if memory.kind is not Kind.OBSERVATION or not self._touched(memory):
            return False
        return bool(left_of(memory, self.session, self.spans))

    # --- facts ----------------------------------------------------------------------------------

    def _remaining(self, fact: Memory) -> Memory | None:
        """Give the fact as the statements that are left of it say it; None where none is."""
        self.asked |= sessions_of([fact])
        spans = {**self.elsewhere.retracted, self.session: self.spans}
        statements = [one for one in statements_of(fact) if not is_retracted(one, spans)]
        first = first_statement(fact)
        if fact.id in self.elsewhere.outliving and first not in statements:
            statements.insert(0, first)
        if fact.written_over and self._touched(fact):
            statements.remove(first)
        return restated(fact, [one for one in statements if (fact.id, one) not in self.elsewhere.unsupported])

    def _retained(self, touched: Iterable[Memory]) -> Iterator[Memory]:
        for fact in touched:
            remaining = self._remaining(fact) if fact.kind is Kind.FACT else None
            if remaining is not None and remaining.fingerprint == fact.fingerprint:
                yield replace(remaining, status=fact.status)

    def _changed(self) -> dict[str, tuple[Statement, ...]]:
        own = {self.session: self.spans}
        facts = (memory for memory in self.memories.values() if memory.restatements)
        shorter = {fact.id: () for fact in facts if without_retracted(fact, own) != fact}
        return {**shorter, **self.joining}

    def _join(self, fact: Memory, holder: Memory) -> None:
        """Let ``holder``, which says the same, take over what was said of a fact that does not come back, and what it
        had replaced: nothing else is looked at when the holder leaves."""
        self.joining[holder.id] = with_room_for(holder, statements_of(fact), fact.text)
        self.inherited[holder.id] = tuple(i for i in named_by(fact) if i not in (holder.id, *holder.supersedes))

    # --- what is behind ---------------------------------------------------------------------------

    def _successors(self, memory: Memory, seen: frozenset[str] = frozenset()) -> Iterator[Memory]:
        """Give what is seen in the place of a memory that leaves: itself, as it was said again, or what it had
        replaced. ``seen``: what was followed on the way here."""
        remaining = self._remaining(memory) if memory.kind is Kind.FACT else None
        if remaining is not None:
            yield remaining
        elif memory.id not in seen:
            yield from self._sources(memory, seen | {memory.id})

    def _sources(self, memory: Memory, seen: frozenset[str]) -> Iterator[Memory]:
        """Give what a memory that leaves had replaced, through others that are touched themselves."""
        if memory.kind is Kind.REFLECTION:
            replaced = [self.memories[i] for i in memory.supersedes if i in self.memories]
        elif memory.kind is Kind.FACT and memory.provenance.by not in BY_A_PERSON:
            replaced = [one for one in self._replaced_by(memory) if one.kind is Kind.FACT]
        else:
            replaced = []
        for source in replaced:
            if self._shown(source):
                continue
            if source.kind is Kind.FACT or (self._touched(source) and source.kind is not Kind.OBSERVATION):
                yield from self._successors(source, seen)
            else:
                yield source

    def _replaced_by(self, fact: Memory) -> list[Memory]:
        """Give what this fact alone replaced. A fact that came back names what it had replaced before, too."""
        named = (self.memories[i] for i in fact.supersedes if i in self.memories)
        return [one for one in named if one.superseded_by in (None, fact.id, *fact.supersedes)]

    def _stands_elsewhere(self, source: Memory) -> bool:
        """Say whether a source need not come back: something else that stays holds it; or an earlier retraction brought
        it back, or had it read again; or the same has been said since."""
        named = self._naming.get(source.id, ())
        if source.kind is Kind.OBSERVATION and any(one.kind is Kind.OBSERVATION for one in named):
            return True
        if any(self._stays(one) for one in named):
            return True
        same = self._saying.get(_said_key(source), ())
        holder = next((one for one in same if self._may_hold(one, source) and self._stays(one)), None)
        if holder is not None:
            self._join(source, holder)
        return holder is not None

    def _stays(self, memory: Memory) -> bool:
        return self._shown(memory) and not self._touched(memory)

    def _may_hold(self, one: Memory, fact: Memory) -> bool:
        """Say whether ``one``, which says the same, stands in the place of the fact: what is said again is counted on
        the row that holds it."""
        return one.id != fact.id and status_at(one, self.gen) is not Status.RESOLVED

    @cached_property
    def _naming(self) -> Mapping[str, Sequence[Memory]]:
        """Group the memories by the ids that they name as replaced."""
        found: dict[str, list[Memory]] = {}
        for one in self.memories.values():
            for source in dict.fromkeys(one.supersedes):
                found.setdefault(source, []).append(one)
        return found

    @cached_property
    def _saying(self) -> Mapping[tuple[Kind, str], Sequence[Memory]]:
        found: dict[tuple[Kind, str], list[Memory]] = {}
        for one in self.memories.values():
            found.setdefault(_said_key(one), []).append(one)
        return found


def named_by(source: Memory) -> tuple[str, ...]:
    """Give the ids that a successor of a memory names as replaced: it, and for a fact what it had replaced itself, to
    which no chain of rows leads where whatever had replaced the fact has left."""
    return (source.id, *source.supersedes) if source.kind is Kind.FACT else (source.id,)


def _merge_facts(fact: Memory, same: Memory) -> Memory:
    """Merge two facts that say the same: they come back as one, which knows what the other one knew, for nothing else
    is looked at when it leaves. ``same``: the one that was found before."""
    if fact.id == same.id:
        return same
    other, one = sorted((same, fact), key=lambda found: found.status not in (Status.INBOX, Status.RESOLVED))
    known = one
    for statement in with_room_for(one, statements_of(other), other.text):
        known = with_statement(known, statement)
    named = (i for i in named_by(other) if i not in (one.id, *one.supersedes))
    return replace(known, supersedes=(*one.supersedes, *named))


def _said_key(memory: Memory) -> tuple[Kind, str]:
    """Give a key for what a memory says. A fact is kept once, whatever row says it."""
    return memory.kind, place_of(memory.text) if memory.kind is Kind.FACT else memory.id


def _in_order(memories: Iterable[Memory]) -> tuple[Memory, ...]:
    """Sort memories in the order of the conversations."""

    def place(memory: Memory) -> tuple[str, int, str, str]:
        origin = memory.provenance
        return origin.session_id or "", origin.seq_from or 0, memory.observed_at, memory.id

    return tuple(sorted(memories, key=place))
