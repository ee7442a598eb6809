"""Read the part of a log that a summary is made of (docs/rules/compact.md#order)."""

from __future__ import annotations

from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.sessions import Event
from neve.scope import SessionScope
from neve.store import rows
from neve.store.partitions import all_rows


class Overtaken(Exception):
    """The epoch has moved, or retention has removed events, since the epoch was read: it is to be read again."""


def read_log(scope: SessionScope, epoch: SessionEpoch, first: int, last: int, *, behind: int = 0) -> list[Event]:
    """Read the events from ``first`` to ``last``, both included, but for those of which ``epoch`` says that retention
    has removed them, and as many as there are of the next ``behind``. The log is read after the epoch: raises Overtaken
    where more of it is gone by then. Raises StoreUnavailable."""
    found = all_rows(scope.ports.table, scope.keys.log, between=scope.keys.events(first, last + behind))
    events = list(map(rows.read_event, found))
    if sum(event.seq <= last for event in events) < last - max(first, epoch.removed_to + 1) + 1:
        raise Overtaken
    return events
