"""E17 GET: the tenant's policy, as it is now rather than as a process may still hold it."""

from __future__ import annotations

from dataclasses import dataclass

from neve.domain.errors import NeveError
from neve.domain.tenants.policy import Policy
from neve.store.keys import tenant_row
from neve.store.tenants import read_tenant
from neve.wiring import Ports, Tenant


@dataclass(frozen=True, slots=True)
class PolicyAt:
    """``rev`` counts the writes that changed something, from 1."""

    policy: Policy
    rev: int


def read_policy(ports: Ports, tenant: Tenant) -> PolicyAt:
    """Raises StoreUnavailable."""
    item = ports.table.get(tenant_row(tenant.id))
    if item is None:
        raise NeveError("unauthorized", "The tenant of this key no longer exists.")
    row = read_tenant(item)
    return PolicyAt(row.policy, row.policy_rev)
