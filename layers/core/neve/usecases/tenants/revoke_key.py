"""E17: revoke an API key. It stops working at once where keys are read, and after at most 60 s at the gateway."""

from __future__ import annotations

from dataclasses import replace

from neve.domain.errors import NeveError, not_found
from neve.domain.times import iso
from neve.ports import Conflict
from neve.store import tenants
from neve.store.keys import api_key_row, tenant_row
from neve.wiring import Ports, Tenant


def revoke_key(ports: Ports, tenant: Tenant, key_id: str) -> None:
    """Repeating it changes nothing. Raises 404 ``key_not_found`` (also for another tenant's key), 409
    ``last_admin_key`` when nobody could make a key afterwards, 409 ``conflict``, and StoreUnavailable."""
    found = ports.table.get_many([tenant_row(tenant.id), api_key_row(key_id)])
    key_item, tenant_item = found.get(api_key_row(key_id)), found.get(tenant_row(tenant.id))
    key = tenants.read_api_key(key_item) if key_item else None
    if key is None or tenant_item is None or key.tenant_id != tenant.id:
        raise not_found("key", key_id)
    if key.revoked_at is not None:
        return
    row = tenants.read_tenant(tenant_item)
    left = tuple(live for live in row.live_keys if live.key_id != key_id)
    if "admin" in key.scopes and not any("admin" in live.scopes for live in left):
        detail = f"'{key_id}' is the last key with the scope admin; create another one first."
        raise NeveError("last_admin_key", detail)
    revoked = replace(key, revoked_at=iso(ports.clock.now()))
    try:
        ports.table.write([tenants.put_api_key(revoked), tenants.put_tenant(replace(row, live_keys=left))])
    except Conflict:
        raise NeveError("conflict", "The tenant's keys or policy changed at the same moment; try again.") from None
