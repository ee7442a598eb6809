"""The policy that a call or a worker goes by: read at most once a minute and process."""

from __future__ import annotations

from datetime import timedelta

from neve.caching import CacheSpec
from neve.domain.tenants.policy import Policy
from neve.ports.engines import Ports
from neve.ports.errors import StoreUnavailable
from neve.scope import Tenant, TenantScope
from neve.store.keys import tenant_row
from neve.store.tenants.tenant_rows import existing

POLICIES: CacheSpec[str, Tenant] = CacheSpec("policies", size=10_000, ttl=timedelta(seconds=60))
"""Tenants with their policies by id, each cached for at most 60 s (docs/rules/tenants.md#policy)."""


def tenant_scope(ports: Ports, tenant_id: str, *, without_store: bool = False) -> TenantScope:
    """Give the scope of a tenant with the policy in force. Raises StoreUnavailable when the policy cannot be read,
    unless ``without_store``: then the last known policy, or the default one, serves a call that will read nothing
    either. Raises 401 for a tenant that no longer exists."""
    held = ports.caches.of(POLICIES)
    tenant = held.get(tenant_id)
    if tenant is None:
        as_of = ports.clock.now()
        try:
            row = existing(ports.table.get(tenant_row(tenant_id)))
            found = Tenant(tenant_id, row.policy, reindexed=row.reindex_job is None)
            tenant = held.put(tenant_id, found, as_of=as_of)
        except StoreUnavailable:
            if not without_store:
                raise
            tenant = held.stale(tenant_id) or Tenant(tenant_id, Policy())
    return TenantScope(ports, tenant)


def forget_policy(scope: TenantScope) -> None:
    """Let the next call read the policy again."""
    scope.ports.caches.of(POLICIES).drop(scope.tenant.id)
