"""The service's template as the emulator can take it: expanded by the translator that AWS runs, its code on this
machine, and without what the emulator does not know."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.expand import expand
from local.template import read_template

ARTIFACTS = "artifacts"
"""The bucket that functions and the nested template are uploaded to."""
MATHS = "AWS::CloudWatch::Alarm over several metrics"
LEFT_OUT = {
    "AWS::CodeDeploy::Application": "traffic moves at once: no canary, no check, no alarm takes it back",
    "AWS::CodeDeploy::DeploymentGroup": "as above",
    "AWS::IAM::RolePolicy": "six roles have no policy; the emulator asks for none",
    "AWS::Logs::MetricFilter": "no metric is made of the access log",
    "AWS::Logs::QueryDefinition": "the saved queries are not made",
    "AWS::Lambda::LayerVersion": "built for arm64 and Python 3.13; functions use this machine's packages",
    "AWS::XRay::SamplingRule": "no trace is taken",
    "AWS::CloudWatch::CompositeAlarm": "not made: they are of those above",
    MATHS: "not made; those of a deployment are evaluated by local/limits",
}
"""Kinds of resources that the emulator does not have or this machine cannot run, and what that leaves unshown."""


@dataclass(frozen=True, slots=True)
class Emulated:
    """``template``: in JSON. ``left_out``: logical ids by kind."""

    template: str
    left_out: Mapping[str, list[str]]


def service_template(variables: Mapping[str, str], nested_url: str, build_sha: str) -> Emulated:
    """``variables``: of every function, on top of its own. Raises NotExpanded."""
    document = expand(BuildSha=build_sha)
    resources: dict[str, Any] = document["Resources"]
    left_out = _leave_out(resources)
    _without_deployments(resources)
    _uncounted(resources["Api"]["Properties"]["Body"]["paths"])
    for resource in resources.values():
        if resource["Type"] == "AWS::Lambda::Function":
            _on_this_machine(resource["Properties"], variables)
        elif resource["Type"] == "AWS::CloudFormation::Stack":
            resource["Properties"]["TemplateURL"] = nested_url
    return Emulated(json.dumps(document), left_out)


def known_only(template: Mapping[str, Any]) -> Emulated:
    """A template that needs no transformation, without what the emulator does not know."""
    resources = dict(template["Resources"])
    left_out = _leave_out(resources)
    return Emulated(json.dumps({**template, "Resources": resources}), left_out)


def function_code() -> Mapping[str, Path]:
    """The folder of every function, by its name."""
    return {name: function.code for name, function in read_template().functions.items()}


def _leave_out(resources: dict[str, Any]) -> dict[str, list[str]]:
    """Takes them away; their logical ids by kind."""
    left_out: dict[str, list[str]] = {}
    for logical_id, resource in list(resources.items()):
        maths = resource["Type"] == "AWS::CloudWatch::Alarm" and "Metrics" in resource["Properties"]
        kind = MATHS if maths else resource["Type"]
        if kind in LEFT_OUT:
            left_out.setdefault(kind, []).append(logical_id)
            del resources[logical_id]
    return left_out


def _without_deployments(resources: dict[str, Any]) -> None:
    """Nothing may name what was left out."""
    for resource in resources.values():
        resource.pop("UpdatePolicy", None)
        needs = resource.pop("DependsOn", [])
        resource["DependsOn"] = [it for it in ([needs] if isinstance(needs, str) else needs) if it in resources]
    policy = resources["PreTrafficRole"]["Properties"]["Policies"][0]["PolicyDocument"]
    policy["Statement"] = [it for it in policy["Statement"] if "codedeploy" not in str(it["Action"])]


def _uncounted(paths: Mapping[str, Mapping[str, Any]]) -> None:
    """The emulator knows no key that an authorizer names: it would refuse every call that a plan is to count."""
    for call in (call for methods in paths.values() for call in methods.values()):
        call["security"] = [one for one in call.get("security", ()) if "api_key" not in one]


def _on_this_machine(properties: dict[str, Any], variables: Mapping[str, str]) -> None:
    """Layers are built for arm64 and Python 3.13: what is in them comes from this machine's environment instead."""
    name = properties["FunctionName"]["Fn::Sub"].rpartition("-")[2]
    folder = "pre_traffic" if "CodeDeployHook" in properties["FunctionName"]["Fn::Sub"] else name
    properties["Code"] = {"S3Bucket": ARTIFACTS, "S3Key": f"{folder}.zip"}
    properties.pop("Layers", None)
    given = properties.setdefault("Environment", {}).setdefault("Variables", {})
    given.update(variables)
