"""An event that failed too often and has nowhere to go is lost without a trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cfnlint.rules import CloudFormationLintRule, RuleMatch  # type: ignore[import-untyped]

FUNCTION = "AWS::Serverless::Function"


class FailuresGoSomewhere(CloudFormationLintRule):  # type: ignore[misc]
    id = "E9103"
    shortdesc = "Every event source has a target for what fails"
    description = "Queues redrive, streams have a destination, schedules a dead-letter queue and an asynchronous one"
    source_url = "docs/runbooks/dlq-redrive.md"
    tags = ("neve",)

    def match(self, cfn: Any) -> list[RuleMatch]:
        resources = cfn.template["Resources"]
        return [
            RuleMatch(["Resources", logical_id, "Properties", "Events", name], f"{logical_id}.{name}: {missing}")
            for logical_id, function in cfn.get_resources([FUNCTION]).items()
            for name, event in function["Properties"].get("Events", {}).items()
            for missing in _missing(resources, function["Properties"], event["Type"], event["Properties"])
        ]


def _missing(
    resources: Mapping[str, Any], function: Mapping[str, Any], kind: str, event: Mapping[str, Any]
) -> Iterator[str]:
    if kind == "SQS":
        if "RedrivePolicy" not in resources[event["Queue"]["Fn::GetAtt"][0]]["Properties"]:
            yield "the queue has no dead-letter queue"
    elif kind == "DynamoDB":
        if "OnFailure" not in event.get("DestinationConfig", {}):
            yield "the stream has no failure destination"
    elif kind == "ScheduleV2":
        if not {"DeadLetterConfig", "RetryPolicy"} <= event.keys():
            yield "the schedule has no retry policy or no dead-letter queue"
        if "OnFailure" not in function.get("EventInvokeConfig", {}).get("DestinationConfig", {}):
            yield "a run that fails is reported nowhere"
    elif kind == "Schedule":  # of a check: what is missed is the alarm's, for which no data is a failure
        if "RetryPolicy" not in event:
            yield "the schedule has no retry policy"
    elif kind != "Api":
        yield f"nobody has said what becomes of a failed {kind} event"
