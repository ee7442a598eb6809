"""The caller's tenant with the policy in force."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from neve.domain.errors import NeveError
from neve.domain.tenants.policy import Policy
from neve.ports import StoreUnavailable
from neve.store.keys import tenant_row
from neve.store.tenants import read_tenant
from neve.wiring import Ports, Tenant

POLICY_S = 60
"""product.md §7: a policy is cached for at most this long."""


@dataclass(frozen=True, slots=True)
class _Held:
    at: datetime
    policy: Policy


class Policies:
    """The policies one process holds. A write in this process replaces the held one, see ``forget``."""

    def __init__(self) -> None:
        self._held: dict[str, _Held] = {}
        self._ports: Ports | None = None

    def tenant(self, ports: Ports, tenant_id: str, *, without_store: bool) -> Tenant:
        """Raises StoreUnavailable when the policy cannot be read, unless ``without_store``: then the last known
        policy, or the default one, serves a call that will read nothing either. Raises 401 for a tenant that no
        longer exists."""
        if self._ports is not ports:
            self._held.clear()
            self._ports = ports
        held, now = self._held.get(tenant_id), ports.clock.now()
        if held is not None and abs((now - held.at).total_seconds()) < POLICY_S:
            return Tenant(tenant_id, held.policy)
        try:
            item = ports.table.get(tenant_row(tenant_id))
        except StoreUnavailable:
            if not without_store:
                raise
            return Tenant(tenant_id, held.policy if held else Policy())
        if item is None:
            raise NeveError("unauthorized", "The tenant of this key no longer exists.")
        policy = read_tenant(item).policy
        self._held[tenant_id] = _Held(now, policy)
        return Tenant(tenant_id, policy)

    def forget(self, tenant_id: str) -> None:
        """Read the policy again at the next call."""
        self._held.pop(tenant_id, None)


policies = Policies()
