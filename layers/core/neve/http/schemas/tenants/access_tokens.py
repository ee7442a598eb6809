"""E17: access tokens."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import Field

from neve.domain.tenants.access_token import MAX_TTL_S, MIN_TTL_S, TenantScope, UserScope
from neve.http.operations import Body, Operation, Response, View, route
from neve.http.schemas.enums import TenantTokenScope, UserTokenScope
from neve.http.schemas.fields import Name, Time
from neve.http.schemas.tenants.admin import DISTINCT

DEFAULT_TTL_S = 900
"""*Chosen*: a page that is left open asks for another four times an hour."""


class _LimitedBody(Body):
    ttl_s: int = Field(default=DEFAULT_TTL_S, ge=MIN_TTL_S, le=MAX_TTL_S, description="Seconds until it ends.")
    label: Name | None = Field(
        default=None, max_length=100, description="For whoever holds the token: it stands in it, and nowhere else."
    )


class CreateUserTokenBody(_LimitedBody):
    scopes: Annotated[list[UserTokenScope], *DISTINCT] = Field(
        max_length=len(get_args(UserScope)), description="`self`: the user's own export and erasure, and their jobs."
    )


class CreateTokenBody(_LimitedBody):
    scopes: Annotated[list[TenantTokenScope], *DISTINCT] = Field(
        max_length=len(get_args(TenantScope)), description="Some of those that the API key has."
    )


class TokenOut(View):
    token: str = Field(description="A JWT, sent as `Authorization: Bearer <token>`. It is kept nowhere.")
    expires_at: Time


CREATE_USER_TOKEN = Operation(
    **route("POST", "/v1/users/{user_id}/tokens", "createUserToken", "admin", "admin", "tokens"),
    summary="A token that is good for one user, for an hour at most.",
    description="For a browser, or for the tools of a model: every other user is 404, and every call of the tenant 403."
    " It ends with the API key that made it.",
    body=CreateUserTokenBody,
    responses={201: Response("The token.", TokenOut)},
    codes=("conflict",),
    by_key=True,
)

CREATE_TOKEN = Operation(
    **route("POST", "/v1/tokens", "createToken", "admin", "admin", "tokens"),
    summary="A token that stands for the API key, for an hour at most.",
    description="For a console: it sees all users, with some of the scopes that the key has. It makes neither keys nor"
    " tokens, and ends with the API key that made it.",
    body=CreateTokenBody,
    responses={201: Response("The token.", TokenOut)},
    codes=("conflict",),
    by_key=True,
)
