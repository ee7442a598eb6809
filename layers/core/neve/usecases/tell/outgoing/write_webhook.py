"""Writes and deletes webhooks (docs/rules/events.md#webhooks)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from neve.domain.errors import NeveError, invalid, not_found
from neve.domain.outgoing.event import OutgoingType
from neve.domain.outgoing.signature import key_of, secret_of
from neve.domain.outgoing.webhook import MAX_WEBHOOKS, ROTATION, Webhook
from neve.domain.times import iso
from neve.ports.table import Delete
from neve.scope import TenantScope
from neve.store.outgoing import put_webhooks, read_webhooks
from neve.store.transact import transact


@dataclass(frozen=True, slots=True)
class Written:
    """A webhook as it is from now on. ``secret``: where Neve made one for it, which nobody is shown again. ``created``:
    there was none of this id."""

    webhook: Webhook
    secret: str | None
    created: bool


def write_webhook(
    scope: TenantScope,
    webhook_id: str,
    url: str,
    types: Sequence[OutgoingType],
    secret: str | None,
    *,
    include_text: bool,
) -> Written:
    """Write a webhook, or what it is from now on. ``secret`` None: the one that there is stays, and a new webhook is
    given one; another one than before signs from now on, and for ``ROTATION`` that one does, too. One that was disabled
    is sent what happens from now on.

    Raises 422 ``validation_failed`` for a URL to which nothing is ever sent and for a malformed secret, 409
    ``too_many_webhooks``, 409 ``conflict``, StoreUnavailable."""
    refused = scope.ports.receivers.refusal(url)
    if refused is not None:
        raise invalid("url", refused)
    if secret is not None:
        try:
            key_of(secret)
        except ValueError as malformed:
            raise invalid("secret", str(malformed)) from None
    made = secret_of(bytes.fromhex(scope.ports.ids.token() + scope.ports.ids.token()))

    def attempt() -> Written:
        now = scope.ports.clock.now()
        webhooks = read_webhooks(scope.ports.table.get(scope.keys.webhooks))
        before = webhooks.named(webhook_id)
        if before is None and len(webhooks.all) >= MAX_WEBHOOKS:
            raise NeveError("too_many_webhooks", f"There are {MAX_WEBHOOKS} already; delete one first.")
        plain = Webhook(webhook_id, url, tuple(types), include_text, (secret or made,), iso(now))
        if before is not None:
            plain = replace(plain, created_at=before.created_at, secrets=before.secrets)
            plain = replace(plain, rotating_until=before.rotating_until)
            if secret not in (None, before.secrets[0]):
                signing = (str(secret), before.secrets[0])
                plain = replace(plain, secrets=signing, rotating_until=iso(now + ROTATION))
        scope.ports.table.write([put_webhooks(scope.keys, webhooks.having(plain))])
        return Written(plain, made if before is None and secret is None else None, before is None)

    return transact(scope.ports, attempt)


def delete_webhook(scope: TenantScope, webhook_id: str) -> None:
    """Delete a webhook: what waits for it is sent to nobody. Raises 404 ``webhook_not_found``, 409 ``conflict``,
    StoreUnavailable."""

    def attempt() -> None:
        webhooks = read_webhooks(scope.ports.table.get(scope.keys.webhooks))
        if webhooks.named(webhook_id) is None:
            raise not_found("webhook", webhook_id)
        rest = Delete(scope.keys.webhook_rest(webhook_id))
        scope.ports.table.write([put_webhooks(scope.keys, webhooks.lacking(webhook_id)), rest])

    transact(scope.ports, attempt)
