"""A tenant and a ready-made API key, so that the first call works without any set-up."""

from __future__ import annotations

import os
from pathlib import Path

from neve.ports.engines import Ports
from neve.store.keys import api_key_row, tenant_row
from neve.store.tenants import tenant_rows
from neve.store.tenants.tenant_rows import SCOPES, key_sha256, read_api_key
from neve.usecases.tenants.create_key import add_key
from neve.usecases.tenants.create_tenant import create_tenant

TENANT = "local"
KEY_FILE = "api-key"
LABEL = "ready-made"


def ready_key(ports: Ports, folder: Path) -> str:
    """The key of an earlier start as long as it is good, else a new one of every scope. Its text is kept in ``folder``,
    readable by its owner only. Raises StoreUnavailable."""
    stored = _stored_key(folder / KEY_FILE)
    if stored is not None and _is_live(ports, stored):
        return stored
    item = ports.table.get(tenant_row(TENANT))
    if item is None:
        created = create_tenant(ports, TENANT, LABEL)
    else:
        created = add_key(ports, tenant_rows.read_tenant(item), SCOPES, LABEL)
    _keep_key(folder / KEY_FILE, created.key)
    return created.key


def _is_live(ports: Ports, text: str) -> bool:
    item = ports.table.get(api_key_row(text.split("_")[1]))
    key = read_api_key(item) if item else None
    return key is not None and key.revoked_at is None and key.sha256 == key_sha256(text)


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
