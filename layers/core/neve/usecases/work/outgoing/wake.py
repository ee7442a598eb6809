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
    """Wake a line of the index ``due`` whose first event is to be tried again. False where it was sent meanwhile, or
    has time left: the index lags, and its buckets are coarse. Raises StoreUnavailable."""
    row = ports.table.get(key_of(item))
    waiting = read_waiting(row) if row else None
    if row is None or waiting is None or waiting.not_before is None or waiting.not_before > ports.clock.now():
        return False
    ports.queue.send(QueueName.DELIVER, [wake_message(UserKeys(row["tenant_id"], row["user_id"]), waiting.webhook)])
    return True
