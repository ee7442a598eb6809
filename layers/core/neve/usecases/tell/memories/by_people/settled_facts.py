"""Facts that are read once more, and of which a person has said something since they were read first
(docs/rules/retract.md#again)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from neve.domain.memories.fact_statements import stated_ranges
from neve.domain.memories.made_of import made_of
from neve.domain.memories.text import fingerprint
from neve.domain.observe.facts import StatedFact
from neve.domain.records.markers import SessionMarker
from neve.domain.records.memories import Kind, Memory, Status
from neve.domain.records.sessions import Span
from neve.domain.retract.outliving import in_their_words
from neve.domain.sessions.spans import meets
from neve.ports.table import Item
from neve.scope import SessionScope
from neve.store.memories import memories_of
from neve.usecases.tell.memories.by_people.deleted_facts import deleted_by_people, deleted_parts
from neve.usecases.tell.memories.fact_place import holds

_SETTLED = (Status.RESOLVED, Status.ARCHIVED)


def without_settled(
    scope: SessionScope, marker: SessionMarker, facts: Sequence[StatedFact], since: str
) -> list[StatedFact]:
    """Leave out of facts that were read again those that a person has settled: what is done, put away, or replaced by a
    person's word or by what they deleted; what rests on messages of which a person has deleted a fact, unless one is
    known that these had stated; and what is not known and rests on messages of which a person has corrected a fact:
    what those facts said before is not known any more. ``since``: begin of the ids of what may have been made of the
    session. A query, and six reads at most. Raises StoreUnavailable."""
    if not facts:
        return []
    table, keys = scope.ports.table, scope.keys
    wanted = list(dict.fromkeys(keys.fingerprint(fingerprint(fact.text)) for fact in facts))
    places = table.get_many(wanted)
    same = {memory.fingerprint: memory for memory in memories_of(table, keys, map(_holder, places.values()))}
    deleted = deleted_parts(scope, marker, since)
    left = [fact for fact in facts if not _meets(fact, deleted) or _had_stated(scope.session, fact, same)]
    new = [fact for fact in left if not _is_known(fact, same)]
    if not new:
        return left
    settled = _Settled.of(scope, same)
    own = memories_of(table, keys, (row.id for row in marker.live if row.kind is Kind.FACT))
    reworded = (memory.provenance for memory in own if memory.corrected)
    corrected = [part for origin in reworded for part in made_of(origin, scope.session)]
    gone = [fact for fact in new if settled.has(fact) or _meets(fact, corrected)]
    return [fact for fact in left if fact not in gone]


def _holder(place: Item) -> str:
    return str(place["memory_id"])


def _is_known(fact: StatedFact, same: Mapping[str, Memory]) -> bool:
    held = fingerprint(fact.text)
    return held in same and holds(same[held], held)


def _had_stated(session: str, fact: StatedFact, same: Mapping[str, Memory]) -> bool:
    """Say whether the row that last held its place stood by the same messages, too: then it is no deleted one."""
    known = same.get(fingerprint(fact.text))
    return known is not None and _meets(fact, [span for one, span in stated_ranges(known) if one == session])


@dataclass(frozen=True)
class _Settled:
    """The rows that settle facts. ``same``: those that last held the places, by fingerprint; ``newer``: what took the
    place of those that were replaced, by its id; ``deleted``: ids of what a person has deleted of that."""

    same: Mapping[str, Memory]
    newer: Mapping[str, Memory]
    deleted: frozenset[str]

    @classmethod
    def of(cls, scope: SessionScope, same: Mapping[str, Memory]) -> _Settled:
        newer = _replacing(scope, same.values())
        missing = {fact.superseded_by for fact in same.values() if fact.superseded_by is not None} - newer.keys()
        return cls(same, newer, deleted_by_people(scope, sorted(missing)))

    def has(self, fact: StatedFact) -> bool:
        known = self.same.get(fingerprint(fact.text))
        if known is None:
            return False
        by = self.newer.get(known.superseded_by or "")
        replaced = known.superseded_by in self.deleted or (by is not None and in_their_words(by))
        return known.status in _SETTLED or replaced


def _meets(fact: StatedFact, parts: Sequence[Span]) -> bool:
    return meets(parts, (fact.seq_from, fact.seq_to))


def _replacing(scope: SessionScope, facts: Iterable[Memory]) -> dict[str, Memory]:
    """Read what took the place of those that were replaced, by its id."""
    ids = {fact.superseded_by: None for fact in facts if fact.superseded_by is not None}
    return {memory.id: memory for memory in memories_of(scope.ports.table, scope.keys, ids)}
