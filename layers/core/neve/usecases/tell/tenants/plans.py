"""Puts a tenant into a usage plan of the gateway: docs/rules/tenants.md#plans."""

from __future__ import annotations

from dataclasses import replace

from neve.ports.table import Put
from neve.scope import TenantScope
from neve.store.keys import api_key_row, tenant_row
from neve.store.tenants import tenant_rows
from neve.store.transact import transact


def put_into_plan(scope: TenantScope, plan: str | None) -> int:
    """Write the plan on the tenant's row, for keys to come, and on its live keys, where the authorizer reads it; give
    how many keys there are. None: the stage's limits alone. Raises 401 ``unauthorized`` for a tenant that is not there
    and StoreUnavailable."""
    return transact(scope.ports, lambda: _put_once(scope, plan))


def _put_once(scope: TenantScope, plan: str | None) -> int:
    table = scope.ports.table
    row = tenant_rows.existing(table.get(tenant_row(scope.tenant.id)))
    found = table.get_many([api_key_row(live.key_id) for live in row.live_keys])
    keys = [tenant_rows.read_api_key(item) for item in found.values()]
    puts: list[Put] = [tenant_rows.put_api_key(replace(key, plan=plan)) for key in keys]
    table.write([tenant_rows.put_tenant(replace(row, plan=plan)), *puts])
    return len(keys)
