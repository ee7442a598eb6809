"""The operator's call: a new tenant with its first key. No API key can do this."""

from __future__ import annotations

from neve.domain.times import iso
from neve.store.tenants import SCOPES, TenantRow
from neve.usecases.tenants.create_key import CreatedKey, add_key
from neve.wiring import Ports


def create_tenant(ports: Ports, tenant_id: str, label: str | None = None) -> CreatedKey:
    """A tenant with the default policy and a key of every scope. Raises 409 ``conflict`` when it exists already."""
    return add_key(ports, TenantRow(tenant_id, iso(ports.clock.now())), SCOPES, label)
