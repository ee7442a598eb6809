"""Lays out the rows of outgoing events. A row of the feed holds all events of one tenant that one batch of the table's
stream has told of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from neve.domain.outgoing.event import OutgoingEvent
from neve.ports.table import Expect, Item, Put
from neve.store.keys import Keys
from neve.store.rows import json_bytes, loaded_json

KEPT = timedelta(days=7)
"""The time for which an event can be read."""


def put_feed(keys: Keys, number: int, events: Sequence[OutgoingEvent], now: datetime) -> Put:
    """Make the put of the feed's row of a number that no other row has."""
    key = keys.feed_row(number)
    item: Item = {"pk": key.pk, "sk": key.sk, "type": "feed", "expires_at": int((now + KEPT).timestamp())}
    return Put(with_feed_events(item, events), Expect.ABSENT)


def with_feed_events(item: Item, events: Sequence[OutgoingEvent]) -> Item:
    """Return the row with these events in it."""
    return item | {"events": json_bytes([event.stored() for event in events]).decode()}


def read_feed_row(item: Item) -> list[OutgoingEvent]:
    return [OutgoingEvent.read(stored) for stored in loaded_json(item["events"])]
