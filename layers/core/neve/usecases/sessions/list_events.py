"""E2 GET: the log in seq order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from neve.domain.errors import not_found
from neve.domain.metadata import has_all
from neve.domain.records.sessions import Event, Spans
from neve.scope import SessionScope
from neve.store import rows
from neve.store.sessions.thinking import read_thinking, shown_thinking, with_thinking

_ANY: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class EventPage:
    """``covers``: the seqs that a compaction has summarised; events inside it are ``archived``. ``removed``: those of
    them that are gone for good, because their time was over. ``retracted``: what was taken
    back."""

    events: list[Event]
    covers: tuple[int, int] | None
    removed: tuple[int, int] | None
    next_from_seq: int | None
    retracted: Spans = ()


def list_events(scope: SessionScope, from_seq: int, limit: int, metadata: Mapping[str, str] = _ANY) -> EventPage:
    """Events ``from_seq`` and later, at most ``limit``, and of these the ones that have this ``metadata``. Raises
    session_not_found."""
    keys = scope.keys
    found = scope.ports.table.get_many([keys.head, keys.session_head, keys.epoch])
    if rows.hidden(rows.read_head(found.get(keys.head))) or not rows.is_there(found, keys.session_head):
        raise not_found("session", scope.session)
    page = scope.ports.table.query(keys.log, between=keys.events(from_seq), limit=limit)
    events = [rows.read_event(item) for item in page.items]
    shown = set(shown_thinking(rows.read_session(found[keys.session_head]))) & {event.seq for event in events}
    events = with_thinking(events, read_thinking(scope.ports.table, keys, shown))
    epoch = rows.read_epoch(found[keys.epoch])
    covers = (epoch.covers_from, epoch.covers_to) if epoch.covers_from and epoch.covers_to else None
    removed = (epoch.covers_from, epoch.removed_to) if epoch.covers_from and epoch.removed_to else None
    next_seq = events[-1].seq + 1 if page.cursor and events else None
    return EventPage([e for e in events if has_all(e.metadata, metadata)], covers, removed, next_seq, epoch.retracted)
