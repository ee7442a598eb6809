"""The operator's call: a tenant and everything that is kept for it is removed. No API key can do this.

In two steps (docs/rules/erase.md#tenant), because authorizers and functions remember a key and a policy for up to a
minute: ``close_tenant``, then, ``erase_user.SETTLE_S`` later, ``erase_tenant``. Both can be repeated, also after a
crash in the middle."""

from __future__ import annotations

from dataclasses import replace

from neve.ports.engines import Ports
from neve.ports.table import Index, Key, Table, key_of
from neve.scope import TenantData
from neve.store.delete_rows import delete_partition, delete_rows
from neve.store.keys import NOBODY, api_key_row, tenant_row
from neve.store.outgoing import read_webhooks
from neve.store.partitions import all_rows
from neve.store.tenants.directory import users_of
from neve.store.tenants.tenant_rows import TenantRow, put_tenant, read_tenant
from neve.store.transact import transact
from neve.usecases.work.erase.erase_user import Removed, erase_user


class TenantNotFound(LookupError):
    """There is no such tenant; the message is its id."""


def close_tenant(data: TenantData[Ports]) -> int:
    """Delete its keys, so that nothing new is asked or written; give how many there were. From its row on no other key
    can be made. Raises TenantNotFound, StoreUnavailable, and 409 ``conflict``."""
    table, keys = data.ports.table, data.keys
    row = transact(data.ports, lambda: _close(data))
    live = table.get_many([api_key_row(key.key_id) for key in row.live_keys])  # the index may not have the newest yet
    return delete_rows(table, list(dict.fromkeys([*live, *keys_in(table, keys.api_keys)])))


def keys_in(table: Table, api_keys: str) -> list[Key]:
    """Give those of the tenant's API keys that the index has."""
    return [key_of(item) for item in all_rows(table, api_keys, index=Index.RECENT)]


def _close(data: TenantData[Ports]) -> TenantRow:
    item = data.ports.table.get(tenant_row(data.keys.tenant))
    if item is None:
        raise TenantNotFound(data.keys.tenant)
    row = read_tenant(item)
    if not row.closed:
        data.ports.table.write([put_tenant(replace(row, closed=True))])
    return row


def erase_tenant(data: TenantData[Ports]) -> Removed:
    """Remove everything of a closed tenant, its own row last. Raises StoreUnavailable."""
    table, keys = data.ports.table, data.keys
    removed = Removed()
    for user in map(data.of_user, users_of(table, keys)):
        removed += erase_user(user, shared=False)
        delete_rows(table, [user.keys.head])
    own = [keys.jobs, keys.job_parts, keys.answers, keys.secrets, keys.feed, keys.of_user(NOBODY).partition]
    own += [keys.deliveries(webhook.id) for webhook in read_webhooks(table.get(keys.webhooks)).all]
    others = sum(delete_partition(table, partition) for partition in [*own, keys.webhooks.pk])
    others += delete_rows(table, [tenant_row(keys.tenant)])
    return removed + Removed(rows=removed.users + others)
