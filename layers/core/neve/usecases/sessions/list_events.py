"""E2 GET: the log in seq order."""

from __future__ import annotations

from dataclasses import dataclass

from neve.domain.errors import not_found
from neve.domain.records import Event
from neve.scope import SessionScope
from neve.store import rows


@dataclass(frozen=True, slots=True)
class EventPage:
    """``covers``: the seqs that a compaction has summarised; events inside it are ``archived``."""

    events: list[Event]
    covers: tuple[int, int] | None
    next_from_seq: int | None


def list_events(scope: SessionScope, from_seq: int, limit: int) -> EventPage:
    """Events ``from_seq`` and later, at most ``limit``. Raises session_not_found."""
    keys = scope.keys
    found = scope.ports.table.get_many([keys.session_head, keys.epoch])
    if keys.session_head not in found:
        raise not_found("session", scope.session)
    page = scope.ports.table.query(keys.log, between=keys.events(from_seq), limit=limit)
    events = [rows.read_event(item) for item in page.items]
    epoch = rows.read_epoch(found[keys.epoch])
    covers = (epoch.covers_from, epoch.covers_to) if epoch.covers_from and epoch.covers_to else None
    return EventPage(events, covers, events[-1].seq + 1 if page.cursor and events else None)
