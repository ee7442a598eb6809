"""E17: a new API key. Its text is in the answer and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from neve.domain.errors import NeveError
from neve.domain.times import iso
from neve.ports.engines import Ports
from neve.ports.runtime import Ids
from neve.scope import TenantScope
from neve.store.keys import tenant_row
from neve.store.tenants import tenant_rows
from neve.store.tenants.tenant_rows import ApiKey, LiveKey, TenantRow
from neve.store.transact import transact

LIVE_KEYS = 10
"""Live keys of a tenant at most (docs/rules/tenants.md#keys)."""
KEY_ID_LENGTH = 16


@dataclass(frozen=True, slots=True)
class CreatedKey:
    """``key`` is the text that the caller must keep."""

    key_id: str
    key: str
    scopes: tuple[str, ...]
    created_at: str
    label: str | None


def create_key(scope: TenantScope, scopes: Sequence[str], label: str | None = None) -> CreatedKey:
    """Make a new key. Raises 409 ``too_many_keys`` when ten keys are live, 401 ``unauthorized`` when the tenant is
    being removed, and StoreUnavailable."""
    made = NewKey(scope.ports, scopes, label)

    def attempt() -> CreatedKey:
        row = tenant_rows.existing(scope.ports.table.get(tenant_row(scope.tenant.id)))
        if (own := made.of(row)) is not None:
            return own
        if len(row.live_keys) >= LIVE_KEYS:
            live = ", ".join(key.key_id for key in row.live_keys)
            cure = "revoke one first (DELETE /v1/keys/{key_id})"
            raise NeveError("too_many_keys", f"The tenant has {LIVE_KEYS} live API keys, {live}; {cure}.")
        return made.add_to(row)

    return transact(scope.ports, attempt)


@dataclass
class NewKey:
    """A key that is to be made. ``tried``: what the last attempt was to add."""

    ports: Ports
    scopes: Sequence[str]
    label: str | None
    tried: CreatedKey | None = None

    def of(self, row: TenantRow) -> CreatedKey | None:
        """Give the key, where the tenant has it: our own commit, whose response was lost."""
        key_id = self.tried.key_id if self.tried else None
        return self.tried if any(live.key_id == key_id for live in row.live_keys) else None

    def add_to(self, row: TenantRow) -> CreatedKey:
        """Write the key's row and the tenant's, in one transaction. Raises Conflict, and 401 ``unauthorized`` for a
        tenant that is being removed: a gateway lets its old keys in for another minute, and what they made would
        outlive it."""
        if row.closed:
            raise NeveError("unauthorized", f"The tenant '{row.id}' is being removed.")
        ports = self.ports
        stored, text = new_key(ports.ids, row.id, self.scopes, self.label, iso(ports.clock.now()))
        live = (*row.live_keys, LiveKey(stored.key_id, stored.scopes))
        self.tried = CreatedKey(stored.key_id, text, stored.scopes, stored.created_at, self.label)
        ports.table.write([tenant_rows.put_api_key(stored), tenant_rows.put_tenant(replace(row, live_keys=live))])
        return self.tried


def add_key(ports: Ports, row: TenantRow, scopes: Sequence[str], label: str | None) -> CreatedKey:
    """Make one attempt. Raises as ``NewKey.add_to``."""
    return NewKey(ports, scopes, label).add_to(row)


def new_key(ids: Ids, tenant_id: str, scopes: Sequence[str], label: str | None, created_at: str) -> tuple[ApiKey, str]:
    """Make a key as it is stored, and its text ``nv_<key_id>_<secret>`` with 128 random bits in the secret."""
    key_id = ids.token()[:KEY_ID_LENGTH]
    text = tenant_rows.key_text(key_id, ids.token())
    ordered = tuple(scope for scope in tenant_rows.SCOPES if scope in scopes)
    return ApiKey(key_id, tenant_id, tenant_rows.key_sha256(text), ordered, created_at, label), text
