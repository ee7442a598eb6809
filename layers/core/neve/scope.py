"""Who is asked: the engines, the verified tenant with its policy, and below that a user and a session. What a use case
takes first."""

from __future__ import annotations

from dataclasses import dataclass

from neve.domain.tenants.policy import Policy
from neve.domain.tokens import Counter
from neve.ports import Ports
from neve.store.keys import Keys, SessionKeys, UserKeys


@dataclass(frozen=True, slots=True)
class Tenant:
    """``id``: the verified caller's. ``policy``: the one in force, at most 60 s old."""

    id: str
    policy: Policy

    @property
    def keys(self) -> Keys:
        return Keys(self.id)


@dataclass(frozen=True, slots=True)
class TenantScope:
    ports: Ports
    tenant: Tenant

    @property
    def policy(self) -> Policy:
        return self.tenant.policy

    @property
    def keys(self) -> Keys:
        return Keys(self.tenant.id)

    @property
    def count(self) -> Counter:
        """The counter that the policy names. Raises NeveError ``invalid_policy`` when its data is not installed."""
        return self.ports.counter(self.tenant.policy.token_counter)

    def of_user(self, user: str) -> UserScope:
        return UserScope(self.ports, self.tenant, user)


@dataclass(frozen=True, slots=True)
class UserScope(TenantScope):
    user: str

    @property
    def keys(self) -> UserKeys:
        return UserKeys(self.tenant.id, self.user)

    def of_session(self, session: str) -> SessionScope:
        return SessionScope(self.ports, self.tenant, self.user, session)


@dataclass(frozen=True, slots=True)
class SessionScope(UserScope):
    session: str

    @property
    def keys(self) -> SessionKeys:
        return SessionKeys(self.tenant.id, self.user, self.session)
