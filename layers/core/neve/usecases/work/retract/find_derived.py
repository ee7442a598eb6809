"""Finds what becomes of a user's memories when a part of a log is taken back: the rows that
``domain/retract/derived.py`` needs for it (docs/rules/retract.md#derived)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from neve.domain.memories.fact_statements import MAX_REPEATED_FACTS, first_statement, range_of, statements_of
from neve.domain.memories.made_of import Sources
from neve.domain.records.markers import SessionMarker
from neve.domain.records.memories import Kind, Memory, Statement
from neve.domain.records.retractions import Retraction
from neve.domain.records.sessions import SessionHead, Span, Spans
from neve.domain.retract.derived import Consequences, Elsewhere, consequences, is_touched, touched, unknown_sources
from neve.domain.sessions.transcript import event_text
from neve.domain.times import parse
from neve.domain.words import content_words
from neve.scope import SessionScope
from neve.store import rows
from neve.store.incarnation import UserErased, still_there
from neve.store.keys import MEMORY, deleted_memory_id
from neve.store.memories import memories_of
from neve.store.partitions import all_rows
from neve.usecases.core.memories.candidates import READ_BATCH_SIZE
from neve.usecases.tell.memories.fact_place import place_key
from neve.usecases.work.retract.retracting import Retracting

SKEW = timedelta(hours=1)
"""A memory's id holds the time of the worker that made it, the session's start that of the process that opened it."""


@dataclass(frozen=True)
class Weighed:
    """The outcome, with the rows that it was found by. ``touched``: ids of everything that may hold words of what is to
    be erased; ``retained``: facts of which an erasure leaves something, as it leaves them; ``heirs``: facts that
    replaced others which it takes away, as they name what those had replaced. ``memories``: the rows as they were read,
    by id. ``sessions``: by id, those in whose logs something was said."""

    outcome: Consequences
    touched: frozenset[str]
    retained: tuple[Memory, ...]
    heirs: tuple[Memory, ...]
    memories: Mapping[str, Memory]
    sessions: Mapping[str, SessionHead]


def find_derived(scope: SessionScope, incarnation: int, retraction: Retraction) -> Weighed:
    """Weigh what becomes of the user's memories. Everything that is taken back of the session is looked at, by
    whichever of its retractions: a job that finds nothing left to do does nothing. Raises UserErased."""
    keys = scope.keys
    found = scope.ports.table.get_many([keys.head, keys.session_head, keys.marker])
    head = rows.read_head(found.get(keys.head))
    still_there(head, incarnation)
    if keys.session_head not in found or keys.marker not in found:
        raise UserErased
    weighing = _Weighing(scope, rows.read_session(found[keys.session_head]), head.gen)
    weighing.read(rows.read_marker(found[keys.marker]))
    return weighing.weighed(retraction)


def weigh(work: Retracting) -> Weighed:
    """Find what becomes of the memories by now, and note what is to be erased of them. Raises UserErased."""
    seen = find_derived(work.scope, work.incarnation, work.retraction)
    work.touched, work.since = seen.touched, made_since(work.scope, seen.sessions[work.scope.session])
    return seen


def made_since(scope: SessionScope, session: SessionHead) -> str:
    """Give the begin of the ids of what may have been made of the session."""
    return scope.ports.ids.ulid(parse(session.started_at) - SKEW)[:10]


@dataclass
class _Weighing:
    """The rows as they are read. ``known``: the rows that were read. ``heads``: of sessions, this one's included; one
    that is not there has taken nothing back. ``gone``: what deleted sources of reflections had been made of, by id.
    ``outliving``: ids of those rows that a person last wrote, and of which nothing is deleted."""

    scope: SessionScope
    session: SessionHead
    gen: int
    known: dict[str, Memory] = field(default_factory=dict)
    heads: dict[str, SessionHead] = field(default_factory=dict)
    unsupported: frozenset[tuple[str, Statement]] = frozenset()
    gone: dict[str, Sources | None] = field(default_factory=dict)
    outliving: frozenset[str] = frozenset()

    def read(self, marker: SessionMarker) -> None:
        """Read the user's rows since the session began: none that is older was made of it, but for the facts that the
        marker names, though it may be what such a row had replaced."""
        table, keys = self.scope.ports.table, self.scope.keys
        since = made_since(self.scope, self.session)
        if len(marker.retold) < MAX_REPEATED_FACTS:
            found = all_rows(table, keys.partition, between=keys.memories_since(since))
        else:
            found = all_rows(table, keys.partition, prefix=MEMORY)
        self._add(map(rows.read_memory, found))
        self._add(by_ids(self.scope, [i for i in marker.retold if i not in self.known]))
        self.heads = {self.session.session_id: self.session}
        self._read_gone(since)

    def weighed(self, retraction: Retraction) -> Weighed:
        asked: set[str] = set()
        self.unsupported = frozenset(self._unsupported())
        while True:
            self.outliving = self._outliving()
            outcome = self._outcome(self.session.retracted)
            missing = sorted(unknown_sources({i: self.known[i] for i in outcome.touched}) - self.known.keys() - asked)
            missing = missing or sorted(_facts_in_their_places(self.scope, outcome) - self.known.keys() - asked)
            others = sorted(outcome.asked - self.heads.keys())
            if not missing and not others:
                break
            asked |= set(missing)
            self._add(by_ids(self.scope, missing))
            self._read_heads(others)
        if not retraction.erases:
            return Weighed(outcome, frozenset(), (), (), self.known, self.heads)
        deleted = touched(self.known, self.scope.session, (retraction.span,), self._elsewhere())
        retained = tuple(fact for fact in outcome.retained if fact.id in deleted)
        gone = {i: self.known[i] for i in deleted if self.known[i].kind is Kind.FACT}
        return Weighed(outcome, deleted, retained, tuple(self._heirs(gone)), self.known, self.heads)

    def _heirs(self, gone: Mapping[str, Memory]) -> Iterator[Memory]:
        for fact in self.known.values():
            if fact.kind is Kind.FACT and fact.id not in gone:
                before = [i for one in fact.supersedes if one in gone for i in gone[one].supersedes]
                named = tuple(dict.fromkeys((*fact.supersedes, *before)))
                if named != fact.supersedes:
                    yield replace(fact, supersedes=named)

    def _outcome(self, spans: Spans) -> Consequences:
        return consequences(self.known.values(), self.scope.session, spans, self.gen, self._elsewhere())

    def _elsewhere(self) -> Elsewhere:
        retracted = {name: head.retracted for name, head in self.heads.items()}
        return Elsewhere(retracted, self.unsupported, self.gone, self.outliving)

    def _outliving(self) -> frozenset[str]:
        theirs = frozenset(memory.id for memory in self.known.values() if memory.corrected)
        elsewhere = replace(self._elsewhere(), outliving=frozenset())
        return theirs and theirs - touched(self.known, self.scope.session, self.session.erased, elsewhere)

    def _add(self, memories: Iterable[Memory]) -> None:
        self.known |= {memory.id: memory for memory in memories}

    def _read_gone(self, since: str) -> None:
        """Read what is left of sources since the session began that have no row, or one that came with an import."""
        keys, (first, _) = self.scope.keys, self.scope.keys.deleted_since(since)
        reflections = (memory for memory in self.known.values() if memory.kind is Kind.REFLECTION)
        sources = {i for memory in reflections for i in memory.supersedes if not self._is_itself(i)}
        wanted = [key for key in map(keys.deleted_memory, sorted(sources)) if key.sk >= first]
        for start in range(0, len(wanted), READ_BATCH_SIZE):
            found = self.scope.ports.table.get_many(wanted[start : start + READ_BATCH_SIZE])
            self.gone |= {deleted_memory_id(key): rows.read_left_sources(left) for key, left in found.items()}

    def _is_itself(self, source: str) -> bool:
        return source in self.known and self.known[source].provenance.by != "import"

    def _read_heads(self, sessions: Sequence[str]) -> None:
        for start in range(0, len(sessions), READ_BATCH_SIZE):
            named = {self.scope.keys.of_session(one).session_head: one for one in sessions[start:][:READ_BATCH_SIZE]}
            found = self.scope.ports.table.get_many(list(named))
            for key, session in named.items():
                there = rows.read_session(found[key]) if key in found else SessionHead(session, "closed", "")
                self.heads[session] = there

    # --- whose words they are -------------------------------------------------------------------

    def _unsupported(self) -> Iterator[tuple[str, Statement]]:
        """Find statements of facts whose words are those of a deleted message: what that one said and the statement
        does not say has to go. Facts that came back of such a one without having been looked at like this are among
        them."""
        if not self.session.erased:
            return
        by_text: dict[str, list[Memory]] = {}
        for memory in self.known.values():
            by_text.setdefault(memory.text, []).append(memory)
        for fact in self.known.values():
            if fact.kind is Kind.FACT and is_touched(fact, self.session.session_id, self.session.erased):
                said = list(_said_elsewhere(fact, _in_the_same_words(fact, by_text[fact.text])))
                if said:  # most facts were said once: nothing is to be read of them
                    yield from self._not_saying(said, self._words_of(fact))

    def _not_saying(
        self, said: Sequence[tuple[Memory, Statement]], deleted: frozenset[str]
    ) -> Iterator[tuple[str, Statement]]:
        for fact, statement in said:
            held = content_words(statement.text or fact.text) & deleted
            if range_of(statement) is not None and held - self._words(statement):
                yield fact.id, statement

    def _words_of(self, fact: Memory) -> frozenset[str]:
        """Give the words of a fact as its first statement has them, or what a person wrote it over."""
        over = [self._said(session, (first, last)) for session, first, last in fact.written_over]
        return self._words(first_statement(fact)).union(*over)

    def _words(self, statement: Statement) -> frozenset[str]:
        """Give the words of the events in a statement's range."""
        place = range_of(statement)
        return self._said(*place) if place is not None else frozenset()

    def _said(self, session: str, span: Span) -> frozenset[str]:
        first, last = span
        keys = self.scope.keys.of_session(session)
        log = all_rows(self.scope.ports.table, keys.log, between=keys.events(first, last))
        return content_words(" ".join(event_text(rows.read_event(item)) for item in log))


