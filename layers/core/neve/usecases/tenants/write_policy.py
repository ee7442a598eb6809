"""E17 PUT: replace the tenant's policy."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from neve.domain.errors import NeveError
from neve.domain.tenants.policy import Policy
from neve.scope import TenantScope
from neve.store import tenants
from neve.store.keys import tenant_row
from neve.store.transact import transact
from neve.usecases.tenants.read_policy import PolicyAt


def write_policy(scope: TenantScope, policy: Policy, expected: Collection[int] | None = None) -> PolicyAt:
    """Every number left out goes back to its default. The same policy again changes nothing. Other processes follow
    within 60 s.

    Raises 422 ``invalid_policy`` with every number that does not fit, 412 ``precondition_failed`` when the rev is not
    one of ``expected``, 409 ``conflict``, and StoreUnavailable."""
    if problems := policy.problems():
        raise NeveError("invalid_policy", "; ".join(f"{p.field}: {p.message}" for p in problems), errors=problems)
    scope.ports.counter(policy.token_counter)  # refused now if its table is not installed, not at the next append
    return transact(scope.ports, lambda: _write_once(scope, policy, expected))


def _write_once(scope: TenantScope, policy: Policy, expected: Collection[int] | None) -> PolicyAt:
    row = tenants.existing(scope.ports.table.get(tenant_row(scope.tenant.id)))
    if expected is not None and row.policy_rev not in expected:
        raise NeveError("precondition_failed", f"The policy is at rev {row.policy_rev}.")
    if tenants.set_numbers(policy) == tenants.set_numbers(row.policy):
        return PolicyAt(row.policy, row.policy_rev)
    written = replace(row, policy=policy, policy_rev=row.policy_rev + 1)
    scope.ports.table.write([tenants.put_tenant(written)])
    return PolicyAt(policy, written.policy_rev)
