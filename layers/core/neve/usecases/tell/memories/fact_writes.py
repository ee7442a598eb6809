"""Facts that are decided one after the other, each on what those before it left behind, as the operations of one
transaction (docs/rules/facts.md#one-transaction)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from neve.domain.memories.fact_statements import (
    MAX_REPEATED_FACTS,
    first_statement,
    in_words_of,
    let_in_by,
    range_of,
    says_it_better,
    statement_of,
    with_statement,
)
from neve.domain.memories.live_rows import live_row
from neve.domain.memories.revised import revised, with_times_of
from neve.domain.memories.storage_decision import (
    FactCandidate,
    KnownFacts,
    Rules,
    StorageVerdict,
    correctable,
    decide,
    last_said,
    outweighs,
)
from neve.domain.memories.supersede import superseded
from neve.domain.memories.text import fingerprint
from neve.domain.memories.visibility import being_replaced, born
from neve.domain.memories.written_memory import WrittenMemory, record_of
from neve.domain.records.markers import LiveRow
from neve.domain.records.memories import Kind, Memory, Provenance, Scope, Statement, Status, Trust, Via
from neve.domain.same.meaning import place_of
from neve.domain.times import iso
from neve.ports.table import Item, Key, WriteOp
from neve.scope import UserScope
from neve.store import rows
from neve.store.keys import UserKeys
from neve.usecases.tell.memories.fact_place import holds, place_key
from neve.usecases.tell.memories.stored_fact import StoredFact

MAX_FOLLOWED = 4
"""*Chosen*: statements that took one another's place between two of a fact; a read each."""
_TRUST: Mapping[str, Trust] = {"assistant": "assistant", "tool": "tool", "import": "import"}


def rows_of_facts(keys: UserKeys, candidates: Iterable[FactCandidate]) -> list[Key]:
    """List the rows to read first: the places of what is said, and what the facts are about."""
    wanted: dict[Key, None] = {}
    for one in candidates:
        wanted[place_key(keys, one.text)] = None
        wanted |= {keys.memory(i): None for i in (one.target_id, *one.also) if i}
    return list(wanted)


def with_holders(scope: UserScope, found: Mapping[Key, Item]) -> dict[Key, Item]:
    """Add the facts that say the same, in one more read where there are any."""
    holders = [scope.keys.memory(str(item["memory_id"])) for item in found.values() if item["type"] == "place"]
    missing = [key for key in holders if key not in found]
    return {**found, **(scope.ports.table.get_many(missing) if missing else {})}


def with_successors(scope: UserScope, found: Mapping[Key, Item]) -> dict[Key, Item]:
    """Add what has taken the place of those that were replaced, in a read more for each step; none where none was."""
    known = dict(found)
    for _ in range(MAX_FOLLOWED):
        replaced = (item["superseded_by"] for item in known.values() if item.get("superseded_by"))
        missing = [key for key in dict.fromkeys(map(scope.keys.memory, map(str, replaced))) if key not in known]
        if not missing:
            break
        known |= scope.ports.table.get_many(missing)
    return known


