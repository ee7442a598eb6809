"""Whoever is woken by an alarm needs to know what to do next."""

from __future__ import annotations

import re
from typing import Any

from cfnlint.rules import CloudFormationLintRule, RuleMatch  # type: ignore[import-untyped]

NAMED = re.compile(r"Runbook: docs/runbooks/[a-z0-9-]+\.md$")
PART = re.compile(r"ALARM\(\"\$\{(\w+)\}\"\)")
"""How the rule of a composite alarm names another one."""


class AlarmsHaveRunbooks(CloudFormationLintRule):  # type: ignore[misc]
    id = "E9105"
    shortdesc = "Every alarm names its runbook and tells somebody"
    description = (
        "The description ends in the runbook's path; AlarmActions and TreatMissingData are set. "
        "An alarm that is a part of another one tells nobody by itself"
    )
    source_url = "docs/deploy.md"
    tags = ("neve",)

    def match(self, cfn: Any) -> list[RuleMatch]:
        alarms = cfn.get_resources(["AWS::CloudWatch::Alarm"])
        together = cfn.get_resources(["AWS::CloudWatch::CompositeAlarm"])
        parts = {name for it in together.values() for name in PART.findall(str(it["Properties"]["AlarmRule"]))}
        needed = {
            name: ("TreatMissingData",) if name in parts else ("AlarmActions", "TreatMissingData") for name in alarms
        }
        needed |= dict.fromkeys(together, ("AlarmActions",))
        return [
            RuleMatch(["Resources", logical_id, "Properties"], f"{logical_id}: {missing}")
            for logical_id, alarm in {**alarms, **together}.items()
            for missing in _missing(alarm["Properties"], needed[logical_id])
        ]


def _missing(alarm: dict[str, Any], needed: tuple[str, ...]) -> list[str]:
    named = NAMED.search(alarm.get("AlarmDescription", ""))
    unset = [name for name in needed if not alarm.get(name)]
    return [] if named and not unset else [f"no {part}" for part in (*unset, *([] if named else ["runbook"]))]
