"""E17 GET: the tenant's policy, as it is now rather than as a process may still hold it."""

from __future__ import annotations

from dataclasses import dataclass

from neve.domain.tenants.policy import Policy
from neve.scope import TenantScope
from neve.store.keys import tenant_row
from neve.store.tenants.tenant_rows import existing
from neve.usecases.jobs.begin_encoding import users_being_encoded


@dataclass(frozen=True, slots=True)
class PolicyAt:
    """``rev`` counts the writes that changed something, from 1. ``encoding_users``: how many users have something that
    was not looked at since the policy became ``rerank: late``, and one more while they are still to be looked for; None
    for any other policy."""

    policy: Policy
    rev: int
    encoding_users: int | None = None


def read_policy(scope: TenantScope) -> PolicyAt:
    """Raises StoreUnavailable."""
    row = existing(scope.ports.table.get(tenant_row(scope.tenant.id)))
    late = row.policy.rerank == "late"
    encoding = users_being_encoded(scope) if late else None
    return PolicyAt(row.policy, row.policy_rev, encoding)
