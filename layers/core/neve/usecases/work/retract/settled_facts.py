"""Finds the parts of a log of which a person has settled a fact: nothing is stated of them when they are read again
(docs/rules/retract.md#again)."""

from __future__ import annotations

from collections.abc import Sequence

from neve.domain.memories.fact_statements import stated_ranges
from neve.domain.memories.made_of import ranges_of
from neve.domain.observe.facts import StatedFact
from neve.domain.records.markers import SessionMarker
from neve.domain.records.memories import Kind, Memory, Status
from neve.domain.records.sessions import Span
from neve.domain.sessions.spans import meets
from neve.scope import SessionScope
from neve.store import rows
from neve.store.memories import memories_of
from neve.store.partitions import all_rows


def without_settled(
    scope: SessionScope, marker: SessionMarker, facts: Sequence[StatedFact], since: str
) -> list[StatedFact]:
    """Leave out the facts of messages of which a person has corrected a fact, marked one as done, put one away or
    deleted one. ``since``: begin of the ids of what may have been made of the session, but for the facts that its
    marker names as repeated. One query and two reads. Raises StoreUnavailable."""
    if not facts:
        return []
    table, keys = scope.ports.table, scope.keys
    deleted = [*all_rows(table, keys.partition, between=keys.deleted_since(since))]
    if marker.retold:
        deleted += table.get_many([keys.deleted_memory(one) for one in marker.retold]).values()
    settled = [
        (first, last) for left in deleted for one, first, last in rows.read_unsaid(left) or () if one == scope.session
    ]
    known = [*(row.id for row in marker.live if row.kind is Kind.FACT), *marker.retold]
    for fact in memories_of(table, keys, known):
        settled += _settled_in(fact, scope.session)
    return [fact for fact in facts if not meets(settled, (fact.seq_from, fact.seq_to))]


def _settled_in(fact: Memory, session: str) -> list[Span]:
    if fact.corrected:
        return [*ranges_of(fact, session)]
    if fact.status in (Status.RESOLVED, Status.ARCHIVED):
        return [span for one, span in stated_ranges(fact) if one == session]
    return []
