"""A function without a role of its own shares permissions; without a log group of its own it logs for ever."""

from __future__ import annotations

from collections import Counter
from typing import Any

from cfnlint.rules import CloudFormationLintRule, RuleMatch  # type: ignore[import-untyped]

KIND = "AWS::Serverless::Function"
OWN = ("Role", "LoggingConfig")


class FunctionsAreOwned(CloudFormationLintRule):  # type: ignore[misc]
    id = "E9101"
    shortdesc = "Every function has a role and a log group of its own"
    description = "Role and LoggingConfig.LogGroup are set and shared with no other function"
    source_url = "docs/deploy.md"
    tags = ("neve",)

    def match(self, cfn: Any) -> list[RuleMatch]:
        functions = cfn.get_resources([KIND])
        used = Counter(repr(it["Properties"].get(name)) for it in functions.values() for name in OWN)
        return [
            RuleMatch(["Resources", logical_id, "Properties"], f"{logical_id} has no {name} of its own")
            for logical_id, it in functions.items()
            for name in OWN
            if not it["Properties"].get(name) or used[repr(it["Properties"][name])] > 1
        ]
