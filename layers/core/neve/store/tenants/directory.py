"""The directory: every tenant, and every user of a tenant. For operators' work over all of them, never on a request."""

from __future__ import annotations

from collections.abc import Iterator

from neve.ports.table import Index, Table
from neve.store.keys import TENANTS, Keys
from neve.store.partitions import all_rows


def all_tenants(table: Table) -> Iterator[str]:
    """Give all tenant ids in order. Raises StoreUnavailable."""
    return (item["sk"] for item in all_rows(table, TENANTS))


def users_of(table: Table, tenant: Keys, after: str = "") -> Iterator[str]:
    """Give user ids in order, behind the id ``after``; those of the last moment may be missing (the index lags). Raises
    StoreUnavailable."""
    found = all_rows(table, tenant.users, index=Index.RECENT, between=tenant.users_behind(after))
    return (item["recent_sk"] for item in found)
