"""The operator's call: a new tenant with its first key. No API key can do this."""

from __future__ import annotations

from neve.domain.errors import NeveError, invalid
from neve.domain.ids import IDENTIFIER_RULE, is_identifier
from neve.domain.times import iso
from neve.ports.engines import Ports
from neve.ports.errors import Conflict
from neve.store.keys import tenant_row
from neve.store.tenants.tenant_rows import SCOPES, TenantRow, read_tenant
from neve.usecases.tell.tenants.keys import CreatedKey, NewKey


def create_tenant(ports: Ports, tenant_id: str, label: str | None = None) -> CreatedKey:
    """Make a tenant with the default policy and a key of every scope. Raises 409 ``conflict`` when it exists already,
    and 422 for what is no id: what is kept for ``acme/eu`` would be taken for that of the user ``eu`` of ``acme``."""
    if not is_identifier(tenant_id):
        raise invalid("tenant", IDENTIFIER_RULE)
    key = NewKey(ports, SCOPES, label)
    try:
        return key.add_to(TenantRow(tenant_id, iso(ports.clock.now())))
    except Conflict:
        item = ports.table.get(tenant_row(tenant_id))
        own = key.of(read_tenant(item)) if item else None
        if own is not None:
            return own
        raise NeveError("conflict", f"The tenant '{tenant_id}' exists already.") from None