def _in_the_same_words(fact: Memory, same: Sequence[Memory]) -> list[Memory]:
    """Give the fact, what came back of it, and what came back of that. ``same``: what has its text."""
    found = {fact.id: fact}
    size = 0
    while size < len(found):
        size = len(found)
        found |= {one.id: one for one in same if found.keys() & set(one.supersedes)}
    return list(found.values())


def _said_elsewhere(fact: Memory, same: Sequence[Memory]) -> Iterator[tuple[Memory, Statement]]:
    """Give the statements of ``same`` but for the first one of the fact itself."""
    for one in same:
        for statement in statements_of(one):
            if one.id != fact.id or statement != first_statement(fact):
                yield one, statement


def _facts_in_their_places(scope: SessionScope, outcome: Consequences) -> set[str]:
    """Give the ids of the facts that are in the places of those that are to come back: one that is older may have been
    edited since to say the same."""
    places = [place_key(scope.keys, fact.text) for fact in outcome.facts_back]
    found = scope.ports.table.get_many(places) if places else {}
    return {str(item["memory_id"]) for item in found.values()}


def by_ids(scope: SessionScope, ids: Sequence[str]) -> Iterable[Memory]:
    for start in range(0, len(ids), READ_BATCH_SIZE):
        yield from memories_of(scope.ports.table, scope.keys, ids[start : start + READ_BATCH_SIZE])
