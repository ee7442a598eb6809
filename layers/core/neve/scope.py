"""The scope of a use case: the engines, the verified tenant with its policy, and below that a user and a session. What
a use case takes first. One that no policy has a say in takes the data of a tenant, a user or a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from neve.domain.tenants.policy import Policy
from neve.domain.tokens import Counter
from neve.ports.engines import Ports
from neve.ports.models import Embedder
from neve.store.keys import Keys, SessionKeys, UserKeys

P_co = TypeVar("P_co", covariant=True)


@dataclass(frozen=True, slots=True)
class TenantData(Generic[P_co]):
    """The keys and engines for work on a tenant's data that is the same under every policy: indexing, erasing, what the
    sweep finds. ``ports``: as many of the engines as the work needs."""

    ports: P_co
    keys: Keys

    def of_user(self, user: str) -> UserData[P_co]:
        return UserData(self.ports, self.keys.of_user(user))


@dataclass(frozen=True, slots=True)
class UserData(TenantData[P_co]):
    keys: UserKeys

    def of_session(self, session: str) -> SessionData[P_co]:
        return SessionData(self.ports, self.keys.of_session(session))


@dataclass(frozen=True, slots=True)
class SessionData(UserData[P_co]):
    keys: SessionKeys


@dataclass(frozen=True, slots=True)
class Tenant:
    """A verified tenant. ``id``: the verified caller's. ``policy``: the one in force, at most 60 s old. ``reindexed``:
    False while the vectors that the index holds of it are not yet those of the policy's ``languages``."""

    id: str
    policy: Policy
    reindexed: bool = True

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
    def data(self) -> TenantData[Ports]:
        return TenantData(self.ports, self.keys)

    @property
    def count(self) -> Counter:
        """Give the counter that the policy names. Raises NeveError ``invalid_policy`` when its data is not
        installed."""
        return self.ports.counter(self.tenant.policy.token_counter)

    @property
    def in_many_languages(self) -> bool:
        """Say whether the tenant has the encoder of many languages."""
        return self.policy.languages == "multi" and self.ports.multi is not None

    @property
    def embedder(self) -> Embedder:
        """Give the embedder of the languages that the policy names."""
        return (self.ports.multi if self.in_many_languages else None) or self.ports.embedder

    def of_user(self, user: str) -> UserScope:
        return UserScope(self.ports, self.tenant, user)


@dataclass(frozen=True, slots=True)
class UserScope(TenantScope):
    user: str

    @property
    def keys(self) -> UserKeys:
        return UserKeys(self.tenant.id, self.user)

    @property
    def data(self) -> UserData[Ports]:
        return UserData(self.ports, self.keys)

    def of_session(self, session: str) -> SessionScope:
        return SessionScope(self.ports, self.tenant, self.user, session)


@dataclass(frozen=True, slots=True)
class SessionScope(UserScope):
    session: str

    @property
    def keys(self) -> SessionKeys:
        return SessionKeys(self.tenant.id, self.user, self.session)

    @property
    def data(self) -> SessionData[Ports]:
        return SessionData(self.ports, self.keys)
