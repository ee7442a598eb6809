"""Makes the address of the console with a token of its own, for whoever just started the service."""

from __future__ import annotations

from local.bootstrap import TENANT
from local.console.page import NOT_BUILT, PREFIX, is_built
from neve.domain.tenants.access_token import MAX_TTL_S
from neve.domain.tenants.policy import Policy
from neve.ports.engines import Ports
from neve.scope import Tenant, TenantScope
from neve.usecases.tell.tenants.make_token import make_token

SCOPES = ("chat", "records", "admin")
LABEL = "console"


def console_address(ports: Ports, url: str, api_key: str | None) -> str:
    """Without an API key there is none that a token could stand for: then the page asks for one. The token sees every
    user, for an hour. Raises 409 ``conflict``, StoreUnavailable."""
    page = f"{url}{PREFIX}/"
    if api_key is None:
        return page
    scope = TenantScope(ports, Tenant(TENANT, Policy()))
    made = make_token(scope, api_key.split("_")[1], None, SCOPES, MAX_TTL_S, LABEL)
    return f"{page}#token={made.token}"


def console_lines(address: str) -> list[str]:
    """What the start says of the console."""
    if not is_built():
        return [f"  console   {NOT_BUILT.strip()}"]
    told = "(opens every user's memory for an hour; another one: neve console)"
    return [f"  console   {address}", f"            {told}"]
