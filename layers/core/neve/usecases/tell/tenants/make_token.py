"""E17: make an access token. Its text is in the answer and nowhere else; it ends by itself, or with the API key that
made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from neve.domain.tenants.access_token import ROTATE_AFTER, AccessToken, SigningSecret, sign
from neve.domain.times import iso
from neve.ports.engines import Ports
from neve.scope import TenantScope
from neve.store.keys import SIGNING_SECRETS
from neve.store.tenants.signing_secrets import SigningSecrets, put_signing_secrets, read_signing_secrets
from neve.store.transact import transact

KID_LENGTH = 16


@dataclass(frozen=True, slots=True)
class MadeToken:
    """``token`` is the text that the caller must keep."""

    token: str
    expires_at: str


def make_token(
    scope: TenantScope, key_id: str, user_id: str | None, scopes: Sequence[str], ttl_s: int, label: str | None
) -> MadeToken:
    """Make a token of an API key. ``user_id`` None: it sees the whole tenant. Raises 409 ``conflict``,
    StoreUnavailable."""
    ports = scope.ports
    now = ports.clock.now().replace(microsecond=0)
    whose = (ports.ids.token(), scope.tenant.id, key_id, user_id)
    token = AccessToken(*whose, tuple(scopes), now, now + timedelta(seconds=ttl_s), label)
    return MadeToken(sign(token, signing_secret(ports)), iso(token.expires_at))


def signing_secret(ports: Ports) -> SigningSecret:
    """Give the secret that signs; a new one where there is none, or the newest has signed for long enough. Raises
    409 ``conflict``, StoreUnavailable."""

    def attempt() -> SigningSecret:
        row = read_signing_secrets(ports.table.get(SIGNING_SECRETS))
        newest = next(iter(row.secrets), None)
        if newest is not None and ports.clock.now() - newest.made_at < ROTATE_AFTER:
            return newest
        # the one before the newest has signed nothing for longer than any token is good
        return _put_new(ports, row, row.secrets[:1])

    return transact(ports, attempt)


def end_all_tokens(ports: Ports) -> None:
    """Replace the secrets of the stage by a new one: no token that was made before is good any more. Raises 409
    ``conflict``, StoreUnavailable."""
    transact(ports, lambda: _put_new(ports, read_signing_secrets(ports.table.get(SIGNING_SECRETS)), ()))


def _put_new(ports: Ports, row: SigningSecrets, kept: tuple[SigningSecret, ...]) -> SigningSecret:
    ids = ports.ids
    new = SigningSecret(ids.token()[:KID_LENGTH], ids.token() + ids.token(), ports.clock.now())
    ports.table.write([put_signing_secrets(SigningSecrets((new, *kept), row.version))])
    return new
