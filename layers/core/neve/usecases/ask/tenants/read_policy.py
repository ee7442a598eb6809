"""E17 GET: the tenant's policy, as it is now rather than as a process may still hold it."""

from __future__ import annotations

from dataclasses import dataclass

from neve.domain.tenants.observe_after import PassesAfter, passes_after
from neve.domain.tenants.policy import Policy
from neve.scope import TenantScope
from neve.store.keys import tenant_row
from neve.store.tenants.tenant_rows import existing


@dataclass(frozen=True, slots=True)
class PolicyAt:
    """A policy at a revision. ``rev`` counts the writes that changed something, from 1. ``reindex_job``: makes the
    vectors of its ``languages``, until they are there. ``passes_after``: when passes run under it."""

    policy: Policy
    rev: int
    passes_after: PassesAfter
    reindex_job: str | None = None


def read_policy(scope: TenantScope) -> PolicyAt:
    """Read the policy. Raises StoreUnavailable."""
    row = existing(scope.ports.table.get(tenant_row(scope.tenant.id)))
    return policy_at(scope, row.policy, row.policy_rev, row.reindex_job)


def policy_at(scope: TenantScope, policy: Policy, rev: int, reindex_job: str | None) -> PolicyAt:
    """Tell what holds under a policy here, whose observer it may leave to say when passes run."""
    return PolicyAt(policy, rev, passes_after(policy.observe_after, scope.ports.observer_languages), reindex_job)
