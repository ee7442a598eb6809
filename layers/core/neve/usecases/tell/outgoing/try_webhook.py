"""Sends a webhook an event that nothing has happened for, to see whether it arrives (docs/rules/events.md#test)."""

from __future__ import annotations

from neve.domain.outgoing.event import TEST, OutgoingEvent
from neve.domain.outgoing.webhook import Attempt
from neve.domain.times import iso
from neve.scope import TenantScope
from neve.store.keys import NOBODY
from neve.usecases.ask.outgoing.read_webhooks import read_webhook
from neve.usecases.core.outgoing.attempt import attempt, log_put


def try_webhook(scope: TenantScope, webhook_id: str) -> Attempt:
    """Make one attempt, whether or not the webhook is disabled, and note it in the log. Raises 404
    ``webhook_not_found``, StoreUnavailable."""
    webhook, ports = read_webhook(scope, webhook_id), scope.ports
    now = ports.clock.now()
    event = OutgoingEvent(f"out_{ports.ids.ulid(now)}", TEST, iso(now), None, webhook_id, {})
    data = scope.of_user(NOBODY).data
    made = attempt(data, webhook, event)
    ports.table.write([log_put(data, webhook_id, event, made, "delivered" if made.delivered else "failed", 1)])
    return made
