"""What the roles of the functions grant, in the words of ``infra/recorded_calls.json``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from infra.recorded_calls import Grant
from tests.infra.templates import expanded, functions, of_type, queue_name

_RESOURCES = (
    (r":table/\$\{TableName\}$", "table"),
    (r":table/\$\{TableName\}/(index/\w+)$", r"table/\1"),
    (r":table/\$\{TableName\}/stream/\*$", "table/stream"),
    (r":s3:::\$\{BucketName\}$", "bucket"),
    (r":s3:::\$\{BucketName\}/(\w+/\*)$", r"bucket/\1"),
    (r"^\$\{SearchArn\}/.*\*", "search"),
    (r":foundation-model/amazon\.titan-embed-text-v2:0$", "bedrock/titan"),
    (r":inference-profile/\$\{BedrockProfile\}\$\{BedrockModel\}$", "bedrock/profile"),
    (r":foundation-model/\$\{BedrockModel\}$", "bedrock/model"),
    (r"^\$\{(\w+)Function\.Arn\}:\*$", r"versions/\1"),
    (r":deploymentgroup:\$\{ServerlessDeploymentApplication\}/\*$", "deployments"),
)
_PARAMETERS = {"TableStream": "table/stream", "AnthropicSecret": "secret/anthropic"}


def granted(function: str) -> set[Grant]:
    """Everything that the function's role may do, both sides of every condition of the template."""
    return {
        (action, target(resource))
        for statement in statements(function)
        if statement["Effect"] == "Allow"
        for action in listed(statement["Action"])
        for resource in listed(statement["Resource"])
    }


def statements(function: str) -> Iterator[Mapping[str, Any]]:
    """Of the policies written in the template, wherever the role itself is made."""
    role = functions()[function][1]["Role"]
    for document in _documents(role):
        for statement in document["Statement"]:
            yield from (side for side in _sides(statement) if side != {"Ref": "AWS::NoValue"})


def target(resource: Any) -> str:
    """Raises AssertionError for a resource that nobody has named."""
    resources = expanded()
    if resource == "*":
        return "*"
    if "Ref" in resource:
        return _PARAMETERS[resource["Ref"]]
    if "Fn::GetAtt" in resource:
        logical_id, _ = resource["Fn::GetAtt"]
        properties = resources[logical_id]["Properties"]
        return f"queue/{queue_name(properties)}" if "QueueName" in properties else "logs"
    for pattern, name in _RESOURCES:
        if found := re.search(pattern, resource["Fn::Sub"]):
            return found.expand(name)
    raise AssertionError(f"no target is known for {resource}")


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _documents(role: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """``role``: what the function's property says."""
    if "Fn::GetAtt" in role:
        properties = expanded()[role["Fn::GetAtt"][0]]["Properties"]
        yield from (policy["PolicyDocument"] for policy in properties["Policies"])
        return
    [parameter] = re.findall(r"role/\$\{(\w+)\}$", role["Fn::Sub"])
    for _, policy in of_type(expanded(), "AWS::IAM::RolePolicy"):
        if policy["RoleName"] == {"Ref": parameter}:
            yield policy["PolicyDocument"]


def _sides(statement: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(statement["Fn::If"][1:]) if "Fn::If" in statement else [statement]
