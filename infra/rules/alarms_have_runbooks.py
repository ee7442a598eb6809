"""Whoever is woken by an alarm needs to know what to do next."""

from __future__ import annotations

import re
from typing import Any

from cfnlint.rules import CloudFormationLintRule, RuleMatch  # type: ignore[import-untyped]

NAMED = re.compile(r"Runbook: docs/runbooks/[a-z0-9-]+\.md$")


class AlarmsHaveRunbooks(CloudFormationLintRule):  # type: ignore[misc]
    id = "E9105"
    shortdesc = "Every alarm names its runbook and tells somebody"
    description = "The description ends in the runbook's path; AlarmActions and TreatMissingData are set"
    source_url = "docs/deploy.md"
    tags = ("neve",)

    def match(self, cfn: Any) -> list[RuleMatch]:
        return [
            RuleMatch(["Resources", logical_id, "Properties"], f"{logical_id}: {missing}")
            for logical_id, alarm in cfn.get_resources(["AWS::CloudWatch::Alarm"]).items()
            for missing in _missing(alarm["Properties"])
        ]


def _missing(alarm: dict[str, Any]) -> list[str]:
    named = NAMED.search(alarm.get("AlarmDescription", ""))
    unset = [name for name in ("AlarmActions", "TreatMissingData") if not alarm.get(name)]
    return [] if named and not unset else [f"no {part}" for part in (*unset, *([] if named else ["runbook"]))]
