"""Finds where in a log facts were said that a person has deleted: of their words nothing is left
(docs/rules/memories.md#delete)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from neve.domain.memories.fact_statements import MAX_REPEATED_FACTS
from neve.domain.records.markers import SessionMarker
from neve.domain.records.sessions import Span
from neve.ports.table import Item
from neve.scope import SessionScope, UserScope
from neve.store import rows
from neve.store.keys import DELETED_MEMORY
from neve.store.partitions import all_rows


def deleted_parts(scope: SessionScope, marker: SessionMarker, since: str) -> list[Span]:
    """Give the parts of the session's log that said facts which a person has deleted. ``since``: begin of the ids of
    what may have been made of it, but for the facts that its marker names as repeated, which may be older. One query
    and one read. Raises StoreUnavailable."""
    said = (part for left in _deleted(scope, marker, since) for part in _said_in(left, scope.session))
    return list(dict.fromkeys(said))


def _deleted(scope: SessionScope, marker: SessionMarker, since: str) -> Iterator[Item]:
    """Read what is left of deleted memories; where the session repeated more facts than the marker names, of all that
    were deleted."""
    table, keys = scope.ports.table, scope.keys
    if len(marker.retold) >= MAX_REPEATED_FACTS:
        yield from all_rows(table, keys.partition, prefix=DELETED_MEMORY)
        return
    yield from all_rows(table, keys.partition, between=keys.deleted_since(since))
    if marker.retold:
        yield from table.get_many([keys.deleted_memory(one) for one in marker.retold]).values()


def deleted_by_people(scope: UserScope, ids: Iterable[str]) -> frozenset[str]:
    """Give the ids of those of the memories that a person has deleted; an erasure is no person's word on them. Raises
    StoreUnavailable."""
    wanted = {scope.keys.deleted_memory(one): one for one in ids}
    found = scope.ports.table.get_many(list(wanted)) if wanted else {}
    return frozenset(wanted[key] for key, left in found.items() if rows.read_unsaid(left) is not None)


def _said_in(left: Item, session: str) -> list[Span]:
    return [(first, last) for one, first, last in rows.read_unsaid(left) or () if one == session]
