"""Usage plans: every call of the API is counted by a key that the stage has, and an operator moves a tenant."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from infra.operate.plans import PLANS, NoSuchPlan, put_key_into, remove_key, value_of
from local.template import read_template
from neve.http.callers import Caller
from tests.infra.templates import expanded, of_type


def test_every_call_but_health_is_counted_and_by_what_the_authorizer_says() -> None:
    assert expanded()["Api"]["Properties"]["ApiKeySourceType"] == "AUTHORIZER"
    public = {route.path for route in read_template().routes if route.public}
    paths = expanded()["Api"]["Properties"]["Body"]["paths"]
    counted = {
        (path, method): any("api_key" in one for one in call.get("security", ()))
        for path, methods in paths.items()
        for method, call in methods.items()
    }
    assert len(counted) > 60
    assert {path for (path, _), is_counted in counted.items() if not is_counted} == public == {"/v1/health"}


def test_who_has_no_plan_is_counted_by_a_key_that_the_stage_makes() -> None:
    """An unknown one would be a 403 for everybody."""
    [(logical_id, key)] = of_type(expanded(), "AWS::ApiGateway::ApiKey")
    assert key["Value"]["Fn::Sub"].replace("${Stage}", "dev") == Caller("acme", "k", ()).usage_key("dev")
    assert key["Enabled"] is True
    [(_, joined)] = of_type(expanded(), "AWS::ApiGateway::UsagePlanKey")
    assert joined["KeyId"] == {"Ref": logical_id}
    unlimited = expanded()[joined["UsagePlanId"]["Ref"]]["Properties"]
    assert not {"Throttle", "Quota"} & set(unlimited)


def test_the_plans_of_the_command_are_those_of_the_template() -> None:
    plans = {it["UsagePlanName"]["Fn::Sub"]: it for _, it in of_type(expanded(), "AWS::ApiGateway::UsagePlan")}
    assert set(plans) == {f"neve-${{Stage}}-{name}" for name in ("everybody-else", *PLANS)}
    assert all(len(it["ApiStages"]) == 1 for it in plans.values())
    assert plans["neve-${Stage}-throttled"]["Throttle"] == {"RateLimit": 2, "BurstLimit": 5}


class Gateway:
    """Keys and plans as API Gateway keeps them."""

    def __init__(self) -> None:
        self.plans = [{"id": f"p{at}", "name": f"neve-dev-{name}"} for at, name in enumerate(PLANS)]
        self.keys: dict[str, dict[str, Any]] = {}
        self.held: dict[str, set[str]] = defaultdict(set)

    def client(self, _: str) -> Gateway:
        return self

    def get_paginator(self, call: str) -> Any:
        def paginate(**given: str) -> list[Any]:
            match call:
                case "get_usage_plans":
                    return [{"items": [one]} for one in self.plans]
                case "get_api_keys":
                    found = [it for it in self.keys.values() if it["name"].startswith(given["nameQuery"])]
                    return [{"items": found}]
                case _:
                    return [{"items": [{"id": one} for one in self.held[given["usagePlanId"]]]}]

        return type("Pages", (), {"paginate": staticmethod(paginate)})

    def create_api_key(self, **given: Any) -> dict[str, Any]:
        key = {"id": f"k{len(self.keys)}", **given}
        self.keys[key["id"]] = key
        return key

    def delete_api_key(self, apiKey: str) -> None:  # noqa: N803
        del self.keys[apiKey]

    def create_usage_plan_key(self, usagePlanId: str, keyId: str, keyType: str) -> None:  # noqa: N803
        assert keyType == "API_KEY"
        self.held[usagePlanId].add(keyId)

    def delete_usage_plan_key(self, usagePlanId: str, keyId: str) -> None:  # noqa: N803
        self.held[usagePlanId].remove(keyId)


def test_a_tenant_has_one_key_and_is_in_one_plan() -> None:
    gateway: Any = Gateway()
    for plan in ("standard", "throttled", "throttled"):
        put_key_into(gateway, "dev", "acme", plan)
    assert [it["value"] for it in gateway.keys.values()] == [value_of("dev", "acme")]
    assert gateway.held == {"p0": set(), "p1": {"k0"}}
    put_key_into(gateway, "dev", "globex", "standard")
    assert gateway.held == {"p0": {"k1"}, "p1": {"k0"}}
    remove_key(gateway, "dev", "acme")
    remove_key(gateway, "dev", "acme")
    assert list(gateway.keys) == ["k1"]


def test_a_stage_without_the_plans_is_named() -> None:
    gateway: Any = Gateway()
    gateway.plans.clear()
    with pytest.raises(NoSuchPlan, match="neve-dev-standard"):
        put_key_into(gateway, "dev", "acme", "standard")
