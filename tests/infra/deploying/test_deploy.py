"""What `make deploy` would do to an account, and what it says of one that lacks something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber
from moto import mock_aws

from infra.deploy import steps as of_a_deployment
from infra.deploy.cloud import Cloud, NotReady
from infra.deploy.deployment import deploy
from infra.deploy.probe import make_tenant
from infra.deploy.steps import check, steps
from infra.deploy.wanted import Wanted, build_sum
from neve.store.tenants.directory import all_tenants
from neve.usecases.work.background.probe_versions import TENANT
from tests.infra.templates import ACCOUNT, written
from tests.unit.recall_world import RecallWorld

WANTED = Wanted("dev")


@dataclass
class OneAccount(Cloud):
    """Stacks by name with their states."""

    stacks: dict[str, str] = field(default_factory=dict)
    stored: dict[str, str] = field(default_factory=dict)
    secret: bool = True
    session: Any = None

    def _stack(self, name: str) -> Mapping[str, Any] | None:
        return {"StackStatus": self.stacks[name]} if name in self.stacks else None

    def who(self) -> str:
        return "account 1, region eu-central-1, as me"

    def parameters(self, stage: str) -> Mapping[str, str]:
        return self.stored

    def has_value(self, secret: str) -> bool:
        return self.secret


def said(account: Cloud, wanted: Wanted = WANTED) -> list[str]:
    return [step.said for step in steps(account, wanted, dry=True)]


def in_order(found: list[str], *parts: str) -> bool:
    places = [next((at for at, one in enumerate(found) if part in one), -1) for part in parts]
    return -1 not in places and places == sorted(places)


def test_an_empty_account_gets_everything_in_order() -> None:
    found = said(OneAccount())
    assert len(found) == 5
    assert in_order(
        found, "--config-env account", "--config-env dev-data", "make build", "sam build", "--config-env dev "
    )
    assert all("--no-confirm-changeset" in one for one in found if "sam deploy" in one), "nobody is asked"


def test_what_is_there_is_left_alone() -> None:
    there = OneAccount({"neve-account": "CREATE_COMPLETE", "neve-dev-data": "UPDATE_COMPLETE"})
    assert [one.split(" --")[0] for one in said(there)] == [
        "make build",
        ".venv-sam/bin/sam build",
        ".venv-sam/bin/sam deploy",
    ]
    again = said(there, replace(WANTED, stores=("AlarmEmail=you@example.com",)))
    assert "--parameter-overrides Stage=dev AlarmEmail=you@example.com" in again[0]
    assert "--config-env dev-data" in said(there, replace(WANTED, data_again=True))[0]


def test_a_budget_is_the_accounts_and_there_when_it_has_an_amount_and_somebody_to_tell() -> None:
    there = OneAccount({"neve-account": "CREATE_COMPLETE", "neve-dev-data": "UPDATE_COMPLETE"})
    given = ("BudgetUsd=200", "BudgetEmail=you@example.com")
    first = said(there, replace(WANTED, account=given))[0]
    assert "--config-env account" in first and first.endswith("--parameter-overrides " + " ".join(given))
    budget = written(ACCOUNT)["Resources"]["Budget"]
    assert budget["Condition"] == "HasBudget"
    assert budget["Properties"]["Budget"]["CostFilters"]["TagKeyValue"] == ["user:Service$neve"]
    told = [it["Notification"] for it in budget["Properties"]["NotificationsWithSubscribers"]]
    assert [(it["NotificationType"], it["Threshold"]) for it in told] == [("ACTUAL", 80), ("FORECASTED", 100)]


def test_a_stack_of_which_nothing_was_made_is_deleted_first() -> None:
    failed = OneAccount(
        {"neve-account": "CREATE_COMPLETE", "neve-dev-data": "ROLLBACK_COMPLETE", "neve-dev": "CREATE_FAILED"}
    )
    found = said(failed)
    assert in_order(
        found,
        "delete the stack neve-dev-data,",
        "--config-env dev-data",
        "delete the stack neve-dev,",
        "--config-env dev ",
    )


@pytest.mark.parametrize(
    ("state", "cure"),
    [
        ("UPDATE_IN_PROGRESS", "run this again when it is done"),
        ("UPDATE_ROLLBACK_FAILED", "continue-update-rollback --stack-name neve-dev-data"),
    ],
)
def test_a_stack_that_a_person_has_to_look_at_stops_it_with_a_cure(state: str, cure: str) -> None:
    with pytest.raises(NotReady, match=cure):
        said(OneAccount({"neve-account": "CREATE_COMPLETE", "neve-dev-data": state}))


def test_a_stage_whose_model_has_no_key_is_not_deployed() -> None:
    stacks = {"neve-account": "CREATE_COMPLETE", "neve-prod-data": "CREATE_COMPLETE"}
    with pytest.raises(NotReady, match="put-secret-value --secret-id neve/prod/anthropic"):
        said(OneAccount(stacks, secret=False), Wanted("prod"))
    assert said(OneAccount(stacks), Wanted("prod"))


def test_the_sum_is_over_what_a_version_is_made_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code = tmp_path / "BuildSha"
    monkeypatch.setattr("infra.deploy.wanted.BUILD_SUM", code)
    code.write_text("a")
    stored = {"/neve/dev/table-name": "t", "/neve/dev/bucket-name": "b"}
    first = build_sum(WANTED, stored)
    others = [
        build_sum(replace(WANTED, more=("LogLevel=DEBUG",)), stored),
        build_sum(WANTED, stored | {"/neve/dev/table-name": "restored"}),
        build_sum(Wanted("staging"), stored),
    ]
    assert first == build_sum(WANTED, dict(reversed(stored.items())))
    code.write_text("b")
    others.append(build_sum(WANTED, stored))
    assert len({first, *others}) == 5
    assert len(first) == 16


def test_what_is_missing_is_named_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotReady, match="one of dev, prod, staging"):
        check(OneAccount(), Wanted("production"))
    with pytest.raises(NotReady, match="NAME=VALUE"):
        check(OneAccount(), Wanted("dev", more=("DEBUG",)))
    session = boto3.Session(aws_access_key_id="a", aws_secret_access_key="b")
    session._session.set_config_variable("region", None)
    with pytest.raises(NotReady, match="export AWS_DEFAULT_REGION"):
        Cloud(session).who()
    monkeypatch.setattr(of_a_deployment, "SAM", Path("/nowhere/sam"))
    with pytest.raises(NotReady, match=r"make \.venv-sam/stamp"):
        check(OneAccount(), WANTED)


@mock_aws
def test_an_account_is_asked_who_calls_what_is_stored_and_whether_the_model_has_a_key() -> None:
    cloud = Cloud(boto3.Session("a", "b", region_name="eu-central-1"))
    assert "eu-central-1" in cloud.who()
    assert not cloud.has_value("neve/dev/anthropic")
    cloud.client("ssm").put_parameter(Name="/neve/dev/table-name", Value="t", Type="String")
    assert cloud.parameters("dev") == {"/neve/dev/table-name": "t"}


def test_a_stack_that_is_not_there_is_no_failure_and_a_refusal_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    cloud = Cloud(boto3.Session("a", "b", region_name="eu-central-1"))
    stacks = cloud.client("cloudformation")
    monkeypatch.setattr(cloud, "client", lambda _: stacks)
    outputs = [{"OutputKey": "ApiUrl", "OutputValue": "https://x"}]
    made = {
        "StackName": "neve-dev",
        "CreationTime": datetime.now(UTC),
        "StackStatus": "CREATE_COMPLETE",
        "Outputs": outputs,
    }
    with Stubber(stacks) as stubbed:
        stubbed.add_client_error("describe_stacks", "ValidationError")
        stubbed.add_response("describe_stacks", {"Stacks": [made]})
        stubbed.add_response("describe_stacks", {"Stacks": [made]})
        stubbed.add_client_error("describe_stacks", "AccessDenied")
        assert cloud.state("neve-dev") is None
        assert (cloud.state("neve-dev"), cloud.outputs("neve-dev")) == ("CREATE_COMPLETE", {"ApiUrl": "https://x"})
        with pytest.raises(ClientError, match="AccessDenied"):
            cloud.state("neve-dev")


def test_a_dry_run_takes_no_step(capsys: pytest.CaptureFixture[str]) -> None:
    deploy(OneAccount(), WANTED, dry=True)
    printed = capsys.readouterr().out
    assert "account 1, region eu-central-1" in printed
    assert "7 steps, none of them taken." in printed


def test_the_tenant_of_the_check_is_made_once(tmp_path: Path) -> None:
    world = RecallWorld.make(tmp_path)
    try:
        make_tenant(world)
        make_tenant(world)
        assert list(all_tenants(world.table)).count(TENANT) == 1
    finally:
        world.close()
