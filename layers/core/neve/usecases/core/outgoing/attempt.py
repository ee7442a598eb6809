"""Makes one attempt to send an event to a webhook (docs/rules/events.md#signature)."""

from __future__ import annotations

from dataclasses import replace

from neve.domain.outgoing.event import OutgoingEvent, event_body
from neve.domain.outgoing.signature import signed_headers
from neve.domain.outgoing.webhook import Attempt, Delivery, Outcome, Webhook
from neve.domain.times import iso
from neve.ports.engines import Ports
from neve.ports.table import Put
from neve.scope import UserData
from neve.store import rows
from neve.store.outgoing import put_delivery

WITH_TEXT = ("memory.written", "memory.superseded", "inbox.waiting")
"""Types whose subject is a memory that is still there."""


def attempt(data: UserData[Ports], webhook: Webhook, event: OutgoingEvent) -> Attempt:
    """Send an event. Its text, where the webhook includes that, is read now, and is kept nowhere: an event that waits
    holds none. Raises StoreUnavailable."""
    now = data.ports.clock.now()
    body = event_body(data.keys.tenant, _with_text(data, event) if webhook.include_text else event)
    headers = signed_headers(webhook.signing(iso(now)), event.id, int(now.timestamp()), body)
    return data.ports.receivers.post(webhook.url, headers | {"content-type": "application/json"}, body)


def _with_text(data: UserData[Ports], event: OutgoingEvent) -> OutgoingEvent:
    """Return the event with the words that its memory has now; without, where it is gone."""
    if event.type not in WITH_TEXT:
        return event
    found = data.ports.table.get_many([data.keys.head, data.keys.memory(event.subject)])
    item = found.get(data.keys.memory(event.subject))
    if item is None or rows.hidden(rows.read_head(found.get(data.keys.head))):
        return event
    return replace(event, data={**event.data, "text": rows.read_memory(item).text})


def log_put(
    data: UserData[Ports], webhook_id: str, event: OutgoingEvent, made: Attempt, outcome: Outcome, number: int
) -> Put:
    """Make the put of what became of an attempt. ``number``: counted from 1."""
    now = data.ports.clock.now()
    took = (made.duration_ms, made.status, made.failure)
    line = Delivery(data.ports.ids.ulid(now), event.id, event.type, iso(now), outcome, number, *took)
    return put_delivery(data.keys, webhook_id, line)
