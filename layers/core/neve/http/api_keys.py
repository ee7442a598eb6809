"""Finds who is calling: the API key of an Authorization header, checked against its row."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from datetime import timedelta

from neve.caching import CacheSpec
from neve.ports.engines import Ports
from neve.ports.errors import StoreUnavailable
from neve.store.keys import api_key_row
from neve.store.tenants.tenant_rows import key_sha256, read_api_key
from neve.usecases.tell.tenants.keys import note_use

_BEARER = re.compile(r"Bearer +(nv_([0-9a-zA-Z]{1,64})_[0-9a-zA-Z]{1,128})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Caller:
    tenant_id: str
    key_id: str
    scopes: tuple[str, ...]


VERDICTS: CacheSpec[str, Caller] = CacheSpec("verdicts", size=1000, ttl=timedelta(seconds=60))
"""The verdicts of the last minute, by the sha256 of the key (docs/rules/tenants.md#keys). They are asked only while the
row store is down, so that an outage of it degrades the chat path instead of closing it; while it is up a revoked key is
refused at once."""


def caller_of(ports: Ports, authorization: str | None) -> Caller | None:
    """Find the caller whose API key it is; None: no key, a wrong one, or a revoked one. Raises StoreUnavailable when
    that cannot be known."""
    given = _BEARER.fullmatch((authorization or "").strip())
    if given is None:
        return None
    sha256, verdicts, as_of = key_sha256(given[1]), ports.caches.of(VERDICTS), ports.clock.now()
    try:
        item = ports.table.get(api_key_row(given[2]))
    except StoreUnavailable:
        if (known := verdicts.get(sha256)) is not None:
            return known
        raise
    key = read_api_key(item) if item else None
    if key is None or not hmac.compare_digest(key.sha256, sha256) or key.revoked_at is not None:
        verdicts.drop(sha256)
        return None
    note_use(ports, key)
    return verdicts.put(sha256, Caller(key.tenant_id, key.key_id, key.scopes), as_of=as_of)
