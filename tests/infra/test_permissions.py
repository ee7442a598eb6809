"""Every permission that the adapters' calls need is granted, and no other."""

from __future__ import annotations

import json

import pytest

from infra.recorded_calls import COMMITTED, NOT_IN_EVERY_RECORDING, Grant, read
from tests.infra.permissions import granted, listed, statements
from tests.infra.templates import expanded, functions, of_type

QUEUE_WORKERS = ("index", "embed", "extract", "compact")
CONSUMED = ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")
LOGGED = {("logs:CreateLogStream", "logs"), ("logs:PutLogEvents", "logs")}
"""Lambda writes the log with the function's role."""
TRACED = {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}


def consumed(function: str) -> set[Grant]:
    """What its event source mapping does to the function's queue, with the function's role."""
    return {(action, f"queue/{function}") for action in CONSUMED if function in QUEUE_WORKERS}


@pytest.mark.parametrize("function", sorted(functions()))
def test_a_role_grants_what_its_function_calls_and_nothing_else(function: str) -> None:
    recorded, unrecorded = read(COMMITTED).get(function, set()), set(NOT_IN_EVERY_RECORDING.get(function, {}))
    needed = recorded | unrecorded | consumed(function) | LOGGED
    given = granted(function)
    assert sorted(needed - given) == [], "calls that the role refuses"
    assert sorted(given - needed) == [], "permissions that nothing uses"
    assert sorted(recorded & unrecorded) == [], "each call is expected in every recording, or it is not"


def test_the_recording_knows_every_function() -> None:
    without_stores = {"pre_traffic"}
    assert set(read(COMMITTED)) == set(functions()) - without_stores


def test_nobody_scans_and_nobody_deletes_a_store() -> None:
    actions = {action for function in functions() for action, _ in granted(function)}
    assert not {action for action in actions if "*" in action}
    assert actions.isdisjoint({"dynamodb:Scan", "dynamodb:DeleteTable", "s3:DeleteObject", "es:ESHttpDelete"})


def test_only_tracing_has_no_resource() -> None:
    everywhere = {
        (action, logical_id)
        for kind in ("AWS::IAM::ManagedPolicy", "AWS::IAM::RolePolicy")
        for logical_id, policy in of_type(expanded(), kind)
        for statement in policy["PolicyDocument"]["Statement"]
        for action in listed(statement.get("Action", []))
        if statement.get("Resource") == "*"
    }
    everywhere |= {(action, name) for name in functions() for action, target in granted(name) if target == "*"}
    assert everywhere == {(action, "TracingPolicy") for action in TRACED}


def test_roles_of_aws_are_named() -> None:
    """Managed policies are another's: each is here with its reason."""
    used = {
        json.dumps(arn)
        for _, role in of_type(expanded(), "AWS::IAM::Role")
        for arn in role.get("ManagedPolicyArns", [])
        if arn != {"Ref": "TracingPolicy"}
    }
    # CodeDeploy's own role, made by SAM: it moves aliases, reads alarms and calls hooks by the name CodeDeployHook_*
    assert {arn.rpartition("/")[2].rstrip('"}') for arn in used} == {"AWSCodeDeployRoleForLambda"}


def test_recall_writes_its_ledger_and_the_authorizer_reads_keys() -> None:
    conditions = {
        function: [
            statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
            for statement in statements(function)
            if "Condition" in statement and action in listed(statement["Action"])
        ]
        for function, action in (("recall", "dynamodb:PutItem"), ("authorizer", "dynamodb:GetItem"))
    }
    assert conditions == {"recall": [["T#*#U#*#R", "T#*#SECRET", "HEALTH"]], "authorizer": [["KEY#*"]]}
    always = [statement for statement in statements("recall") if "Condition" not in statement]
    unconditional = {action for statement in always for action in listed(statement["Action"])}
    assert unconditional.isdisjoint({"dynamodb:PutItem", "dynamodb:DeleteItem", "dynamodb:UpdateItem"})
    searched = [s["Resource"]["Fn::Sub"] for s in statements("recall") if str(s["Action"]).startswith("es:")]
    assert searched == ["${SearchArn}/*/_mapping", "${SearchArn}/*/_search"]
