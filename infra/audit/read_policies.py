"""``.venv-audit/bin/python infra/audit/read_policies.py < policies.json`` prints what parliament says of each policy: a
list of rule, name of the policy, and text. It imports nothing of Neve: its environment has ``requirements/audit.txt``
only."""

from __future__ import annotations

import json
import sys

from parliament import analyze_policy_string, enhance_finding  # type: ignore[import-not-found]


def main() -> None:
    found = [
        [finding.issue, name, f"{finding.title}: {finding.detail}"]
        for name, document in json.load(sys.stdin)
        for finding in map(
            enhance_finding, analyze_policy_string(json.dumps(document), include_community_auditors=True).findings
        )
    ]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
