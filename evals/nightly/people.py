"""The tenants of the night, their users and their rows, written straight into the table of a data folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from neve.domain.records.memories import Kind
from neve.domain.tenants.policy import Policy
from neve.domain.times import iso
from neve.ports.engines import Ports
from neve.scope import Tenant, TenantScope, UserScope
from neve.store.tenants.tenant_rows import TenantRow, put_tenant
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.tell.memories.import_memories import ImportedRow, import_memories
from neve.usecases.tell.sessions.open_session import OpenSession, open_session
from neve.usecases.work.reflect.note_due import note_due, rows_of_due

TENANTS = {"large": 900, "small": 5, "middling": 95}
"""Shares of a thousand users."""
ROW_TOKENS = 60
POLICY = Policy(window=20_000)
"""Batches of 6,500 tokens: a user with 200 rows has two."""
SESSION = "s1"
"""Of every user, with a frozen pack."""


@dataclass(frozen=True, slots=True)
class Size:
    """``users``: of all tenants. ``rows``: eligible ones of each user."""

    users: int
    rows: int

    def people(self) -> Iterator[tuple[str, str]]:
        """Tenant and user, the large tenant first; every tenant has one user at least."""
        for tenant, share in TENANTS.items():
            for n in range(max(1, self.users * share // 1_000)):
                yield tenant, f"{tenant}-{n:04}"


def scope_of(ports: Ports, tenant: str) -> TenantScope:
    return TenantScope(ports, Tenant(tenant, POLICY))


def settle(ports: Ports, size: Size) -> None:
    """Every user has rows of 4 to 9 days, a few that are too young, and a frozen pack of a session."""
    now = datetime.now(UTC)
    for tenant in TENANTS:
        ports.table.write([put_tenant(TenantRow(tenant, iso(now - timedelta(days=30)), POLICY))])
    for tenant, user in size.people():
        _settle(scope_of(ports, tenant).of_user(user), size.rows, now)


def _settle(scope: UserScope, rows: int, now: datetime) -> None:
    oldest = now - timedelta(days=9)
    lines = [_line(scope.user, n, oldest + n * timedelta(days=5) / rows) for n in range(rows)]
    lines += [_line(scope.user, rows + n, now - timedelta(hours=n)) for n in range(3)]
    import_memories(scope, lines)
    due = {scope.keys: lines[0].created_at or ""}
    note_due(scope.ports, due, scope.ports.table.get_many(sorted(rows_of_due(due))))
    open_session(scope, OpenSession(session_id=SESSION, budget_ms=0))
    read_pack(scope.of_session(SESSION))


def _line(user: str, n: int, at: datetime) -> ImportedRow:
    text = f"🟡 {user} said thing number {n} and what followed from it ".ljust(ROW_TOKENS * 32 // 10 - 1, "x")
    return ImportedRow(text=text, id=memory_id(user, n), kind=Kind.OBSERVATION, created_at=iso(at), observed_at=iso(at))


def memory_id(user: str, n: int) -> str:
    return f"mem_{user}-{n:04}"
