"""Lists the users of a tenant of whom something is kept, by their ids."""

from __future__ import annotations

from dataclasses import dataclass

from neve.domain.cursors import make_cursor, read_cursor
from neve.ports.table import Index
from neve.scope import TenantScope
from neve.store import rows

PAGES_READ = 20
"""*Chosen*: pages of users who were erased, read by one call."""


@dataclass(frozen=True, slots=True)
class ListedUser:
    """A user of a tenant. ``created_at``: when the first thing was kept of them, behind an erasure the first one
    since."""

    id: str
    created_at: str


def list_users(scope: TenantScope, limit: int, cursor: str | None) -> tuple[list[ListedUser], str | None]:
    """List users by their ids, without those who are erased or being erased: of a tenant with many of these a page may
    be short or empty, and its cursor goes on. A user who came a moment ago may be missing: the index lags. Raises
    InvalidCursor, StoreUnavailable."""
    table, keys, listed = scope.ports.table, scope.keys, f"users/{scope.tenant.id}".encode()
    [after] = read_cursor(listed, cursor, 1) if cursor else [""]
    found: list[ListedUser] = []
    for _ in range(PAGES_READ):
        page = table.query(keys.users, index=Index.RECENT, between=keys.users_behind(after), limit=limit)
        for item in page.items:
            head, after = rows.read_head(item), str(item["recent_sk"])
            if head.state == "active" and not head.erased:
                found.append(ListedUser(after, head.created_at))
        if page.cursor is None:
            return found, None
        if found:
            break
    return found, make_cursor(listed, [after])
