"""Which schedules the template orders, and which a deployed stack has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.infra.templates import SERVICE, of_type, written

if TYPE_CHECKING:
    from boto3 import Session


def states_ordered() -> dict[str, str]:
    """State by logical id; SAM makes the id of the function's and the event's, and enables what says nothing."""
    return {
        f"{function}{name}": event["Properties"].get("State", "ENABLED")
        for function, properties in of_type(written(SERVICE)["Resources"], "AWS::Serverless::Function")
        for name, event in properties.get("Events", {}).items()
        if event["Type"] == "ScheduleV2"
    }


def states_deployed(session: Session, stack: str) -> dict[str, str]:
    """State by logical id, of the stack's schedules. Raises what boto3 raises."""
    pages = session.client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=stack)
    scheduler = session.client("scheduler")
    return {
        resource["LogicalResourceId"]: scheduler.get_schedule(Name=resource["PhysicalResourceId"])["State"]
        for page in pages
        for resource in page["StackResourceSummaries"]
        if resource["ResourceType"] == "AWS::Scheduler::Schedule"
    }
