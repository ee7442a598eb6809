"""E17 PUT: replace the tenant's policy."""

from __future__ import annotations

from dataclasses import replace

from neve.domain.errors import NeveError
from neve.domain.tenants.policy import Policy
from neve.domain.tokens import counter
from neve.ports import Conflict
from neve.store import tenants
from neve.store.keys import tenant_row
from neve.usecases.tenants.read_policy import PolicyAt
from neve.wiring import Ports, Tenant


def write_policy(ports: Ports, tenant: Tenant, policy: Policy, expected_rev: int | None = None) -> PolicyAt:
    """Every number left out goes back to its default. The same policy again changes nothing. Other processes follow
    within 60 s.

    Raises 422 ``invalid_policy`` with every number that does not fit, 412 ``precondition_failed`` when the rev is not
    ``expected_rev``, 409 ``conflict``, and StoreUnavailable."""
    if problems := policy.problems():
        raise NeveError("invalid_policy", "; ".join(f"{p.field}: {p.message}" for p in problems), errors=problems)
    counter(policy.token_counter)  # refused now if its table is not installed, not at the next append
    item = ports.table.get(tenant_row(tenant.id))
    if item is None:
        raise NeveError("unauthorized", "The tenant of this key no longer exists.")
    row = tenants.read_tenant(item)
    if expected_rev is not None and expected_rev != row.policy_rev:
        raise NeveError("precondition_failed", f"The policy is at rev {row.policy_rev}, not {expected_rev}.")
    if tenants.set_numbers(policy) == tenants.set_numbers(row.policy):
        return PolicyAt(row.policy, row.policy_rev)
    written = replace(row, policy=policy, policy_rev=row.policy_rev + 1)
    try:
        ports.table.write([tenants.put_tenant(written)])
    except Conflict:
        raise NeveError("conflict", "The tenant's keys or policy changed at the same moment; try again.") from None
    return PolicyAt(policy, written.policy_rev)
