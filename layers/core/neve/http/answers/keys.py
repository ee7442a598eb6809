"""The tenant's API keys, and the access tokens that they make."""

from __future__ import annotations

from neve.domain.errors import FieldError, NeveError
from neve.http.operations import Nothing
from neve.http.router import Answer, Call, Router, fitting, once
from neve.http.schemas.tenants import access_tokens as t
from neve.http.schemas.tenants import admin as a
from neve.usecases.ask.tenants.list_keys import list_keys
from neve.usecases.tell.tenants.keys import create_key, revoke_key
from neve.usecases.tell.tenants.make_token import make_token


def bind_keys(router: Router) -> None:
    router.on(a.LIST_KEYS)(_listed)
    router.on(a.CREATE_KEY)(_created)
    router.on(a.REVOKE_KEY)(_revoked)
    router.on(t.CREATE_USER_TOKEN)(_of_user)
    router.on(t.CREATE_TOKEN)(_of_tenant)


def _listed(call: Call[a.ListUsersQuery, Nothing]) -> Answer:
    return Answer(body=fitting(call.query, lambda n, at: a.KeyPage.listing(*list_keys(call.tenant, n, at))))


def _created(call: Call[Nothing, a.CreateKeyBody]) -> Answer:
    wanted = (call.body.scopes, call.body.label)
    return once(call, lambda: Answer(201, a.KeyOut.of(create_key(call.tenant, *wanted))), keep=a.without_secret)


def _revoked(call: Call[Nothing, Nothing]) -> Answer:
    def revoked() -> Answer:
        revoke_key(call.tenant, call.ids["key_id"])
        return Answer(204)

    return once(call, revoked)


def _of_user(call: Call[Nothing, t.CreateUserTokenBody]) -> Answer:
    return _made(call, call.ids["user_id"])


def _of_tenant(call: Call[Nothing, t.CreateTokenBody]) -> Answer:
    """Answer with a token of the key's own scopes. Raises 403 ``forbidden``, which names those that it has not."""
    has = call.caller.scopes
    wrong = [(f"scopes[{n}]", scope) for n, scope in enumerate(call.body.scopes) if scope not in has]
    if wrong:
        named = ", ".join(f"'{scope}'" for _, scope in wrong)
        detail = f"The API key has not itself the scope {named}: leave it out, or use a key that has it."
        raise NeveError("forbidden", detail, errors=[FieldError(field, "is no scope of the key") for field, _ in wrong])
    return _made(call, None)


def _made(call: Call[Nothing, t.CreateUserTokenBody] | Call[Nothing, t.CreateTokenBody], user_id: str | None) -> Answer:
    body = call.body
    made = make_token(call.tenant, call.caller.key_id, user_id, body.scopes, body.ttl_s, body.label)
    return Answer(201, t.TokenOut.of(made))
