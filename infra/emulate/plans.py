"""Plays what an operator does about a tenant that floods a stage: a plan, another one, none (docs/runbooks).

The emulator's gateway counts no calls and reads no key from an authorizer. So what is looked at is what a gateway goes
by: which plans hold the tenant's key, with what throttle, and whose key the deployed authorizer names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

from infra.deploy.cloud import Cloud
from infra.deploy.probe import ports_of
from infra.deploy.t0 import LOOK_S, WITHIN_S
from infra.operate.plans import NO_PLAN, PLANS, value_of
from local.template import ROOT
from neve.http.callers import Caller
from neve.usecases.tell.tenants.create_tenant import create_tenant

TENANT = "flood"
API = "arn:aws:execute-api:us-east-1:000000000000:api"
STEPS = ("standard", "throttled", "standard", NO_PLAN)


class NotPlanned(Exception):
    """A plan holds another key, or the authorizer names another one; the message says which."""


@dataclass(frozen=True, slots=True)
class _Stage:
    cloud: Cloud
    name: str
    service: str

    def set_plan(self, plan: str) -> None:
        """Run the operator's command as it stands in the runbook."""
        command = [sys.executable, "-m", "infra.operate", "--stage", self.name, "set-plan", TENANT, plan]
        done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise NotPlanned(f"set-plan {plan}: {done.stderr}")
        print(done.stdout.strip(), flush=True)

    def holding(self) -> dict[str, Any]:
        """Give the throttle of each plan that holds the tenant's key."""
        gateway, value = self.cloud.client("apigateway"), value_of(self.name, TENANT)
        plans = {plan["name"]: plan for plan in gateway.get_usage_plans()["items"]}
        of_tenants = {name: plans[f"neve-{self.name}-{name}"] for name in PLANS}
        return {
            name: plan["throttle"]
            for name, plan in of_tenants.items()
            if value in [key["name"] for key in gateway.get_usage_plan_keys(usagePlanId=plan["id"])["items"]]
        }

    def named(self, key: str) -> str:
        """Give the usage key that the deployed authorizer answers for a call of the tenant's."""
        event = {"methodArn": f"{API}/{self.name}/GET/v1/policy", "headers": {"Authorization": f"Bearer {key}"}}
        call = {"FunctionName": f"{self.service}-authorizer", "Payload": json.dumps(event)}
        return str(json.load(self.cloud.client("lambda").invoke(**call)["Payload"])["usageIdentifierKey"])


def play_plans(cloud: Cloud, stage: str, service: str) -> None:
    """Give a new tenant one plan after another, and then none. Raises NotPlanned."""
    on, key = _Stage(cloud, stage, service), create_tenant(ports_of(cloud.session, stage), TENANT).key
    nobodys = Caller(TENANT, "", ()).usage_key(stage)
    for plan in STEPS:
        on.set_plan(plan)
        if plan != NO_PLAN and list(holding := on.holding()) != [plan]:
            raise NotPlanned(f"in {plan}, and the key is in {holding}")
        expected, end = (nobodys if plan == NO_PLAN else value_of(stage, TENANT)), time.monotonic() + WITHIN_S
        while (named := on.named(key)) != expected:  # a process of the authorizer knows a key for up to a minute
            if time.monotonic() > end:
                raise NotPlanned(f"in {plan}, and the authorizer names {named}")
            time.sleep(LOOK_S)
        where = "in no plan" if plan == NO_PLAN else f"{plan} {json.dumps(on.holding()[plan])}"
        print(f"{TENANT}: {where}, and the authorizer names that key.", flush=True)
