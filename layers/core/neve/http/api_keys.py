"""Finds who is calling by an Authorization header: an API key, checked against its row, or an access token of one,
whose signature is checked first."""

from __future__ import annotations

import hmac
import re
from dataclasses import replace
from datetime import timedelta

from neve.caching import CacheSpec
from neve.domain.tenants.access_token import NOT_BEFORE_LEEWAY, AccessToken, kid_of, read
from neve.http.callers import Caller
from neve.ports.engines import Ports
from neve.ports.errors import StoreUnavailable
from neve.store.keys import SIGNING_SECRETS, api_key_row
from neve.store.tenants.signing_secrets import SigningSecrets, read_signing_secrets
from neve.store.tenants.tenant_rows import ApiKey, key_sha256, read_api_key
from neve.usecases.tell.tenants.keys import note_use

_KEY = re.compile(r"nv_([0-9a-zA-Z]{1,64})_[0-9a-zA-Z]{1,128}")
_BEARER = re.compile(r"Bearer +(\S+)", re.IGNORECASE)

VERDICTS: CacheSpec[str, Caller] = CacheSpec("verdicts", size=1000, ttl=timedelta(seconds=60))
"""The verdicts of the last minute, by the sha256 of the key or token (docs/rules/tenants.md#keys). They are asked only
while the row store is down, so that an outage of it degrades the chat path instead of closing it; while it is up a
revoked key is refused at once."""
SECRETS: CacheSpec[str, SigningSecrets] = CacheSpec("signing secrets", size=1, ttl=timedelta(seconds=60))
"""*Chosen*: as long as a gateway keeps a verdict. A token that names a secret which is not here has them read again."""


def caller_of(ports: Ports, authorization: str | None) -> Caller | None:
    """Find the caller whose API key or access token it is; None: neither, a wrong one, or one of a revoked key. A token
    that has expired gives a caller without scopes, for the function to say so. Raises StoreUnavailable when that cannot
    be known."""
    given = _BEARER.fullmatch((authorization or "").strip())
    if given is None:
        return None
    key = _KEY.fullmatch(given[1])
    token = None if key else _token(ports, given[1])
    key_id = key[1] if key else token.key_id if token else None
    if key_id is None:
        return None
    sha256, verdicts, as_of = key_sha256(given[1]), ports.caches.of(VERDICTS), ports.clock.now()
    try:
        item = ports.table.get(api_key_row(key_id))
    except StoreUnavailable:
        if (known := verdicts.get(sha256)) is not None:
            return known
        raise
    row = read_api_key(item) if item else None
    if row is None or row.revoked_at is not None or not _fits(row, sha256, token):
        verdicts.drop(sha256)
        return None
    note_use(ports, row)
    caller = _holder(ports, token) if token else Caller(row.tenant_id, row.key_id, row.scopes)
    caller = replace(caller, plan=row.plan)
    return verdicts.put(sha256, caller, as_of=as_of)


def _fits(row: ApiKey, sha256: str, token: AccessToken | None) -> bool:
    """Say whether the row is that of the key, or of the key that has made the token."""
    return row.tenant_id == token.tenant_id if token else hmac.compare_digest(row.sha256, sha256)


def _holder(ports: Ports, token: AccessToken) -> Caller:
    scopes = () if ports.clock.now() >= token.expires_at else token.scopes
    return Caller(token.tenant_id, token.key_id, scopes, token.user_id, token.expires_at)


def _token(ports: Ports, text: str) -> AccessToken | None:
    """Read a token that the stage has signed, and that is not of a time to come."""
    kid = kid_of(text)
    if kid is None:
        return None
    held = ports.caches.of(SECRETS)
    known = held.get("")
    secret = known.named(kid) if known else None
    if secret is None:
        began = ports.clock.now()
        secret = held.put("", read_signing_secrets(ports.table.get(SIGNING_SECRETS)), as_of=began).named(kid)
    token = read(text, secret) if secret else None
    return token if token and token.made_at <= ports.clock.now() + NOT_BEFORE_LEEWAY else None
