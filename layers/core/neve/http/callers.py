"""Says who makes a call: what the authorizer found out, and what a function is told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from urllib.parse import quote, unquote

from neve.domain.errors import NeveError
from neve.domain.ids import as_name


@dataclass(frozen=True, slots=True)
class Caller:
    """Names whoever makes a call, as verified. ``key_id``: of the API key, also where a token of it calls. ``user_id``
    and ``expires_at`` (aware, of whole seconds): of an access token. Without the first it sees the whole tenant, as a
    key does; a key has neither. ``plan``: the tenant's usage plan, which the gateway alone is told of."""

    tenant_id: str
    key_id: str
    scopes: tuple[str, ...]
    user_id: str | None = None
    expires_at: datetime | None = None
    plan: str | None = None

    @classmethod
    def of(cls, context: Mapping[str, Any]) -> Caller | None:
        """Read who it is from the context that the authorizer left in a proxy event; None for a call of nobody."""
        tenant_id, user_id, expires_at = (context.get(name) for name in ("tenant_id", "user_id", "expires_at"))
        if not tenant_id:
            return None
        return cls(
            tenant_id,
            context.get("key_id") or "",
            tuple(str(context.get("scopes") or "").split()),
            unquote(user_id) if user_id else None,
            datetime.fromtimestamp(int(expires_at), UTC) if expires_at else None,
        )

    @property
    def context(self) -> dict[str, str | int]:
        """Give the authorizer's context, which ``of`` reads. Its texts are ASCII, as an HTTP header's would be."""
        context: dict[str, str | int] = {
            "tenant_id": self.tenant_id,
            "key_id": self.key_id,
            "scopes": " ".join(self.scopes),
        }
        if self.user_id is not None:
            context["user_id"] = quote(self.user_id, safe="")
        if self.expires_at is not None:
            context["expires_at"] = int(self.expires_at.timestamp())
        if self.plan is not None:
            context["plan"] = self.plan
        return context

    def usage_key(self, stage: str) -> str:
        """Give the value of the gateway's key whose usage plan counts the call: the tenant's own, or the one of all who
        have no plan. It lets nobody in: the gateway takes it from the authorizer alone. 20 to 128 characters."""
        whose = f"tenant-{sha256(self.tenant_id.encode()).hexdigest()[:32]}" if self.plan else "everybody-else"
        return f"neve-{stage}-{whose}"

    def refuse_expired(self, now: datetime) -> None:
        """Raises 401 ``token_expired``: a gateway keeps the authorizer's answer for longer than a token may be good."""
        if self.expires_at is not None and now >= self.expires_at:
            raise NeveError("token_expired", f"The access token was good until {self.expires_at:%H:%M:%S} UTC.")

    def refuse_other(self, user_id: str) -> None:
        """Raises 404 ``user_not_found`` for anybody but the user whose token it is. ``user_id``: as in a path."""
        if self.user_id is not None and as_name(user_id) != self.user_id:
            raise NeveError("user_not_found", f"The access token sees one user, who is not '{user_id}'.")
