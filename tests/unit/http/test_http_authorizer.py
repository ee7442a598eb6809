"""The authorizer function, and the two use cases that make and revoke what it checks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from functions.authorizer import app
from infra.operate.plans import value_of
from local.functions import Functions
from local.http.gateway import Gateway
from local.http.message import Request, Response
from local.limits.alarms import Alarms
from local.limits.points import Points
from local.template import read_template
from neve import wiring
from neve.domain.errors import NeveError
from neve.domain.tenants.policy import Policy
from neve.domain.times import iso
from neve.ports.errors import StoreUnavailable
from neve.ports.table import Item, Key
from neve.scope import Tenant, TenantScope
from neve.usecases.ask.tenants.list_keys import list_keys
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.tell.tenants.keys import CreatedKey, create_key, revoke_key
from neve.usecases.tell.tenants.plans import put_into_plan
from tests.unit.world import World

TEMPLATE = read_template()
ARN = "arn:aws:execute-api:eu-west-1:123456789012:abc123/prod/GET/v1/users/ann/pack"


@pytest.fixture
def world(new_world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(wiring, "_installed", [new_world])
    monkeypatch.setenv("NEVE_STAGE", "prod")
    return new_world


@pytest.fixture
def key(world: World) -> CreatedKey:
    return create_tenant(world, "acme", "first")


def authorize(authorization: str | None, arn: str = ARN) -> Any:
    headers = {} if authorization is None else {"authorization": authorization}
    return app.handler({"type": "REQUEST", "methodArn": arn, "headers": headers}, None)


def refused(authorization: str | None, stage: str = "prod") -> bool:
    """An answer, and no error: denied for the whole stage, in the name of nobody."""
    answer = authorize(authorization, ARN.replace("/prod/", f"/{stage}/"))
    statement = {
        "Action": "execute-api:Invoke",
        "Effect": "Deny",
        "Resource": f"arn:aws:execute-api:eu-west-1:123456789012:abc123/{stage}/*",
    }
    policy = {"Version": "2012-10-17", "Statement": [statement]}
    return bool(answer == {"principalId": "nobody", "policyDocument": policy})


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
        "context": {"tenant_id": "acme", "key_id": key.key_id, "scopes": "chat records admin documents tokens"},
        "usageIdentifierKey": "neve-prod-everybody-else",
    }
    assert authorize(f"bearer  {key.key} ") == answer


def test_a_call_is_counted_by_the_key_of_its_tenant_once_that_is_in_a_plan(world: World, key: CreatedKey) -> None:
    """A key that is made afterwards too, and a token; and no other tenant's."""
    other = create_tenant(world, "other")
    assert put_into_plan(world.scope, "throttled") == 1
    later = create_key(world.scope, ["chat"])
    answers = [authorize(f"Bearer {one.key}") for one in (key, later, other)]
    counted = [answer["usageIdentifierKey"] for answer in answers]
    assert counted[0] == counted[1] == value_of("prod", "acme") != counted[2] == "neve-prod-everybody-else"
    assert [answer["context"].get("plan") for answer in answers] == ["throttled", "throttled", None]
    assert all(20 <= len(one) <= 128 for one in counted), "API Gateway, API key values"
    assert put_into_plan(world.scope, None) == 2
    assert authorize(f"Bearer {key.key}")["usageIdentifierKey"] == counted[2]


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


def test_a_good_key_is_refused_in_another_stage_of_the_api(key: CreatedKey) -> None:
    """SAM may make a second one, without throttling and logs."""
    for stage in ("Stage", "dev", "production", ""):
        assert refused(f"Bearer {key.key}", stage)


def test_only_the_hash_is_stored(world: World, key: CreatedKey) -> None:
    stored = world.everything_stored()
    assert key.key_id in stored
    assert key.key.rpartition("_")[2] not in stored


def test_one_read_a_call(world: World, key: CreatedKey) -> None:
    authorize(f"Bearer {key.key}")
    world.table.calls.clear()
    authorize(f"Bearer {key.key}")
    assert world.table.calls == {"get": 1}


def last_used(world: World, key: CreatedKey) -> str | None:
    [found] = [one for one in list_keys(world.scope, 50, None)[0] if one.key_id == key.key_id]
    return found.last_used_day


def test_the_first_call_of_a_day_notes_it_on_the_key(world: World, key: CreatedKey) -> None:
    assert last_used(world, key) is None
    for _ in range(3):
        authorize(f"Bearer {key.key}")
    first = last_used(world, key)
    assert first == iso(world.clock.now())[:10]
    world.clock.move(days=1)
    world.table.calls.clear()
    for _ in range(3):
        authorize(f"Bearer {key.key}")
    assert world.table.calls["write"] == 1
    assert (last_used(world, key) or "") > first


