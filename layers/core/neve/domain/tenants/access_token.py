"""Signs and reads access tokens: JWTs by HS256 that stand for an API key for at most an hour, most of them for one user
alone (docs/rules/access.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

MIN_TTL_S, MAX_TTL_S = 60, 3600
"""The bounds of a token's time (*given*)."""
NOT_BEFORE_LEEWAY = timedelta(seconds=60)
"""*Given*: the process that made a token may have a clock that is ahead. Its end has no leeway."""
ROTATE_AFTER = timedelta(days=30)
"""*Chosen*: the time for which a secret signs. The one before it goes on checking for as long."""
ALGORITHM = "HS256"

UserScope = Literal["chat", "records", "documents", "self"]
TenantScope = Literal["chat", "records", "admin", "documents"]


@dataclass(frozen=True, slots=True)
class SigningSecret:
    """A secret of the stage: 256 bits in hex. ``kid``: what the head of a token names it by. ``made_at``: aware."""

    kid: str
    secret: str
    made_at: datetime


@dataclass(frozen=True, slots=True)
class AccessToken:
    """A token as it was made by the API key ``key_id``. ``user_id`` None: it sees the whole tenant. ``made_at`` and
    ``expires_at`` are aware and of whole seconds. ``id``: no other token has it. ``label``: for whoever holds it."""

    id: str
    tenant_id: str
    key_id: str
    user_id: str | None
    scopes: tuple[str, ...]
    made_at: datetime
    expires_at: datetime
    label: str | None = None


def sign(token: AccessToken, secret: SigningSecret) -> str:
    """Make the text of a token."""
    import jwt  # what it brings is a third of what an authorizer imports: only where there is a token

    claims = {
        "jti": token.id,
        "tenant": token.tenant_id,
        "key": token.key_id,
        "sub": token.user_id,
        "scopes": " ".join(token.scopes),
        "nbf": int(token.made_at.timestamp()),
        "exp": int(token.expires_at.timestamp()),
        "label": token.label,
    }
    given = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(given, bytes.fromhex(secret.secret), ALGORITHM, {"kid": secret.kid})


def kid_of(text: str) -> str | None:
    """Read by which secret a token says that it was signed; None: it is no token."""
    import jwt

    try:
        kid = jwt.get_unverified_header(text).get("kid")
    except jwt.PyJWTError:
        return None
    return kid if isinstance(kid, str) else None


def read(text: str, secret: SigningSecret) -> AccessToken | None:
    """Read a token that this secret has signed; None for any other. Its time is the caller's to check, by the clock of
    the service."""
    import jwt

    untimed = {"verify_exp": False, "verify_nbf": False, "verify_iat": False, "require": ["exp", "nbf", "jti"]}
    try:
        claims = jwt.decode(text, bytes.fromhex(secret.secret), [ALGORITHM], options=untimed)  # type: ignore[arg-type]
        return _token(claims, secret)
    except (jwt.PyJWTError, KeyError, TypeError, ValueError, OverflowError):
        return None


def _token(claims: Mapping[str, Any], secret: SigningSecret) -> AccessToken:
    zone = secret.made_at.tzinfo
    begins, ends = (datetime.fromtimestamp(claims[name], zone) for name in ("nbf", "exp"))
    scopes = tuple(claims["scopes"].split())
    whose = (claims["jti"], claims["tenant"], claims["key"], claims.get("sub"))
    return AccessToken(*whose, scopes, begins, ends, claims.get("label"))
