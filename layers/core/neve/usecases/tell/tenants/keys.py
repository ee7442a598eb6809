"""E17: make and revoke API keys, and note when each was used. A key's text is in the answer and nowhere else. A revoked
key stops working at once where keys are read, and after at most 60 s at the gateway."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from neve.caching import CacheSpec
from neve.domain.errors import NeveError, not_found
from neve.domain.times import iso
from neve.ports.engines import Ports
from neve.ports.errors import Conflict, StoreUnavailable
from neve.ports.runtime import Ids
from neve.scope import TenantScope
from neve.store.keys import api_key_row, tenant_row
from neve.store.tenants import tenant_rows
from neve.store.tenants.tenant_rows import ApiKey, LiveKey, TenantRow, put_api_key
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
        stored = replace(stored, plan=row.plan)
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


NOTED: CacheSpec[tuple[str, str], bool] = CacheSpec("key days", size=1000, ttl=timedelta(days=1))
"""The keys and days that this process has tried to note. A store that takes no writes is asked once a day for each."""


def note_use(ports: Ports, key: ApiKey) -> None:
    """Note the day (UTC) on the key's row at its first call of that day, and only if no other writer has moved the row
    since it was read; the second caller finds the day there. It refuses no call: a key that was revoked or noted
    meanwhile is left alone, and a day that the store did not take stays unknown."""
    day = iso(ports.clock.now())[:10]
    noted = ports.caches.of(NOTED)
    if key.last_used_day == day or noted.get((key.key_id, day)):
        return
    noted.put((key.key_id, day), True)
    try:
        ports.table.write([put_api_key(replace(key, last_used_day=day))])
    except (Conflict, StoreUnavailable):
        return


def revoke_key(scope: TenantScope, key_id: str) -> None:
    """Revoke a key. Repeating it changes nothing. Raises 404 ``key_not_found`` (also for another tenant's key), 409
    ``last_admin_key`` when no key could be made afterwards, and StoreUnavailable."""
    transact(scope.ports, lambda: _revoke_once(scope, key_id))


def _revoke_once(scope: TenantScope, key_id: str) -> None:
    own, place = tenant_row(scope.tenant.id), api_key_row(key_id)
    found = scope.ports.table.get_many([own, place])
    key = tenant_rows.read_api_key(found[place]) if place in found else None
    if key is None or own not in found or key.tenant_id != scope.tenant.id:
        raise not_found("key", key_id)
    if key.revoked_at is not None:
        return
    row = tenant_rows.read_tenant(found[own])
    left = tuple(live for live in row.live_keys if live.key_id != key_id)
    if "admin" in key.scopes and not any("admin" in live.scopes for live in left):
        detail = f"'{key_id}' is the last key with the scope admin; create another one first."
        raise NeveError("last_admin_key", detail)
    revoked = replace(key, revoked_at=iso(scope.ports.clock.now()))
    scope.ports.table.write([tenant_rows.put_api_key(revoked), tenant_rows.put_tenant(replace(row, live_keys=left))])
