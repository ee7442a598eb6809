"""Who may deploy from a pipeline, what the roles that it makes may do at most, and what it runs."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.packaging.layers import LAYERS
from infra.packaging.sbom import bill_of
from local.template import ROOT
from tests.infra.permissions import listed, statements
from tests.infra.templates import ACCOUNT, DATA, PIPELINE, expanded, functions, of_type, written

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
RESOURCES = written(PIPELINE)["Resources"]
BOUNDED = {"Fn::If": ["Bounded", {"Ref": "Boundary"}, {"Ref": "AWS::NoValue"}]}


def statement(sid: str) -> dict[str, Any]:
    [policy] = RESOURCES["DeployRole"]["Properties"]["Policies"]
    [found] = [it for it in policy["PolicyDocument"]["Statement"] if it["Sid"] == sid]
    return dict(found)


def test_only_the_environment_of_the_repository_deploys_a_stage() -> None:
    [trusted] = RESOURCES["DeployRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    assert trusted["Action"] == "sts:AssumeRoleWithWebIdentity"
    assert trusted["Condition"] == {
        "StringEquals": {
            "token.actions.githubusercontent.com:aud": "sts.amazonaws.com",
            "token.actions.githubusercontent.com:sub": {"Fn::Sub": "repo:${Repository}:environment:${Stage}"},
        }
    }


def test_a_role_that_the_pipeline_makes_has_the_boundary() -> None:
    made = statement("RolesWithTheBoundary")
    assert {"iam:CreateRole", "iam:PutRolePolicy", "iam:AttachRolePolicy"} <= set(made["Action"])
    assert made["Condition"] == {"ArnEquals": {"iam:PermissionsBoundary": {"Ref": "StageBoundary"}}}
    roles = [*of_type(expanded(), "AWS::IAM::Role"), *of_type(written(DATA)["Resources"], "AWS::IAM::Role")]
    assert len(roles) > 20
    assert [logical_id for logical_id, role in roles if role.get("PermissionsBoundary") != BOUNDED] == []
    assert len(list(of_type(written(ACCOUNT)["Resources"], "AWS::IAM::Role"))) == 1, "made by a person, once"


def test_the_boundary_has_all_that_a_function_may_do() -> None:
    """What is not in it is refused on a stage that a pipeline deploys, and works where somebody deploys by hand."""
    [allowed] = [it["Properties"]["PolicyDocument"] for name, it in RESOURCES.items() if name == "StageBoundary"]
    within = {action for it in allowed["Statement"] for action in listed(it["Action"])}
    asked = {
        action
        for name in functions()
        for it in statements(name)
        if it["Effect"] == "Allow"
        for action in listed(it["Action"])
    }
    assert len(asked) > 20
    assert asked - within == set()


def test_the_pipeline_cannot_widen_itself_nor_take_away_what_is_kept() -> None:
    itself = statement("NotThePipelineItself")
    assert (itself["Effect"], itself["Action"]) == ("Deny", "iam:*")
    assert [it["Fn::Sub"].rpartition(":")[2] for it in itself["Resource"]] == [
        "role/neve-${Stage}-deploy",
        "policy/neve-${Stage}-boundary",
    ]
    kept = statement("NothingThatIsKept")
    assert (kept["Effect"], kept["Resource"]) == ("Deny", "*")
    assert {"dynamodb:DeleteTable", "s3:DeleteBucket", "kms:ScheduleKeyDeletion", "es:DeleteDomain"} <= set(
        kept["Action"]
    )
    other = statement("NoOtherStage")
    assert other["Condition"]["StringNotEquals"] == {"aws:ResourceTag/Stage": {"Ref": "Stage"}}


def test_every_stack_of_a_stage_has_its_tag() -> None:
    """By which the pipeline of another stage is kept off."""
    text = (ROOT / "samconfig.toml").read_text(encoding="utf-8")
    tagged = dict(re.findall(r'stack_name = "([\w-]+)"\ntags = "Service=neve(?: Stage=(\w+))?"', text))
    assert set(re.findall(r'stack_name = "([\w-]+)"', text)) == set(tagged)
    assert {name: stage for name, stage in tagged.items() if stage} == {
        f"neve-{stage}{part}": stage for stage in ("dev", "staging", "prod") for part in ("", "-data")
    }


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_an_action_is_named_by_its_commit(path: Path) -> None:
    """A tag can be moved onto another commit, by whoever takes over an action."""
    used = re.findall(r"uses: (\S+)(.*)", path.read_text(encoding="utf-8"))
    for name, behind in used:
        if name.startswith("./"):
            assert (ROOT / name).is_file()
            continue
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", name), name
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", behind), f"{name}: which release is it?"


def test_workflows_agree_on_the_commit_of_an_action_and_ask_for_little() -> None:
    commits: dict[str, set[str]] = defaultdict(set)
    for path in WORKFLOWS:
        for name, commit in re.findall(r"uses: ([\w/-]+)@(\w+)", path.read_text(encoding="utf-8")):
            commits[name].add(commit)
        assert "contents: write" not in path.read_text(encoding="utf-8")
    assert {name for name, found in commits.items() if len(found) > 1} == set()
    assert {"actions/checkout", "aws-actions/configure-aws-credentials"} <= set(commits)


def test_ci_runs_what_a_change_has_to_pass_and_a_deployment_the_one_command() -> None:
    jobs = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"] for path in WORKFLOWS}
    assert any(".ci/run" in step.get("run", "") for step in jobs["ci"]["run"]["steps"])
    assert jobs["stage"]["deploy"]["environment"] == "${{ inputs.stage }}"
    assert any("make deploy" in step.get("run", "") for step in jobs["stage"]["deploy"]["steps"])
    assert [jobs["deploy"][stage]["needs"] for stage in ("dev", "staging", "prod")] == ["release", "dev", "staging"]


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_a_layer_lists_every_package_of_its_lock(name: str) -> None:
    listed = bill_of(LAYERS[name])
    pinned = re.findall(
        r"^([\w.-]+)(?:\[.*\])?==([^\s;\\]+)", LAYERS[name].lock.read_text(encoding="utf-8"), re.MULTILINE
    )
    packages = [it for it in listed["components"] if it["type"] == "library"]
    assert len(packages) == len(pinned) > 0
    assert {it["version"] for it in packages} == {version for _, version in pinned}
    assert all(it["hashes"] and it["purl"] == f"pkg:pypi/{it['name']}@{it['version']}" for it in packages)
    assert (listed["bomFormat"], listed["specVersion"]) == ("CycloneDX", "1.6")
