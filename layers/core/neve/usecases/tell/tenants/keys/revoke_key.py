"""E17: revoke an API key. It stops working at once where keys are read, and after at most 60 s at the gateway."""

from __future__ import annotations

from dataclasses import replace

from neve.domain.errors import NeveError, not_found
from neve.domain.times import iso
from neve.scope import TenantScope
from neve.store.keys import api_key_row, tenant_row
from neve.store.tenants import tenant_rows
from neve.store.transact import transact


def revoke_key(scope: TenantScope, key_id: str) -> None:
    """Revoke a key. Repeating it changes nothing. Raises 404 ``key_not_found`` (also for another tenant's key), 409
    ``last_admin_key`` when no key could be made afterwards, and StoreUnavailable."""
    transact(scope.ports, lambda: _revoke_once(scope, key_id))


def _revoke_once(scope: TenantScope, key_id: str) -> None:
    own, place = tenant_row(scope.tenant.id), api_key_row(key_id)
    found = scope.ports.table.get_many([own, place])
    key = tenant_rows.read_api_key(found[place]) if place in found else None
    if key is None or own not in found or key.tenant_id != scope.tenant.id:
        raise not_found("key", key_id)
    if key.revoked_at is not None:
        return
    row = tenant_rows.read_tenant(found[own])
    left = tuple(live for live in row.live_keys if live.key_id != key_id)
    if "admin" in key.scopes and not any("admin" in live.scopes for live in left):
        detail = f"'{key_id}' is the last key with the scope admin; create another one first."
        raise NeveError("last_admin_key", detail)
    revoked = replace(key, revoked_at=iso(scope.ports.clock.now()))
    scope.ports.table.write([tenant_rows.put_api_key(revoked), tenant_rows.put_tenant(replace(row, live_keys=left))])
