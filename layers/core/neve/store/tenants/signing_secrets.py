"""The row of the secrets that sign access tokens: one of the stage, which the first token makes."""

from __future__ import annotations

from dataclasses import dataclass

from neve.domain.tenants.access_token import SigningSecret
from neve.domain.times import iso, parse
from neve.ports.table import Item, Put
from neve.store.keys import SIGNING_SECRETS
from neve.store.rows import expectation


@dataclass(frozen=True, slots=True)
class SigningSecrets:
    """The secrets whose tokens are good. The newest is the first, and signs."""

    secrets: tuple[SigningSecret, ...] = ()
    version: int = 0

    def named(self, kid: str) -> SigningSecret | None:
        return next((one for one in self.secrets if one.kid == kid), None)


def read_signing_secrets(item: Item | None) -> SigningSecrets:
    if item is None:
        return SigningSecrets()
    known = (SigningSecret(one["kid"], one["secret"], parse(one["made_at"])) for one in item["secrets"])
    return SigningSecrets(tuple(known), item["version"])


def put_signing_secrets(row: SigningSecrets) -> Put:
    key = SIGNING_SECRETS
    secrets = [{"kid": one.kid, "secret": one.secret, "made_at": iso(one.made_at)} for one in row.secrets]
    item: Item = {"pk": key.pk, "sk": key.sk, "type": "secret", "secrets": secrets}
    return Put(item, expectation(row.version))
