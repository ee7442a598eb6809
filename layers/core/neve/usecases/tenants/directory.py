"""Who there is: every tenant, and every user of a tenant. For operators' work over all of them, never on a request."""

from __future__ import annotations

from collections.abc import Iterator

from neve.ports import Index
from neve.store.keys import TENANTS, Keys
from neve.wiring import Ports

PAGE = 100


def all_tenants(ports: Ports) -> Iterator[str]:
    """Tenant ids in order. Raises StoreUnavailable."""
    return _sort_keys(ports, TENANTS, Index.MAIN, "sk")


def users_of(ports: Ports, tenant: str) -> Iterator[str]:
    """User ids in order; those of the last moment may be missing (the index lags). Raises StoreUnavailable."""
    return _sort_keys(ports, Keys(tenant).users(), Index.RECENT, "recent_sk")


def _sort_keys(ports: Ports, partition: str, index: Index, name: str) -> Iterator[str]:
    cursor: str | None = None
    while True:
        page = ports.table.query(partition, index=index, limit=PAGE, cursor=cursor)
        yield from (item[name] for item in page.items)
        if page.cursor is None:
            return
        cursor = page.cursor
