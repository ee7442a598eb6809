"""What `make audit` reads, and what it complains of. The tools themselves run there only, on the same templates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infra.audit.__main__ import SUPPRESSIONS
from infra.audit.findings import BadSuppression, Finding, Suppression, complaints, read_suppressions
from infra.audit.policies import ACCOUNT, Policies, Unreadable
from infra.audit.tools import MISTAKES
from tests.infra.templates import DATA, expanded, of_type, written

OPEN = Finding("CKV_1", "data/Bucket", "open to all")
QUEUE = Finding("CKV_1", "service/EmbedQueue", "open to all")


def test_the_policies_of_every_role_are_read_with_names_instead_of_functions() -> None:
    resources = expanded()
    read = [(logical_id, document) for logical_id, document in Policies(resources)]
    with_policies = {
        logical_id
        for kind in ("AWS::IAM::Role", "AWS::IAM::RolePolicy", "AWS::IAM::ManagedPolicy")
        for logical_id, properties in of_type(resources, kind)
        if kind != "AWS::IAM::Role" or properties.get("Policies")
    }
    assert {logical_id for logical_id, _ in read} == with_policies
    assert list(Policies(written(DATA)["Resources"])) == [], "the roles of the data stack get theirs here"
    text = json.dumps(read)
    assert "Fn::" not in text and '"Ref"' not in text and "${" not in text
    secrets = f"arn:aws:secretsmanager:us-east-1:{ACCOUNT}:secret:neve/dev/anthropic-AbCdEf"
    assert secrets in json.dumps(dict(read)["ReflectRole"]), "both sides of a condition"


@pytest.mark.parametrize("value", [{"Fn::Join": ["", []]}, {"Ref": "Nobody"}, {"Fn::GetAtt": ["Key", "Arn"]}])
def test_what_has_no_example_is_named(value: object) -> None:
    statement = {"Effect": "Allow", "Action": "kms:Decrypt", "Resource": value}
    role = {"PolicyDocument": {"Statement": [statement]}}
    with pytest.raises(Unreadable, match=r"Join|Nobody|Key"):
        list(Policies({"Key": {"Type": "AWS::KMS::Key"}, "P": {"Type": "AWS::IAM::RolePolicy", "Properties": role}}))


def test_a_finding_that_nobody_explains_is_a_complaint() -> None:
    meant = Suppression("CKV_1", ("data/*",), "because")
    assert list(complaints([QUEUE, OPEN], [meant])) == ["CKV_1 service/EmbedQueue: open to all"]
    assert list(complaints([OPEN], [meant])) == []
    assert len(list(complaints([OPEN], [Suppression("CKV_2", ("data/*",), "because")]))) == 2


def test_a_suppression_that_suppresses_nothing_is_a_complaint_place_by_place() -> None:
    meant = Suppression("CKV_1", ("data/Bucket", "service/IndexQueue"), "because")
    assert list(complaints([OPEN], [meant])) == ["CKV_1 service/IndexQueue: this suppression suppresses nothing"]


@pytest.mark.parametrize(
    "given",
    [
        "- {rule: CKV_1, at: [data/Bucket]}",
        "- {rule: CKV_1, at: [data/Bucket], reason: ' '}",
        "- {rule: CKV_1, at: [], reason: because}",
        "- {at: [data/Bucket], reason: because}",
    ],
)
def test_a_suppression_says_where_and_why(given: str, tmp_path: Path) -> None:
    path = tmp_path / "suppressions.yaml"
    path.write_text(given)
    with pytest.raises(BadSuppression, match="reason"):
        read_suppressions(path)


def test_each_suppression_here_names_things_that_exist() -> None:
    for one in read_suppressions(SUPPRESSIONS):
        assert len(one.reason.split()) > 4, one.rule
        assert {place.partition("/")[0] for place in one.at} <= {
            "service",
            "data",
            "observability",
            "account",
            "console",
            "pipeline",
        }
        assert not set(one.at) & {"*", "service/*"}, "it would hide what comes later"


def test_what_is_planted_is_a_template() -> None:
    assert [logical_id for logical_id, _ in Policies(MISTAKES["Resources"])] == ["WrongPolicy"]
