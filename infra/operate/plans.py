"""The gateway's side of a tenant's plan: its key, in one of the stage's usage plans (template.yaml)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neve.http.callers import Caller

if TYPE_CHECKING:
    from boto3 import Session

PLANS = ("standard", "throttled")
NO_PLAN = "none"


class NoSuchPlan(LookupError):
    """The message says which plan the stage lacks."""


def put_key_into(session: Session, stage: str, tenant: str, plan: str) -> None:
    """Make the tenant's key where it is missing, and have it in this plan and in no other. Raises NoSuchPlan."""
    gateway = session.client("apigateway")
    plans = {name: _plan_id(gateway, f"neve-{stage}-{name}") for name in PLANS}
    key_id = _key_id(gateway, value_of(stage, tenant)) or _made(gateway, stage, tenant)
    for name, plan_id in plans.items():
        held = {one["id"] for one in _all(gateway, "get_usage_plan_keys", usagePlanId=plan_id)}
        if name == plan and key_id not in held:
            gateway.create_usage_plan_key(usagePlanId=plan_id, keyId=key_id, keyType="API_KEY")
        elif name != plan and key_id in held:
            gateway.delete_usage_plan_key(usagePlanId=plan_id, keyId=key_id)


def remove_key(session: Session, stage: str, tenant: str) -> None:
    """Delete the tenant's key, of which an account may have 10,000. While a call of the tenant's is still let in, it
    would be refused."""
    gateway = session.client("apigateway")
    if key_id := _key_id(gateway, value_of(stage, tenant)):
        gateway.delete_api_key(apiKey=key_id)


def value_of(stage: str, tenant: str) -> str:
    """Give the value that the authorizer answers for a tenant in a plan."""
    return Caller(tenant, "", (), plan=PLANS[0]).usage_key(stage)


def _made(gateway: Any, stage: str, tenant: str) -> str:
    value = value_of(stage, tenant)
    tags = {"Service": "neve", "Stage": stage}
    made = gateway.create_api_key(name=value, description=f"tenant {tenant}", value=value, enabled=True, tags=tags)
    return str(made["id"])


def _key_id(gateway: Any, value: str) -> str | None:
    """Find a key by its name, which is its value too."""
    found = _all(gateway, "get_api_keys", nameQuery=value)
    return next((str(one["id"]) for one in found if one["name"] == value), None)


def _plan_id(gateway: Any, name: str) -> str:
    for one in _all(gateway, "get_usage_plans"):
        if one["name"] == name:
            return str(one["id"])
    raise NoSuchPlan(f"{name}: was the service of this version deployed?")


def _all(gateway: Any, call: str, **given: str) -> list[dict[str, Any]]:
    pages = gateway.get_paginator(call).paginate(**given)
    return [one for page in pages for one in page.get("items", [])]
