"""Takes a user's events out of the feed, where they stand among those of the whole tenant: all of it is read, page by
page (docs/rules/events.md#erasure)."""

from __future__ import annotations

from neve.ports.engines import Ports
from neve.ports.table import Put, WriteOp, key_of
from neve.scope import UserData
from neve.store.outgoing import read_feed_row, with_feed_events
from neve.store.partitions import pages

PAGE = 200


def remove_events(data: UserData[Ports], behind: str, at_most: int) -> tuple[list[WriteOp], str, int]:
    """Look through the next page of the feed behind a sort key, behind an empty one the first. Return what writes its
    rows without the user's events, but for the ends of erasures; behind which row the next look goes on, no row behind
    the last page; and how many events go. Raises StoreUnavailable."""
    ops: list[WriteOp] = []
    removed = 0
    between = data.keys.jobs_behind(behind)
    page = next(pages(data.ports.table, data.keys.feed, between=between, page=min(PAGE, at_most)), [])
    for item in page:
        events = read_feed_row(item)
        left = [one for one in events if one.user_id != data.keys.user or one.type == "erasure.done"]
        if len(left) < len(events):
            removed += len(events) - len(left)
            ops.append(Put(with_feed_events(item, left)))
    return ops, str(key_of(page[-1]).sk) if page else "", removed
