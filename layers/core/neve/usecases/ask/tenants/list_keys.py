"""Lists the API keys that a tenant has and had, without what would let a caller in."""

from __future__ import annotations

from neve.domain.cursors import make_cursor, read_cursor
from neve.ports.table import Index
from neve.scope import TenantScope
from neve.store.keys import api_key_row, tenant_row
from neve.store.tenants.tenant_rows import ApiKey, existing, read_api_key


def list_keys(scope: TenantScope, limit: int, cursor: str | None) -> tuple[list[ApiKey], str | None]:
    """List keys by their ids, revoked ones too. The tenant's own row names those that are live: the index may not have
    one of the last moment yet. Raises InvalidCursor, StoreUnavailable, 401 for a tenant that is gone."""
    table, keys, listed = scope.ports.table, scope.keys, f"keys/{scope.tenant.id}".encode()
    [after] = read_cursor(listed, cursor, 1) if cursor else [""]
    live = [key.key_id for key in existing(table.get(tenant_row(scope.tenant.id))).live_keys if key.key_id > after]
    page = table.query(keys.api_keys, index=Index.RECENT, between=keys.api_keys_behind(after), limit=limit)
    ids = sorted({*live, *(str(item["recent_sk"]) for item in page.items)})
    named = ids[:limit]
    found = table.get_many([api_key_row(key_id) for key_id in named])
    more = page.cursor is not None or len(ids) > limit
    rows = [read_api_key(item) for key_id in named if (item := found.get(api_key_row(key_id)))]
    return rows, make_cursor(listed, [named[-1]]) if more else None
