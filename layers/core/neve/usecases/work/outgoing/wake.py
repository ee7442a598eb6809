"""Wakes the workers that send events to a webhook: their message names a line, what is to be sent is in its rows
(docs/rules/events.md#delivery)."""

from __future__ import annotations

from neve.correlation import carried
from neve.domain.outgoing.event import OutgoingEvent
from neve.ports.engines import Ports
from neve.ports.queue import Message, QueueName
from neve.ports.table import Item, key_of
from neve.store.keys import UserKeys
from neve.store.outgoing import read_waiting


def wake_message(keys: UserKeys, webhook: str) -> Message:
    """Make the message about what a user's events are to a webhook. Its group is both: they are sent one after the
    other, and wait for no other user's and no other webhook's."""
    body = {"work": "deliver", "tenant": keys.tenant, "user": keys.user, "webhook": webhook}
    return Message(carried(body), group=f"{keys.tenant}#{keys.user}#{webhook}")


def dead_message(keys: UserKeys, webhook: str, event: OutgoingEvent) -> Message:
    """Make the dead letter of an event that is given up. Moved to the queue it is tried for another day."""
    wakes = wake_message(keys, webhook)
    return Message(wakes.body | {"event": event.stored()}, wakes.group)


def wake_due(ports: Ports, item: Item) -> bool:
    """Wake a line of the index ``due`` whose first event is to be tried. False where it was sent meanwhile, has time
    left, or waits behind another one: the index lags, and its buckets are coarse. Raises StoreUnavailable."""
    keys, prefix = UserKeys(item["tenant_id"], item["user_id"]), UserKeys.waiting_events(item["id"])
    first = ports.table.query(keys.partition, prefix=prefix, limit=1).items
    if not first or key_of(first[0]) != key_of(item) or read_waiting(first[0]).due > ports.clock.now():
        return False
    ports.queue.send(QueueName.DELIVER, [wake_message(keys, item["id"])])
    return True
