"""cfn-lint with our own rules on every template; and that each rule of ours finds what it is for."""

from __future__ import annotations

import subprocess
import sys
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from local.template import ROOT
from tests.infra.templates import ALL, DATA, OBSERVABILITY, SERVICE, written

RULES = ROOT / "infra" / "rules"


@cache
def ours() -> Any:
    """cfn-lint takes seconds to import: not in every process that only collects."""
    from cfnlint.rules import Rules  # type: ignore[import-untyped]

    return Rules.create_from_directory(str(RULES))


def matches(rule: str, template: Any) -> list[Any]:
    from cfnlint.template import Template  # type: ignore[import-untyped]

    return list(ours()[rule].match(Template("template.yaml", template, ["us-east-1"])))


@cache
def findings() -> list[str]:
    """One line a finding, which begins with its template. One run for all of them: the start takes as long as a small
    template."""
    arguments = ["--format", "parseable", "--append-rules", str(RULES), "--", *map(str, ALL)]
    command = [sys.executable, "-c", "import sys; from cfnlint.runner import main; sys.exit(main())", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert bool(done.returncode) == bool(lines), done.stderr
    return lines


@pytest.mark.parametrize("template", ALL, ids=lambda path: path.name)
def test_a_template_has_no_finding(template: Path) -> None:
    assert [line for line in findings() if line.startswith(f"{template}:")] == []


def test_no_finding_is_about_anything_else() -> None:
    """A template that cannot be read, say."""
    assert [line for line in findings() if not line.startswith(tuple(f"{template}:" for template in ALL))] == []


def shared_role(resources: Any) -> None:
    resources["PackFunction"]["Properties"]["Role"] = resources["ObserveFunction"]["Properties"]["Role"]


def endless_logs(resources: Any) -> None:
    del resources["ApiLogs"]["Properties"]["RetentionInDays"]


def no_redrive(resources: Any) -> None:
    del resources["EmbedQueue"]["Properties"]["RedrivePolicy"]


def no_stream_target(resources: Any) -> None:
    del resources["OutboxFunction"]["Properties"]["Events"]["Changes"]["Properties"]["DestinationConfig"]


def lost_sweep(resources: Any) -> None:
    del resources["SweepFunction"]["Properties"]["EventInvokeConfig"]


def every_resource(resources: Any) -> None:
    resources["RecordsRole"]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"][1]["Resource"] = "*"


def every_action(resources: Any) -> None:
    resources["EmbedPolicy"]["Properties"]["PolicyDocument"]["Statement"][1]["Action"] = "sqs:*"


def no_runbook(resources: Any) -> None:
    resources["ApiFailures"]["Properties"]["AlarmDescription"] = "Something is wrong."


def ignore_failure(resources: Any) -> None:
    del resources["WorkerFailures"]["Properties"]["AlarmActions"]


@pytest.mark.parametrize(
    ("broken", "rule", "named"),
    [
        (shared_role, "E9101", "PackFunction"),
        (endless_logs, "E9102", "ApiLogs"),
        (no_redrive, "E9103", "EmbedFunction.Messages"),
        (no_stream_target, "E9103", "OutboxFunction.Changes"),
        (lost_sweep, "E9103", "SweepFunction.EveryTenMinutes"),
        (every_resource, "E9104", "RecordsRole"),
        (every_action, "E9104", "EmbedPolicy"),
        (no_runbook, "E9105", "ApiFailures"),
        (ignore_failure, "E9105", "WorkerFailures"),
    ],
)
def test_a_rule_finds_what_it_is_for(broken: Any, rule: str, named: str) -> None:
    template = deepcopy(dict(written(SERVICE)))
    before = matches(rule, template)
    broken(template["Resources"])
    after = matches(rule, template)
    assert before == []
    assert any(named in match.message for match in after)


def test_plain_stacks_need_no_packaging() -> None:
    """`aws cloudformation deploy` takes them as they are: without anchors, and without a transformation."""
    for template in (DATA, OBSERVABILITY):
        assert "Transform" not in written(template)
        assert "<<:" not in template.read_text(encoding="utf-8")
