"""Reads the feed of a tenant's outgoing events (docs/rules/events.md#feed)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from neve.domain.cursors import make_cursor, number_in, read_cursor
from neve.domain.outgoing.event import OutgoingEvent
from neve.ports.table import key_of
from neve.scope import TenantScope
from neve.store.keys import feed_number
from neve.store.outgoing import read_feed_row
from neve.store.partitions import pages
from neve.store.rows import live

PAGE = 50
"""Rows of one read."""
PAGES_READ = 10
"""*Chosen*: pages that one call looks through for events that its filters let through."""


@dataclass(frozen=True, slots=True)
class FeedPage:
    """A part of the feed. ``cursor``: where the next call goes on, whether or not there is more by now. ``more``: there
    is something behind it already. ``missed``: events behind the given cursor may have been removed before this
    call."""

    events: list[OutgoingEvent]
    cursor: str
    more: bool
    missed: bool


def read_feed(
    scope: TenantScope, limit: int, after: str | None, types: Collection[str] = (), user_id: str | None = None
) -> FeedPage:
    """Read up to ``limit`` events behind ``after``, None: from the oldest that is kept, in the order of the feed. No
    ``types``: all of them. Where the filters let little through a page may be short or empty, and its cursor goes on.
    Raises InvalidCursor, StoreUnavailable."""
    number, seen = _position(scope, after)
    behind = number
    events: list[OutgoingEvent] = []
    more, missed, first = False, False, True
    now, between = scope.ports.clock.now(), scope.keys.feed_from(number)
    for read, page in enumerate(pages(scope.ports.table, scope.keys.feed, between=between, page=PAGE)):
        more = read == PAGES_READ
        for item in () if more else page:
            row = feed_number(key_of(item))
            missed = missed or (first and after is not None and row > behind + 1)
            first = False
            own = read_feed_row(item) if live(item, now) else []
            start = seen if row == number else 0
            for at, event in enumerate(own[start:], start=start + 1):
                if len(events) == limit:
                    more = True
                    break
                number, seen = row, at
                if (not types or event.type in types) and user_id in (None, event.user_id):
                    events.append(event)
            if more:
                break
            number, seen = row, len(own)
        if more:
            break
    return FeedPage(events, make_cursor(_listed(scope), [str(number), str(seen)]), more, missed)


def _position(scope: TenantScope, after: str | None) -> tuple[int, int]:
    if after is None:
        return 0, 0
    number, seen = read_cursor(_listed(scope), after, 2)
    return number_in(number), number_in(seen)


def _listed(scope: TenantScope) -> bytes:
    return f"feed/{scope.tenant.id}".encode()
