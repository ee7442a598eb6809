"""A tenant and a ready-made API key, so that the first call works without any set-up."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from neve.ports.engines import Ports
from neve.store.keys import api_key_row, tenant_row
from neve.store.tenants import tenant_rows
from neve.store.tenants.tenant_rows import SCOPES, ApiKey, TenantRow, key_sha256, read_api_key
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.tell.tenants.keys import CreatedKey, add_key

TENANT = "local"
KEY_FILE = "api-key"
LABEL = "ready-made"


@dataclass(frozen=True, slots=True)
class ReadyKey:
    """``text`` None: nobody needs one, because the one of an earlier start was revoked while another is good. ``told``:
    for the person at the screen, where it came from."""

    text: str | None
    told: str


def ready_key(ports: Ports, folder: Path, *, anew: bool = False) -> ReadyKey:
    """The key of an earlier start as long as it is good. A tenant that has none, and one whose key is not in ``folder``
    any more, get one of every scope; so does who asks for it (``anew``). No key is made in silence, and none in place
    of one that was revoked: who revoked it has its successor. A key's text is kept in ``folder``, readable by its owner
    only. Raises StoreUnavailable."""
    file = folder / KEY_FILE
    stored, item = _stored_key(file), ports.table.get(tenant_row(TENANT))
    if item is None:
        return _kept(file, create_tenant(ports, TENANT, LABEL), "new, of every scope")
    tenant = tenant_rows.read_tenant(item)
    if not anew and stored is not None:
        known = _key_of(ports, stored)
        if known is not None and known.revoked_at is None:
            return ReadyKey(stored, f"as before, from {file}")
        if known is not None:
            return ReadyKey(None, f"none made: the one in {file} was revoked; {_good(tenant)}")
    added = add_key(ports, tenant, SCOPES, LABEL)
    why = "as asked for" if anew else f"because {file} holds none of an earlier start"
    return _kept(file, added, f"new, {why}; {_good(tenant)}")


def _good(tenant: TenantRow) -> str:
    """Which keys there are beside a new one: their texts were shown when they were made."""
    ids = " and ".join(f"nv_{key.key_id}_…" for key in tenant.live_keys)
    return f"still good: {ids or 'no other'}"


def _kept(file: Path, created: CreatedKey, told: str) -> ReadyKey:
    _keep_key(file, created.key)
    return ReadyKey(created.key, f"{told}; kept in {file}")


def _key_of(ports: Ports, text: str) -> ApiKey | None:
    item = ports.table.get(api_key_row(text.split("_")[1]))
    key = read_api_key(item) if item else None
    return key if key is not None and key.sha256 == key_sha256(text) else None


def _stored_key(path: Path) -> str | None:
    try:
        text = path.read_text(encoding="ascii").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return None
    return text if text.count("_") == 2 else None


def _keep_key(path: Path, text: str) -> None:
    partial = path.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text + "\n")
    partial.replace(path)
