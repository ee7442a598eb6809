"""The tenant's API keys."""

from __future__ import annotations

from neve.http.operations import Nothing
from neve.http.router import Answer, Call, Router, fitting, once
from neve.http.schemas.tenants import admin as a
from neve.usecases.ask.tenants.list_keys import list_keys
from neve.usecases.tell.tenants.keys import create_key, revoke_key


def bind_keys(router: Router) -> None:
    router.on(a.LIST_KEYS)(_listed)
    router.on(a.CREATE_KEY)(_created)
    router.on(a.REVOKE_KEY)(_revoked)


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
