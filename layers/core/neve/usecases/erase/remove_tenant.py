"""The operator's call: a tenant and everything that is kept for it is removed. No API key can do this.

In two steps (docs/rules/erase.md#tenant), because authorizers and functions remember a key and a policy for up to a
minute: ``close_tenant``, then, ``erase_user.SETTLE_S`` later, ``erase_tenant``. Both can be repeated, also after a
crash in the middle."""

from __future__ import annotations

from neve.ports.engines import Ports
from neve.ports.table import Index
from neve.scope import TenantData
from neve.store.delete_rows import delete_rows
from neve.store.keys import tenant_row
from neve.store.tenants.directory import users_of
from neve.usecases.erase.erase_user import Removed, erase_user, keys_of


class TenantNotFound(LookupError):
    """The message is its id."""


def close_tenant(data: TenantData[Ports]) -> int:
    """Delete its keys, so that nothing new is asked or written; how many. Raises TenantNotFound,
    StoreUnavailable."""
    table, keys = data.ports.table, data.keys
    if table.get(tenant_row(keys.tenant)) is None:
        raise TenantNotFound(keys.tenant)
    return delete_rows(table, keys_of(table, keys.api_keys, Index.RECENT))


def erase_tenant(data: TenantData[Ports]) -> Removed:
    """Everything of a closed tenant, its own row last. Raises StoreUnavailable."""
    table, keys = data.ports.table, data.keys
    parts = []
    for user in map(data.of_user, users_of(table, keys)):
        parts.append(erase_user(user, shared=False))
        delete_rows(table, [user.keys.head])
    own = [keys.jobs, keys.job_parts, keys.answers, keys.secrets, keys.late]
    others = len(parts) + sum(delete_rows(table, keys_of(table, partition)) for partition in own)
    others += delete_rows(table, [tenant_row(keys.tenant)])
    return Removed(
        users=len(parts),
        rows=others + sum(part.rows for part in parts),
        objects=sum(part.objects for part in parts),
        passages=sum(part.passages for part in parts),
    )
