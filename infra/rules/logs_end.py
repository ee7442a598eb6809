"""Logs that nobody deletes cost more every month, and hold for ever what an erasure forgets."""

from __future__ import annotations

from typing import Any

from cfnlint.rules import CloudFormationLintRule, RuleMatch  # type: ignore[import-untyped]


class LogsEnd(CloudFormationLintRule):  # type: ignore[misc]
    id = "E9102"
    shortdesc = "Every log group has a retention"
    description = "RetentionInDays is set"
    source_url = "docs/deploy.md"
    tags = ("neve",)

    def match(self, cfn: Any) -> list[RuleMatch]:
        groups = cfn.get_resources(["AWS::Logs::LogGroup"])
        return [
            RuleMatch(["Resources", logical_id, "Properties"], f"{logical_id} keeps its logs for ever")
            for logical_id, group in groups.items()
            if "RetentionInDays" not in group.get("Properties", {})
        ]
