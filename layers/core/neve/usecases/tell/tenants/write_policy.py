"""E17 PUT and PATCH: replace the tenant's policy, or some of it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from neve.domain.errors import FieldError, NeveError
from neve.domain.records.users import UserHead
from neve.domain.tenants.policy import Policy
from neve.domain.tenants.static_prefix import StaticPrefix, version_order
from neve.ports.table import WriteOp
from neve.scope import TenantScope
from neve.store import rows
from neve.store.idempotency import Beside, nothing_beside
from neve.store.keys import tenant_row
from neve.store.tenants import tenant_rows
from neve.store.tenants.tenant_rows import KnownPrefix
from neve.store.transact import transact
from neve.usecases.ask.tenants.read_policy import PolicyAt, policy_at
from neve.usecases.core.jobs.queued_jobs import new_reindex


def write_policy(
    scope: TenantScope,
    policy: Policy,
    expected: Collection[int] | None = None,
    beside: Beside[PolicyAt] = nothing_beside,
) -> PolicyAt:
    """Replace the policy. Every number left out goes back to its default. The same policy again changes nothing. Other
    processes follow within 60 s. Where ``languages`` change, a job makes every vector of the tenant anew.

    Raises 422 ``invalid_policy`` with every number that does not fit, 412 ``precondition_failed`` when the rev is not
    one of ``expected``, 409 ``static_prefix_version`` when the static prefix changed without a higher version, 409
    ``conflict``, and StoreUnavailable."""
    return change_policy(scope, lambda _: policy, expected, beside)


def change_policy(
    scope: TenantScope,
    change: Callable[[Policy], Policy],
    expected: Collection[int] | None = None,
    beside: Beside[PolicyAt] = nothing_beside,
) -> PolicyAt:
    """Replace the policy by what ``change`` makes of the one that is there. Raises as ``write_policy``, and what
    ``change`` raises."""
    return transact(scope.ports, lambda: _write_once(scope, change, expected, beside))


def _known(before: KnownPrefix | None, prefix: StaticPrefix | None) -> KnownPrefix | None:
    """Give the prefix to remember: one version, one text, so that prompts which were cached under it are never meant by
    another. Raises 409."""
    if prefix is None or (before is not None and before.sha256 == prefix.sha256):
        return before
    if before is not None and prefix.order <= version_order(before.version):
        message = f"the text changed, so it must be above {before.version}"
        field = FieldError("static_prefix.version", message)
        raise NeveError("static_prefix_version", f"static_prefix.version: {message}.", errors=[field])
    return KnownPrefix(prefix.version, prefix.sha256)


def _write_once(
    scope: TenantScope,
    change: Callable[[Policy], Policy],
    expected: Collection[int] | None,
    beside: Beside[PolicyAt],
) -> PolicyAt:
    row = tenant_rows.existing(scope.ports.table.get(tenant_row(scope.tenant.id)))
    policy = change(row.policy)
    if problems := policy.problems():
        raise NeveError("invalid_policy", "; ".join(f"{p.field}: {p.message}" for p in problems), errors=problems)
    scope.ports.counter(policy.token_counter)  # refused now if its table is not installed, not at the next append
    if expected is not None and row.policy_rev not in expected:
        raise NeveError("precondition_failed", f"The policy is at rev {row.policy_rev}.")
    if tenant_rows.set_numbers(policy) == tenant_rows.set_numbers(row.policy):
        return policy_at(scope, row.policy, row.policy_rev, row.reindex_job)
    prefix = _known(row.prefix, policy.static_prefix)
    written = replace(row, policy=policy, policy_rev=row.policy_rev + 1, prefix=prefix)
    ops: list[WriteOp] = []
    if policy.languages != row.policy.languages and scope.ports.multi is not None:
        job = new_reindex(f"job_{scope.ports.ids.ulid(scope.ports.clock.now())}", scope.ports.clock.now())
        written = replace(written, reindex_job=job.id)
        ops.append(rows.put_queued_job(scope.keys, job, UserHead().incarnation))
    ops.append(tenant_rows.put_tenant(written))
    left = policy_at(scope, policy, written.policy_rev, written.reindex_job)
    scope.ports.table.write([*ops, *beside(left)])
    return left
