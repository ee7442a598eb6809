"""Tells of changes outside: the outbox's part in outgoing events (docs/rules/events.md). No call pays for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from neve.domain.outgoing.event import OutgoingEvent
from neve.domain.times import iso
from neve.ports.engines import Ports
from neve.ports.queue import QueueName
from neve.ports.table import Item, Key, Put
from neve.store import rows
from neve.store.keys import NOBODY, Keys, UserKeys
from neve.store.outgoing import new_waiting, read_webhooks
from neve.store.stream_records import Change
from neve.store.transact import MAX_ROWS, batches
from neve.usecases.work.outgoing.append_feed import append_feed
from neve.usecases.work.outgoing.derive_events import derive_event
from neve.usecases.work.outgoing.wake import wake_message

TOLD_OF_ERASED = ("erasure.done", "job.failed")
Derived = tuple[UserKeys, OutgoingEvent]


def derived_events(ports: Ports, changes: Sequence[Change]) -> list[Derived]:
    """Return the events of the changes, and whose they are, in the order of the changes."""
    at = iso(ports.clock.now())
    return [one for change in changes if (one := derive_event(change, at)) is not None]


def rows_of_events(events: Sequence[Derived]) -> set[Key]:
    """Return the keys of the rows that ``announce`` needs; the outbox reads them with what it reads anyway."""
    return {keys.head for keys, _ in events if keys.user != NOBODY} | {keys.webhooks for keys, _ in events}


def announce(ports: Ports, events: Sequence[Derived], found: Mapping[Key, Item]) -> None:
    """Append the events to the feeds of their tenants, and with them what their webhooks are to be sent; then wake the
    workers that send it. ``found``: ``rows_of_events``. Raises StoreUnavailable; a repeat tells of them once more,
    under the same ids."""
    told: defaultdict[Keys, list[Derived]] = defaultdict(list)
    for keys, event in events:
        if _may_be_told(keys, event, found):
            told[Keys(keys.tenant)].append((keys, event))
    for tenant, own in told.items():
        _tell(ports, tenant, own, found)


def _tell(ports: Ports, tenant: Keys, events: Sequence[Derived], found: Mapping[Key, Item]) -> None:
    webhooks = read_webhooks(found.get(tenant.webhooks)).all
    lines: dict[tuple[UserKeys, str], None] = {}

    def rows_written(one: Derived) -> int:
        return sum(webhook.wants(one[1].type) for webhook in webhooks)

    for part in batches(events, rows_written, largest=MAX_ROWS):

        def beside(number: int, part: Sequence[Derived] = part) -> list[Put]:
            now = ports.clock.now()
            own = (new_waiting(keys, webhooks, number, at, event, now) for at, (keys, event) in enumerate(part))
            return [put for puts in own for put in puts]

        append_feed(ports, tenant, [event for _, event in part], beside)
        lines |= {(keys, one.id): None for keys, event in part for one in webhooks if one.wants(event.type)}
    if lines:
        ports.queue.send(QueueName.DELIVER, [wake_message(keys, webhook) for keys, webhook in lines])


def _may_be_told(keys: UserKeys, event: OutgoingEvent, found: Mapping[Key, Item]) -> bool:
    """Say whether an event is told of: not what an erasure removes row by row, of which its own end tells, nor of a
    user of whom nothing is left."""
    if keys.user == NOBODY:
        return True
    head = found.get(keys.head)
    return head is not None and (rows.read_head(head).state != "erasing" or event.type in TOLD_OF_ERASED)
