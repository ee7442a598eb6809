"""``.venv-audit/bin/python infra/audit/read_policies.py < policies.json`` prints what parliament says of each policy: a
list of rule, name of the policy, and text. It imports nothing of Neve: its environment has ``requirements/audit.txt``
only."""

from __future__ import annotations

import json
import sys
from typing import Any

from parliament import analyze_policy_string, config, enhance_finding  # type: ignore[import-not-found]


def main() -> None:
    found = [
        [finding.issue, name, _said(finding)]
        for name, document in json.load(sys.stdin)
        for finding in analyze_policy_string(json.dumps(document), include_community_auditors=True).findings
    ]
    json.dump(found, sys.stdout)


def _said(finding: Any) -> str:
    """Say what a finding is about. parliament has no words for some kinds that its own auditors find."""
    if finding.issue not in config:
        return str(finding.detail)
    enhanced = enhance_finding(finding)
    return f"{enhanced.title}: {enhanced.detail}"


if __name__ == "__main__":
    main()
