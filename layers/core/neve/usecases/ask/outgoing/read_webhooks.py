"""Reads webhooks and the log of their deliveries (docs/rules/events.md#webhooks)."""

from __future__ import annotations

from neve.domain.errors import not_found
from neve.domain.ids import ulid_time
from neve.domain.outgoing.webhook import Delivery, Webhook
from neve.domain.times import parse
from neve.scope import TenantScope
from neve.store.outgoing import read_delivery, read_webhooks
from neve.store.rows import live

LOGGED = 200
"""*Given*: the attempts that the log of a webhook shows."""


def list_webhooks(scope: TenantScope) -> list[Webhook]:
    """List the webhooks of the tenant by their ids. Raises StoreUnavailable."""
    return sorted(read_webhooks(scope.ports.table.get(scope.keys.webhooks)).all, key=lambda one: one.id)


def read_webhook(scope: TenantScope, webhook_id: str) -> Webhook:
    """Read one webhook. Raises 404 ``webhook_not_found``, StoreUnavailable."""
    webhook = read_webhooks(scope.ports.table.get(scope.keys.webhooks)).named(webhook_id)
    if webhook is None:
        raise not_found("webhook", webhook_id)
    return webhook


def list_deliveries(scope: TenantScope, webhook_id: str) -> list[Delivery]:
    """List the newest attempts, newest first, those to an earlier webhook of the same id left out. Raises 404
    ``webhook_not_found``, StoreUnavailable."""
    since = scope.keys.deliveries_since(ulid_time(parse(read_webhook(scope, webhook_id).created_at)))
    found = scope.ports.table.query(scope.keys.deliveries(webhook_id), between=since, reverse=True, limit=LOGGED)
    now = scope.ports.clock.now()
    return [read_delivery(item) for item in found.items if live(item, now)]
