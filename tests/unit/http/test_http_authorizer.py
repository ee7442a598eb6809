"""The authorizer function, and the two use cases that make and revoke what it checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from functions.authorizer import app
from neve import wiring
from neve.domain.errors import NeveError
from neve.domain.tenants.policy import Policy
from neve.ports import StoreUnavailable
from neve.scope import Tenant, TenantScope
from neve.usecases.tenants.create_key import CreatedKey, create_key
from neve.usecases.tenants.create_tenant import create_tenant
from neve.usecases.tenants.revoke_key import revoke_key
from tests.unit.world import World

ARN = "arn:aws:execute-api:eu-west-1:123456789012:abc123/prod/GET/v1/users/ann/pack"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World.make(tmp_path)
    monkeypatch.setattr(wiring, "_installed", [world])
    return world


@pytest.fixture
def key(world: World) -> CreatedKey:
    return create_tenant(world, "acme", "first")


def authorize(authorization: str | None) -> Any:
    headers = {} if authorization is None else {"authorization": authorization}
    return app.handler({"type": "REQUEST", "methodArn": ARN, "headers": headers}, None)


def refused(authorization: str | None) -> bool:
    with pytest.raises(Exception, match=r"^Unauthorized$"):
        authorize(authorization)
    return True


def test_key_becomes_tenant_and_scopes(key: CreatedKey) -> None:
    answer = authorize(f"Bearer {key.key}")
    assert answer == {
        "principalId": key.key_id,
        "policyDocument": {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Action": "execute-api:Invoke",
                    "Effect": "Allow",
                    "Resource": "arn:aws:execute-api:eu-west-1:123456789012:abc123/prod/*",
                }
            ],
        },
        "context": {"tenant_id": "acme", "key_id": key.key_id, "scopes": "chat records admin"},
    }
    assert authorize(f"bearer  {key.key} ") == answer


def test_everything_else_is_unauthorized(world: World, key: CreatedKey) -> None:
    other = create_tenant(world, "other")
    secret = key.key.rpartition("_")[2]
    wrong = f"nv_{other.key_id}_{secret}"
    for given in (
        None,
        "",
        "Bearer",
        key.key,
        f"Basic {key.key}",
        "Bearer nv__",
        f"Bearer {key.key}x",
        f"Bearer {wrong}",
    ):
        assert refused(given)
    assert refused(f"Bearer nv_unknown_{secret}")
    assert refused("Bearer nv_a#b_c")


def test_only_the_hash_is_stored(world: World, key: CreatedKey) -> None:
    stored = world.everything_stored()
    assert key.key_id in stored
    assert key.key.rpartition("_")[2] not in stored


def test_one_read_a_call(world: World, key: CreatedKey) -> None:
    world.table.calls.clear()
    authorize(f"Bearer {key.key}")
    assert world.table.calls == {"get": 1}


def test_revoked_key_is_refused_at_once(world: World, key: CreatedKey) -> None:
    second = create_key(world.scope, ["admin", "chat"], "second")
    authorize(f"Bearer {key.key}")
    revoke_key(world.scope, key.key_id)
    assert refused(f"Bearer {key.key}")
    assert authorize(f"Bearer {second.key}")["context"]["scopes"] == "chat admin"
    revoke_key(world.scope, key.key_id)


def test_outage_of_the_store(world: World, key: CreatedKey, monkeypatch: pytest.MonkeyPatch) -> None:
    second = create_key(world.scope, ["chat"])
    known = authorize(f"Bearer {key.key}")

    def down(_: object) -> None:
        raise StoreUnavailable("table", "down")

    monkeypatch.setattr(world.table, "get", down)
    assert authorize(f"Bearer {key.key}") == known
    assert refused("Bearer nonsense")
    with pytest.raises(StoreUnavailable):
        authorize(f"Bearer {second.key}")
    with pytest.raises(StoreUnavailable):
        authorize(f"Bearer {key.key}x")
    world.clock.move(seconds=61)
    with pytest.raises(StoreUnavailable):
        authorize(f"Bearer {key.key}")


def test_revoked_key_is_not_remembered(world: World, key: CreatedKey, monkeypatch: pytest.MonkeyPatch) -> None:
    create_key(world.scope, ["admin"])
    authorize(f"Bearer {key.key}")
    revoke_key(world.scope, key.key_id)
    assert refused(f"Bearer {key.key}")

    def down(_: object) -> None:
        raise StoreUnavailable("table", "down")

    monkeypatch.setattr(world.table, "get", down)
    with pytest.raises(StoreUnavailable):
        authorize(f"Bearer {key.key}")


def code_of(call: Any, *args: Any) -> str:
    with pytest.raises(NeveError) as refusal:
        call(*args)
    return refusal.value.code


def test_two_live_keys_at_most(world: World, key: CreatedKey) -> None:
    second = create_key(world.scope, ["chat"])
    assert code_of(create_key, world.scope, ["chat"]) == "too_many_keys"
    revoke_key(world.scope, second.key_id)
    create_key(world.scope, ["chat"])


def test_last_admin_key_stays(world: World, key: CreatedKey) -> None:
    second = create_key(world.scope, ["chat", "records"])
    assert code_of(revoke_key, world.scope, key.key_id) == "last_admin_key"
    revoke_key(world.scope, second.key_id)


def test_foreign_key_is_not_found(world: World, key: CreatedKey) -> None:
    create_tenant(world, "other")
    other = Tenant("other", Policy())
    assert code_of(revoke_key, TenantScope(world, other), key.key_id) == "key_not_found"
    assert code_of(revoke_key, world.scope, "nope") == "key_not_found"
    authorize(f"Bearer {key.key}")


def test_concurrent_keys_do_not_become_three(world: World, key: CreatedKey) -> None:
    def other() -> None:
        create_key(world.scope, ["chat"])

    world.table.before_write = other
    assert code_of(create_key, world.scope, ["chat"]) == "too_many_keys"


def test_tenant_exists_once(world: World, key: CreatedKey) -> None:
    assert code_of(create_tenant, world, "acme") == "conflict"


def test_tenant_that_is_gone(world: World) -> None:
    assert code_of(create_key, world.scope, ["chat"]) == "unauthorized"