@dataclass
class FactWrites:
    """The writes of one call. ``found``: the rows of ``with_holders``, and of ``with_successors`` where statements may
    come late. ``write_id``: of the call (ADR 4). ``counts`` False: of words that were counted when they were read
    before. ``changed``: the rows as they are to be written, by id; their versions are those that were read.
    ``repeated``: ids of the facts that a log repeated and another one had stated."""

    scope: UserScope
    gen: int
    found: Mapping[Key, Item]
    via: Via
    write_id: str
    counts: bool = True
    changed: dict[str, Memory] = field(default_factory=dict)
    repeated: dict[str, None] = field(default_factory=dict)
    _holders: dict[str, str] = field(default_factory=dict)

    def take(self, candidate: FactCandidate, new_id: str) -> StoredFact:
        """Decide what becomes of a candidate, and note the rows to write. ``new_id``: its id, should it be kept as a
        row of its own."""
        now = iso(self.scope.ports.clock.now())
        candidate = replace(candidate, origin=_with_trust(candidate.origin))
        policy = self.scope.policy
        at = candidate.observed_at or now
        target, place = self._target(candidate, at), place_of(candidate.text)
        same = None if candidate.audience else self._same(place, candidate, target, at)  # never another speaker's
        known = KnownFacts(same, target)
        rules = Rules(policy.min_importance, policy.review_mode, policy.write_tools)
        verdict = decide(candidate, known, rules, at, self.via)
        taken = self._taken(candidate, known, at) if verdict.decision == "superseded" else ()
        row = self._row(candidate, known, verdict, new_id, now, taken)
        if row is not None:
            self._put(row)
            if place_of(row.text) == place and row.has_place:  # else it says what it said before, in its own place
                self._holders[place] = row.id
        if row is not None:
            for old in taken:
                self._put(superseded(old, by=row.id, reason=verdict.judged.reason, at=now))
        return StoredFact(self.changed[row.id] if row else None, verdict)

    def ops(self) -> list[WriteOp]:
        keys = self.scope.keys
        ops: list[WriteOp] = [rows.put_memory(keys, memory) for memory in self.changed.values()]
        for held, memory_id in self._holders.items():
            item = self.found.get(keys.place(held))
            memory = self.changed[memory_id]
            if place_of(memory.text) == held and (item is None or item["memory_id"] != memory_id):
                ops.append(rows.put_place(keys.place(held), memory_id, item))
        return ops

    def live(self, session: str, live: Sequence[LiveRow]) -> tuple[LiveRow, ...]:
        """Give a session's live rows with the new ones, and without what they superseded."""
        gone = {m.id for m in self.changed.values() if m.status is Status.SUPERSEDED}
        return (*(row for row in live if row.id not in gone), *self.new_live(session))

    def new_live(self, session: str) -> list[LiveRow]:
        return [
            live_row(m)
            for m in self.changed.values()
            if m.version == 0 and m.session_id == session and m.scope is Scope.SESSION
        ]

    def repeated_with(self, before: Sequence[str]) -> tuple[str, ...]:
        """Give the repeated facts that a session's marker names, with those of now."""
        return tuple(dict.fromkeys((*before, *self.repeated)))[:MAX_REPEATED_FACTS]

    def left_elsewhere(self, own: Collection[str]) -> list[WriteOp]:
        """Take superseded facts of other sessions than ``own`` out of the live lists there. A read more where there are
        any."""
        gone = (m for m in self.changed.values() if m.status is Status.SUPERSEDED and m.scope is Scope.SESSION)
        sessions = sorted({m.session_id for m in gone if m.session_id is not None}.difference(own))
        places = [self.scope.keys.of_session(session).marker for session in sessions]
        found = self.scope.ports.table.get_many(places) if places else {}
        markers = [rows.read_marker(item) for item in found.values()]
        moved = [replace(marker, live=self.live(marker.session_id, marker.live)) for marker in markers]
        return [
            rows.put_marker(self.scope.keys, marker)
            for marker, before in zip(moved, markers, strict=True)
            if marker != before
        ]

    # --- what is known --------------------------------------------------------------------------

    def _same(self, held: str, candidate: FactCandidate, target: Memory | None, at: str) -> Memory | None:
        """Find the fact that says the same; also one that something said later than ``at`` has taken the place of: the
        statement is one of those that this was said after, and is counted with them. Whoever saw a fact, and says that
        it does not hold in other words, is not told that these are the same."""
        item = self.found.get(self.scope.keys.place(held))
        memory_id = self._holders.get(held) or (str(item["memory_id"]) if item else None)
        memory = self._memory(memory_id)
        if memory is None or (candidate.corrects and target is not None and candidate.target_id == memory.id):
            return None
        if holds(memory, held):
            return memory
        return memory if place_of(memory.text) == held and self._said_later(memory, at) else None

    def _target(self, candidate: FactCandidate, at: str) -> Memory | None:
        """Find the fact that a candidate is about; for a candidate that corrects one that is replaced already, what has
        taken its place."""
        memory = self._memory(candidate.target_id)
        if memory is None or memory.fingerprint == fingerprint(candidate.text):
            return None
        if memory.status is not Status.SUPERSEDED:
            return memory if correctable(memory) else None
        newer = self._said_later(memory, at)
        return memory if newer and candidate.relation == "reinforces" else newer

    def _taken(self, candidate: FactCandidate, known: KnownFacts, at: str) -> tuple[Memory, ...]:
        """Give what a candidate takes the place of: what it is about, and what else ends with that, where it weighs as
        much."""
        targets = (self._target(replace(candidate, target_id=one), at) for one in candidate.also)
        also = [one for one in targets if one and outweighs(candidate, one, at)]
        keep = known.same.id if known.same else None
        return tuple({one.id: one for one in (known.target, *also) if one and one.id != keep}.values())

    def _said_later(self, memory: Memory, at: str) -> Memory | None:
        """Give what has taken the place of a fact, where it was said later than ``at``."""
        newer = self._in_its_place(memory)
        return newer if newer and newer.id != memory.id and last_said(newer) > at else None

    def _in_its_place(self, memory: Memory) -> Memory | None:
        """Follow what took a fact's place to the last one; None where that is no fact that holds, or was not read."""
        seen = {memory.id}
        while memory.status is Status.SUPERSEDED:
            after = self._memory(memory.superseded_by)
            if after is None or after.id in seen:
                return None
            memory, seen = after, seen | {after.id}
        return memory if correctable(memory) else None

    def _memory(self, memory_id: str | None) -> Memory | None:
        """Give a memory as the candidates before left it; none that a replacement has brought or is about to take
        away."""
        if memory_id is None:
            return None
        item = self.found.get(self.scope.keys.memory(memory_id))
        memory = self.changed.get(memory_id) or (rows.read_memory(item) if item else None)
        seen = memory is not None and not being_replaced(memory) and born(memory.born_gen, self.gen)
        return memory if seen else None

    # --- what is written ------------------------------------------------------------------------

    def _put(self, memory: Memory) -> None:
        self.changed[memory.id] = replace(memory, write_id=self.write_id)

    def _row(
        self,
        candidate: FactCandidate,
        known: KnownFacts,
        verdict: StorageVerdict,
        new_id: str,
        now: str,
        taken: Sequence[Memory],
    ) -> Memory | None:
        """Make the row to write; None for a fact that is rejected."""
        again = known.same or (known.target if verdict.decision == "reinforced" else None)
        if verdict.decision == "rejected":
            return None
        if again is None:
            fact = _record(self.scope, candidate, new_id, now, self.gen)
        else:
            self._note_repeated(again, candidate)
            again = replace(again, last_used_at=now, about=tuple(dict.fromkeys((*again.about, *candidate.about))))
            again = with_times_of(again, candidate, candidate.observed_at or now, now)
            if verdict.decision == "reinforced":
                again = replace(again, person_at=now) if candidate.by_a_person else again
                statement = statement_of(candidate.origin, candidate.observed_at or now, candidate.text)
                counted = with_statement(again, statement, counts=self.counts)
                return self._in_better_words(counted, statement, candidate, now)
            fact = self._let_in(again, candidate, now)
        status = Status.INBOX if verdict.decision == "inbox" else Status.ACTIVE
        takes = (old.id for old in taken)
        return replace(fact, status=status, judged=verdict.judged, supersedes=(*fact.supersedes, *takes))

    def _in_better_words(self, fact: Memory, statement: Statement, candidate: FactCandidate, now: str) -> Memory:
        """Let the words of a new statement stand for the fact, where they say more, or are a person's."""
        if candidate.keeps_words or not says_it_better(statement, fact):
            return fact
        reworded = in_words_of(fact, statement, candidate.origin)
        return revised(replace(reworded, tokens=self.scope.count(reworded.text)), now)

    def _note_repeated(self, fact: Memory, candidate: FactCandidate) -> None:
        here, before = range_of(statement_of(candidate.origin, "")), range_of(first_statement(fact))
        if here is not None and (before is None or before[0] != here[0]):
            self.repeated[fact.id] = None

    def _let_in(self, waiting: Memory, candidate: FactCandidate, now: str) -> Memory:
        """Take a fact out of the inbox, on the word of the candidate that said it last."""
        at = candidate.observed_at or now
        let_in = replace(
            let_in_by(waiting, candidate.origin, at, counts=self.counts),
            confidence=max(waiting.confidence, candidate.sure),
            person_at=now if candidate.by_a_person else at,
        )
        return revised(let_in, now)


def _record(scope: UserScope, candidate: FactCandidate, memory_id: str, now: str, gen: int) -> Memory:
    written = WrittenMemory(
        text=candidate.text,
        kind=Kind.FACT,
        session_id=candidate.origin.session_id,
        scope=candidate.scope,
        priority=candidate.priority,
        importance=candidate.importance,
        confidence=candidate.sure,
        label=candidate.label,
        group=candidate.group,
        tags=candidate.tags,
        metadata=candidate.metadata,
        never_recall=candidate.never_recall,
        valid_from=candidate.valid_from,
        valid_until=candidate.valid_until,
        written_by=candidate.written_by,
        observed_at=candidate.observed_at,
        category=candidate.category,
        timezone=candidate.timezone,
        about=candidate.about,
        audience=candidate.audience,
    )
    return record_of(written, memory_id, candidate.origin, now, gen, scope.count)


def _with_trust(origin: Provenance) -> Provenance:
    return origin if origin.trust else replace(origin, trust=_TRUST.get(origin.by, "user"))
