"""A role that may do something to everything may do it to another stage, and to whatever the account holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cfnlint.rules import CloudFormationLintRule, RuleMatch  # type: ignore[import-untyped]

WITHOUT_A_RESOURCE = {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}
"""Actions that know no resource."""
BOUNDARY = "Boundary"
"""How the names of policies end that are the boundary of roles, which says what those may do at most."""
POLICIES = ("AWS::IAM::Role", "AWS::IAM::RolePolicy", "AWS::IAM::ManagedPolicy")


class NoWildcards(CloudFormationLintRule):  # type: ignore[misc]
    id = "E9104"
    shortdesc = "No permission for every resource or every action"
    description = (
        "Resource is never *, but for the actions that know none; no action holds a *; a boundary grants nothing"
    )
    source_url = "docs/security.md"
    tags = ("neve",)

    def match(self, cfn: Any) -> list[RuleMatch]:
        return [
            RuleMatch(["Resources", logical_id], f"{logical_id}: {', '.join(sorted(actions))} on {resource}")
            for logical_id, it in cfn.get_resources(list(POLICIES)).items()
            if not logical_id.endswith(BOUNDARY)
            for actions, resource in _allowed(it.get("Properties", {}))
            if any("*" in action for action in actions) or (resource == "*" and not actions <= WITHOUT_A_RESOURCE)
        ]


def _allowed(properties: Mapping[str, Any]) -> Iterator[tuple[set[str], Any]]:
    """Actions and one resource, statement by statement, both sides of a condition."""
    documents = [policy["PolicyDocument"] for policy in properties.get("Policies", [])]
    documents += [properties["PolicyDocument"]] if "PolicyDocument" in properties else []
    for statement in (statement for document in documents for statement in document["Statement"]):
        for side in statement["Fn::If"][1:] if "Fn::If" in statement else [statement]:
            if side.get("Effect") == "Allow":
                for resource in _listed(side["Resource"]):
                    yield set(_listed(side["Action"])), resource


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
