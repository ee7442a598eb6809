"""Whether a deployed stage's schedules are enabled is asked of CloudFormation and Scheduler."""

from __future__ import annotations

from typing import Any

from botocore.stub import Stubber

from tests.http.driving.schedules import states_deployed, states_ordered
from tests.unit.aws_world import SESSION


class Answers:
    """A session whose clients are stubbed."""

    def __init__(self) -> None:
        self.clients = {name: SESSION.client(name) for name in ("cloudformation", "scheduler")}
        self.stubs = {name: Stubber(client) for name, client in self.clients.items()}
        for stub in self.stubs.values():
            stub.activate()

    def client(self, name: str) -> Any:
        return self.clients[name]


def resource(kind: str, logical_id: str) -> dict[str, Any]:
    return {
        "ResourceType": kind,
        "LogicalResourceId": logical_id,
        "PhysicalResourceId": f"neve-dev-{logical_id}-1ABC",
        "LastUpdatedTimestamp": "2026-01-01T00:00:00Z",
        "ResourceStatus": "CREATE_COMPLETE",
    }


def test_every_page_is_read_and_every_schedule_asked_for() -> None:
    answers = Answers()
    first = [resource("AWS::Lambda::Function", "SweepFunction"), resource("AWS::Scheduler::Schedule", "One")]
    pages = answers.stubs["cloudformation"]
    pages.add_response(
        "list_stack_resources", {"StackResourceSummaries": first, "NextToken": "t"}, {"StackName": "neve-dev"}
    )
    second = [resource("AWS::Scheduler::Schedule", "Two")]
    pages.add_response(
        "list_stack_resources", {"StackResourceSummaries": second}, {"StackName": "neve-dev", "NextToken": "t"}
    )
    for name, state in (("One", "ENABLED"), ("Two", "DISABLED")):
        answers.stubs["scheduler"].add_response("get_schedule", {"State": state}, {"Name": f"neve-dev-{name}-1ABC"})
    assert states_deployed(answers, "neve-dev") == {"One": "ENABLED", "Two": "DISABLED"}  # type: ignore[arg-type]


def test_the_template_orders_the_sweep_and_the_planner() -> None:
    expected = {"SweepFunctionEveryTenMinutes": "ENABLED", "ReflectPlannerFunctionEveryHour": "ENABLED"}
    assert states_ordered() == expected
