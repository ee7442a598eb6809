"""Facts that are read once more, and of which a person has said something since they were read first
(docs/rules/retract.md#again)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from neve.domain.memories.made_of import ranges_of
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
from neve.usecases.memories.fact_place import holds

_SETTLED = (Status.RESOLVED, Status.ARCHIVED)


def without_settled(scope: SessionScope, marker: SessionMarker, facts: Sequence[StatedFact]) -> list[StatedFact]:
    """Without what is done, put away, or replaced by a person's word; and without what is not known and rests on
    messages of which a person has corrected a fact: what that one said before is not known any more. Three reads at
    most. Raises StoreUnavailable."""
    table, keys = scope.ports.table, scope.keys
    wanted = list(dict.fromkeys(keys.fingerprint(fingerprint(fact.text)) for fact in facts))
    places = table.get_many(wanted) if wanted else {}
    same = {memory.fingerprint: memory for memory in memories_of(table, keys, map(_holder, places.values()))}
    new = [fact for fact in facts if not _is_known(fact, same)]
    if not new:
        return list(facts)
    newer = _replacing(scope, same.values())
    own = memories_of(table, keys, (row.id for row in marker.live if row.kind is Kind.FACT))
    corrected = [part for memory in own if memory.corrected for part in ranges_of(memory, scope.session)]
    settled = [fact for fact in new if _is_settled(same.get(fingerprint(fact.text)), newer) or _meets(fact, corrected)]
    return [fact for fact in facts if fact not in settled]


def _holder(place: Item) -> str:
    return str(place["memory_id"])


def _is_known(fact: StatedFact, same: Mapping[str, Memory]) -> bool:
    held = fingerprint(fact.text)
    return held in same and holds(same[held], held)


def _is_settled(same: Memory | None, newer: Mapping[str, Memory]) -> bool:
    """``same``: the row that last held its place, if any is known."""
    if same is None:
        return False
    by = newer.get(same.superseded_by or "")
    return same.status in _SETTLED or (by is not None and in_their_words(by))


def _meets(fact: StatedFact, parts: Sequence[Span]) -> bool:
    return meets(parts, (fact.seq_from, fact.seq_to))


def _replacing(scope: SessionScope, facts: Iterable[Memory]) -> dict[str, Memory]:
    """What took the place of those that were replaced, by its id."""
    ids = {fact.superseded_by: None for fact in facts if fact.superseded_by is not None}
    return {memory.id: memory for memory in memories_of(scope.ports.table, scope.keys, ids)}
