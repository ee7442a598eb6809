"""E2 GET: the log in seq order."""

from __future__ import annotations

from dataclasses import dataclass

from neve.domain.errors import not_found
from neve.domain.records import Event
from neve.store import rows
from neve.wiring import Ports, Tenant


@dataclass(frozen=True, slots=True)
class EventPage:
    """``covers``: the seqs that a compaction has summarised; events inside it are ``archived``."""

    events: list[Event]
    covers: tuple[int, int] | None
    next_from_seq: int | None


def list_events(ports: Ports, tenant: Tenant, user: str, session: str, from_seq: int, limit: int) -> EventPage:
    """Events ``from_seq`` and later, at most ``limit``. Raises session_not_found."""
    keys = tenant.keys
    found = ports.table.get_many([keys.session(user, session), keys.epoch(user, session)])
    if keys.session(user, session) not in found:
        raise not_found("session", session)
    first, last = keys.event(user, session, from_seq), keys.event(user, session, 9_999_999_999)
    page = ports.table.query(first.pk, between=(first.sk, last.sk), limit=limit)
    events = [rows.read_event(item) for item in page.items]
    epoch = rows.read_epoch(found[keys.epoch(user, session)])
    covers = (epoch.covers_from, epoch.covers_to) if epoch.covers_from and epoch.covers_to else None
    return EventPage(events, covers, events[-1].seq + 1 if page.cursor and events else None)
