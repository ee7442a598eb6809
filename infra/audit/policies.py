"""The policies of every role, with the names that they would have in an account: parliament reads no intrinsic
functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

ACCOUNT, REGION = "123456789012", "us-east-1"
PSEUDO = {
    "AWS::Partition": "aws",
    "AWS::Region": REGION,
    "AWS::AccountId": ACCOUNT,
    "AWS::StackName": "neve-dev",
}
STORED_PARAMETERS = {
    "Stage": "dev",
    "StageBoundary": f"arn:aws:iam::{ACCOUNT}:policy/neve-dev-boundary",
    "TableName": "neve-dev",
    "TableStream": f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/neve-dev/stream/2026-01-01T00:00:00.000",
    "BucketName": "neve-dev-bucket",
    "Search": "opensearch",
    "SearchArn": f"arn:aws:es:{REGION}:{ACCOUNT}:domain/neve-dev",
    "BedrockModel": "anthropic.claude-haiku-5-5",
    "BedrockProfile": "global.",
    "AnthropicSecret": f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:neve/dev/anthropic-AbCdEf",
}
"""What the data stack has written into Parameter Store, parameters that a policy names, and what the pipeline's stack
is given or makes."""
ARNS = {
    "AWS::SQS::Queue": "arn:aws:sqs:{region}:{account}:{name}",
    "AWS::Logs::LogGroup": "arn:aws:logs:{region}:{account}:log-group:{name}:*",
    "AWS::Lambda::Function": "arn:aws:lambda:{region}:{account}:function:{name}",
    "AWS::Lambda::Alias": "arn:aws:lambda:{region}:{account}:function:{name}:live",
}
NOTHING = {"Ref": "AWS::NoValue"}


class Unreadable(ValueError):
    """A policy names something that has no example here; the message says what."""


@dataclass(frozen=True)
class Policies:
    """``resources``: of one template, as AWS expands it."""

    resources: Mapping[str, Mapping[str, Any]]
    stored_parameters: Mapping[str, str] = field(default_factory=lambda: STORED_PARAMETERS)

    def __iter__(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each document with the logical id of the resource that it stands in, both sides of every condition. Raises
        Unreadable."""
        for logical_id, resource in self.resources.items():
            properties = resource.get("Properties", {})
            if resource["Type"] == "AWS::IAM::Role":
                for policy in properties.get("Policies", ()):
                    yield logical_id, self._plain(policy["PolicyDocument"])
            elif resource["Type"] in ("AWS::IAM::RolePolicy", "AWS::IAM::ManagedPolicy", "AWS::IAM::Policy"):
                yield logical_id, self._plain(properties["PolicyDocument"])

    def _plain(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._plain(side) for part in value for side in _sides(part) if side != NOTHING]
        if not isinstance(value, dict):
            return value
        if "Ref" in value:
            return self._ref(value["Ref"])
        if "Fn::GetAtt" in value:
            return self._arn(value["Fn::GetAtt"])
        if "Fn::Sub" in value:
            return self._sub(value["Fn::Sub"])
        if unknown := [name for name in value if name.startswith("Fn::")]:
            raise Unreadable(f"{unknown[0]} is not read here: {value}")
        return {name: self._plain(part) for name, part in value.items()}

    def _ref(self, name: str) -> str:
        if name in PSEUDO:
            return PSEUDO[name]
        if name in self.stored_parameters:
            return self.stored_parameters[name]
        if name not in self.resources:
            raise Unreadable(f"{name} has no example value")
        return self._arn([name, "Arn"]) if self._kind(name) == "AWS::Lambda::Alias" else name

    def _arn(self, asked: list[str]) -> str:
        name, attribute = asked
        if attribute != "Arn" or self._kind(name) not in ARNS:
            raise Unreadable(f"{name}.{attribute} has no example value")
        return ARNS[self._kind(name)].format(region=REGION, account=ACCOUNT, name=name)

    def _sub(self, text: Any) -> str:
        if not isinstance(text, str):
            raise Unreadable(f"a Sub with names of its own is not read here: {text}")
        return re.sub(r"\$\{([^}]+)\}", lambda found: self._named(found[1]), text)

    def _named(self, name: str) -> str:
        return self._arn(name.split(".", 1)) if "." in name else self._ref(name)

    def _kind(self, name: str) -> str:
        return str(self.resources.get(name, {}).get("Type"))


def _sides(part: Any) -> list[Any]:
    return list(part["Fn::If"][1:]) if isinstance(part, dict) and "Fn::If" in part else [part]