def test_a_day_that_cannot_be_noted_refuses_nobody_and_is_tried_once(
    world: World, key: CreatedKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    def revoked() -> None:
        revoke_key(world.scope, second.key_id)

    second = create_key(world.scope, ["chat"])
    world.table.before_write = revoked
    assert authorize(f"Bearer {second.key}")["context"]["scopes"] == "chat"
    assert refused(f"Bearer {second.key}"), "the day does not bring a revoked key back"

    def down(_: object) -> None:
        tried.append(1)
        raise StoreUnavailable("table", "takes no writes")

    tried: list[int] = []
    monkeypatch.setattr(world.table, "write", down)
    for _ in range(3):
        assert authorize(f"Bearer {key.key}")["context"]["key_id"] == key.key_id
    assert len(tried) == 1


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


def test_a_verdict_is_as_old_as_the_read_that_brought_it(
    world: World, key: CreatedKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process may be frozen between the read and what follows; the key is revoked meanwhile."""
    read = world.table.get

    def frozen(row: Key) -> Item | None:
        item: Item | None = read(row)
        world.clock.move(seconds=61)
        return item

    def down(_: object) -> None:
        raise StoreUnavailable("table", "down")

    monkeypatch.setattr(world.table, "get", frozen)
    authorize(f"Bearer {key.key}")
    monkeypatch.setattr(world.table, "get", down)
    with pytest.raises(StoreUnavailable):
        authorize(f"Bearer {key.key}")


# --- at the gateway -------------------------------------------------------------------------------


@pytest.fixture
def gateway(world: World, monkeypatch: pytest.MonkeyPatch) -> Gateway:
    """The stage of this machine, with the template's routes, gateway answers and alarms."""
    monkeypatch.setenv("NEVE_STAGE", "local")
    points = Points(world.clock.now)
    return Gateway(TEMPLATE, Functions(TEMPLATE.functions, points).invoke, points, world.clock.now)


def asked(gateway: Gateway, key: str) -> Response:
    return gateway.handle(Request("GET", "/v1/policy", "", [("authorization", f"Bearer {key}")], b""))


def gone_off(points: Points | None) -> list[str]:
    assert points is not None
    return [name for name, verdict in Alarms(TEMPLATE.alarms, points).verdicts().items() if verdict.went_off]


def test_a_revoked_key_goes_on_for_as_long_as_the_gateway_keeps_its_answer(
    world: World, key: CreatedKey, gateway: Gateway
) -> None:
    other = create_key(world.scope, ["admin"])
    assert asked(gateway, key.key).status == 200
    world.clock.move(seconds=30)
    revoke_key(world.scope, key.key_id)
    assert asked(gateway, key.key).status == 200
    world.clock.move(seconds=29)
    assert asked(gateway, key.key).status == 200
    world.clock.move(seconds=1)
    assert [asked(gateway, one).status for one in (key.key, other.key)] == [401, 200]


def test_wrong_keys_never_move_an_alarm_of_a_deployment(world: World, key: CreatedKey, gateway: Gateway) -> None:
    for _ in range(10):
        for wrong in (f"{key.key}x", "nonsense", "nv_unknown_secret"):
            answer = asked(gateway, wrong)
            assert (answer.status, json.loads(answer.body)["code"]) == (401, "unauthorized")
            assert "stage" in json.loads(answer.body)["detail"]
        world.clock.move(minutes=1)
    assert asked(gateway, key.key).status == 200
    assert gone_off(gateway.points) == []


def test_an_authorizer_whose_table_is_down_says_when_to_come_again(
    world: World, key: CreatedKey, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(_: object) -> None:
        raise StoreUnavailable("table", "down")

    monkeypatch.setattr(world.table, "get", down)
    for _ in range(3):
        for _ in range(5):
            answer = asked(gateway, key.key)
            assert (answer.status, json.loads(answer.body)["code"]) == (503, "store_unavailable")
            assert dict(answer.headers)["Retry-After"] == "2"
        world.clock.move(minutes=1)
    assert gone_off(gateway.points) == ["api-5xx", "api-function-failures"]


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


def test_foreign_key_is_not_found(world: World, key: CreatedKey) -> None:
    create_tenant(world, "other")
    other = Tenant("other", Policy())
    assert code_of(revoke_key, TenantScope(world, other), key.key_id) == "key_not_found"
    assert code_of(revoke_key, world.scope, "nope") == "key_not_found"
    authorize(f"Bearer {key.key}")


def test_concurrent_keys_do_not_become_eleven(world: World, key: CreatedKey) -> None:
    for _ in range(8):
        create_key(world.scope, ["chat"])

    def other() -> None:
        create_key(world.scope, ["chat"])

    world.table.before_write = other
    assert code_of(create_key, world.scope, ["chat"]) == "too_many_keys"


def test_tenant_exists_once(world: World, key: CreatedKey) -> None:
    assert code_of(create_tenant, world, "acme") == "conflict"


def test_tenant_that_is_gone(world: World) -> None:
    assert code_of(create_key, world.scope, ["chat"]) == "unauthorized"
