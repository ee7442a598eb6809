"""What AWS refuses to deploy, which nothing on one machine would say."""

from __future__ import annotations

import json
from collections import defaultdict

from tests.infra.templates import ALL, SERVICE, Properties, expanded, of_type, written

STACK = "neve-staging"
FUNCTION_POLICY_BYTES = 20_480
"""``Function resource-based policy`` in Lambda's quotas."""
STACK_RESOURCES, TEMPLATE_BYTES = 500, 1_000_000
"""``Resources in a template``, and ``Template body size in an S3 object``, in CloudFormation's quotas."""
API_RESOURCES = 300
"""``Resources per API`` in API Gateway's quotas. Every part of a path is one."""


def statement(logical_id: str, permission: Properties) -> str:
    """As Lambda keeps it, with a region and an account of the usual lengths."""
    alias = permission["FunctionName"]["Ref"]
    source = permission["SourceArn"]["Fn::Sub"][0]
    for name in ("${AWS::Region}", "${AWS::AccountId}", "${__ApiId__}"):
        source = source.replace(name, "x" * 14)
    made = {
        "Sid": f"{STACK}-{logical_id}-XXXXXXXXXXXX",
        "Effect": "Allow",
        "Principal": {"Service": permission["Principal"]},
        "Action": permission["Action"],
        "Resource": f"arn:aws:lambda:ap-southeast-2:000000000000:function:{STACK}-{alias}:live",
        "Condition": {"ArnLike": {"AWS:SourceArn": source}},
    }
    return json.dumps(made, separators=(",", ":"))


def test_a_function_has_room_for_the_permission_of_each_of_its_routes() -> None:
    policies: dict[str, list[str]] = defaultdict(list)
    for logical_id, permission in of_type(expanded(), "AWS::Lambda::Permission"):
        if permission["Principal"] == "events.amazonaws.com":  # the canary's rule
            continue
        policies[permission["FunctionName"]["Ref"]].append(statement(logical_id, permission))
    sizes = {alias: sum(map(len, statements)) for alias, statements in policies.items()}
    assert len(policies["RecordsFunctionAliaslive"]) > 20
    assert {alias: size for alias, size in sizes.items() if size > FUNCTION_POLICY_BYTES * 0.9} == {}, "split it in two"


def test_a_stack_is_one_that_cloudformation_takes() -> None:
    counts = {path.name: len(written(path)["Resources"]) for path in ALL} | {SERVICE.name: len(expanded())}
    assert {name: count for name, count in counts.items() if count > STACK_RESOURCES} == {}
    assert len(json.dumps(expanded())) < TEMPLATE_BYTES


def test_an_api_has_room_for_every_part_of_its_paths() -> None:
    paths = [path.split("/") for path in expanded()["Api"]["Properties"]["Body"]["paths"]]
    parts = {tuple(path[:end]) for path in paths for end in range(1, len(path) + 1)}
    assert len(parts) <= API_RESOURCES
