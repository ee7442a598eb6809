"""Appends outgoing events to the feed of their tenant (docs/rules/events.md#feed).

The rows of a feed are numbered without a gap: a row is written only where there is none, behind the newest, so nobody
who has read up to one can find an earlier one later. That is why no cursor skips a writer that was slow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from neve.caching import CacheSpec
from neve.domain.outgoing.event import OutgoingEvent
from neve.ports.engines import Ports
from neve.ports.errors import Conflict
from neve.ports.table import Put, Table, key_of
from neve.store.keys import Keys, feed_number
from neve.store.outgoing import put_feed
from neve.store.transact import transact

NEWEST: CacheSpec[str, int] = CacheSpec("feed_newest", size=10_000, ttl=timedelta(hours=1))
"""The number of the newest row by tenant, as this process wrote it. Another process may have gone on, and then the row
behind it is there already. The time is far below that for which rows are kept: the row itself is still there."""
ROWS_A_DAY = 10**9
"""A feed of which no row is left begins at the day: above every number that it can have had."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def nothing_beside(_number: int) -> list[Put]:
    """Write nothing beside the row."""
    return []


def append_feed(
    ports: Ports, keys: Keys, events: Sequence[OutgoingEvent], beside: Callable[[int], list[Put]] = nothing_beside
) -> int:
    """Append the events as one row, and return its number; ``beside`` gives what is written with it. Raises
    StoreUnavailable, and 409 ``conflict`` where other writers are faster each time; a repeat appends them once more."""
    known = ports.caches.of(NEWEST)

    def attempt() -> int:
        now, newest = ports.clock.now(), known.get(keys.tenant)
        number = (_newest(ports.table, keys, now) if newest is None else newest) + 1
        try:
            ports.table.write([put_feed(keys, number, events, now), *beside(number)])
        except Conflict:
            known.drop(keys.tenant)
            raise
        return known.put(keys.tenant, number)

    return transact(ports, attempt)


def _newest(table: Table, keys: Keys, now: datetime) -> int:
    """Give the number of the feed's newest row, were it expired: it is there until it is deleted. Without a row, that
    of the day."""
    found = table.query(keys.feed, reverse=True, limit=1).items
    return feed_number(key_of(found[0])) if found else (now - EPOCH).days * ROWS_A_DAY
