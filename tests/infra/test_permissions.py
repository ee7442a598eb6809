"""Every permission that the adapters' calls need is granted, and no other."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import UTC, datetime

import pytest

from infra.recorded_calls import COMMITTED, NOT_IN_EVERY_RECORDING, Grant, read
from neve.domain.records.epochs import HistoryCut, SessionEpoch, Summary
from neve.domain.records.jobs import Job
from neve.domain.records.markers import SessionMarker
from neve.domain.records.packs import PackEntry, PackManifest, PackPointer
from neve.domain.records.sessions import SessionHead
from neve.domain.records.users import UserHead
from neve.domain.times import iso
from neve.store import rows
from neve.store.keys import SessionKeys
from tests.infra.permissions import granted, listed, statements
from tests.infra.templates import expanded, function_names, functions, of_type

QUEUE_WORKERS = ("index", "embed", "extract", "compact", "reflect", "jobs", "librarian", "deliver")
CONSUMED = ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")
LOGGED = {("logs:CreateLogStream", "logs"), ("logs:PutLogEvents", "logs")}
"""Lambda writes the log with the function's role."""
TRACED = {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}


def consumed(function: str) -> set[Grant]:
    """What its event source mapping does to the function's queue, with the function's role."""
    return {(action, f"queue/{function}") for action in CONSUMED if function in QUEUE_WORKERS}


@pytest.mark.parametrize("function", sorted(function_names().values()))
def test_a_role_grants_what_its_function_calls_and_nothing_else(function: str) -> None:
    recorded, unrecorded = read(COMMITTED).get(function, set()), set(NOT_IN_EVERY_RECORDING.get(function, {}))
    needed = recorded | unrecorded | consumed(function) | LOGGED
    given = granted(function)
    assert sorted(needed - given) == [], "calls that the role refuses"
    assert sorted(given - needed) == [], "permissions that nothing uses"
    assert sorted(recorded & unrecorded) == [], "each call is expected in every recording, or it is not"


def test_the_recording_knows_every_function() -> None:
    without_stores = {"pre_traffic", "mcp"}
    assert set(read(COMMITTED)) == set(functions()) - without_stores


def test_nobody_scans_and_nobody_deletes_a_store() -> None:
    actions = {action for function in functions() for action, _ in granted(function)}
    assert not {action for action in actions if "*" in action}
    assert actions.isdisjoint({"dynamodb:Scan", "dynamodb:DeleteTable", "s3:DeleteBucket", "es:ESHttpDelete"})


def test_objects_are_deleted_where_somebody_asked_for_it_only() -> None:
    deleting = {name: granted(name) for name in functions() if any(a == "s3:DeleteObject" for a, _ in granted(name))}
    assert set(deleting) == {"compact", "embed", "index", "jobs", "observe", "recall", "records"}
    texts, segments = "bucket/documents/*", "bucket/segments/*"
    erased = {"bucket/images/*", "bucket/packs/*", "bucket/uploads/*"}
    refused = {"bucket/images/*"}  # what an append brought that was refused
    for name, allowed in (
        *(
            ("compact", erased | {texts, "bucket/exports/*"}),
            ("index", {texts, segments}),
            ("embed", {segments}),
            ("observe", refused),
            ("recall", refused),
        ),
        ("records", {"bucket/packs/*", texts}),
    ):
        assert {target for action, target in deleting[name] if action == "s3:DeleteObject"} == allowed


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
    # CodeDeploy's own role: it moves aliases, reads alarms and calls hooks by the name CodeDeployHook_*
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
    ledger, prompts = ["T#*#U#*#R", "T#*#SECRET", "HEALTH"], ["T#*#U#*", "T#*#JOB"]
    answers, log, turns = ["T#*#IDEM"], ["T#*#U#*#S#*"], ["T#*#U#*"]
    assert conditions == {"recall": [ledger, prompts, answers, log, turns], "authorizer": [["KEY#*"]]}
    always = [statement for statement in statements("recall") if "Condition" not in statement]
    unconditional = {action for statement in always for action in listed(statement["Action"])}
    assert unconditional.isdisjoint({"dynamodb:PutItem", "dynamodb:DeleteItem", "dynamodb:UpdateItem"})
    searched = [s["Resource"]["Fn::Sub"] for s in statements("recall") if str(s["Action"]).startswith("es:")]
    assert searched == ["${SearchArn}/*/_mapping", "${SearchArn}/*/_search"]


def test_recall_cannot_write_a_memory() -> None:
    """What it may write below a user and outside of logs has attributes that are listed: all those of the rows that a
    prompt and an append leave behind, and not the text of a memory."""
    listed_, of_append = [
        statement["Condition"]["ForAllValues:StringEquals"]["dynamodb:Attributes"]
        for statement in statements("recall")
        if "ForAllValues:StringEquals" in statement.get("Condition", {})
    ]
    keys, now = SessionKeys("t", "u", "s"), datetime(2026, 3, 10, tzinfo=UTC)
    at = iso(now)
    cut, pointer = HistoryCut(1, 1, 2, 1), PackPointer(1, "sha", "initial", at, 1, "sha")
    epoch = SessionEpoch("s", 1, 1, 2, 1, pointer, "horizon", at, "job_1", cut=cut, prefix="static:1")
    epoch = replace(
        epoch, retracted=((1, 1),), images_left_out=((1, 2),), images_unusable=((3, 3),), shown_pending=(1,)
    )
    summary = Summary("s", 1, 1, 2, "standard", "model", 1, at, "m", "1", ("a",), ("b",), ("c",), ("d",), "job_1")
    job = Job("job_1", "compact", "queued", at, "u", "s", state={"reason": "tokens"})
    no_room = (PackEntry("doc_1", 1, "fp", 1, "document", "/always-load/a"),)
    manifest = PackManifest("s", 1, "initial", at, "sha", 1, "sha", {}, no_room)
    puts = (
        *(rows.put_epoch(keys, epoch, now), rows.put_summary(keys, summary), rows.put_stand_in(keys, summary)),
        *(rows.put_manifest(keys, manifest), rows.put_queued_job(keys, job, 1)),
    )
    assert {name for put in puts for name in put.item} <= set(listed_)
    kept = {field.name for record in (SessionEpoch, Summary, Job, PackManifest) for field in fields(record)}
    assert kept - {"finished_at"} <= set(listed_), "what a record holds, it may have to write; but it ends no job"
    assert {"text", "passages", "fingerprint", "rank_pk", "recent_pk", "content", "observed_seq"}.isdisjoint(listed_)
    kept = {field.name for record in (SessionHead, SessionMarker, UserHead) for field in fields(record)}
    assert kept <= set(of_append)
    assert {"text", "passages", "fingerprint", "rank_pk", "content"}.isdisjoint(of_append)
