"""Runs parliament and checkov, in the environment of ``requirements/audit.txt``, without a network."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from infra.audit.findings import Finding
from infra.audit.policies import Policies
from local.template import ROOT

BIN = ROOT / ".venv-audit" / "bin"
PLANTED = "planted"
"""A template of mistakes that goes with the others: a tool that does not see them has not looked."""
MISTAKES: Mapping[str, Any] = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Resources": {
        "OpenBucket": {"Type": "AWS::S3::Bucket", "Properties": {"AccessControl": "PublicReadWrite"}},
        "WrongPolicy": {
            "Type": "AWS::IAM::RolePolicy",
            "Properties": {
                "RoleName": "role",
                "PolicyName": "policy",
                "PolicyDocument": {
                    "Version": "2012-10-17",
                    "Statement": [{"Effect": "Allow", "Action": "s3:GetObjects", "Resource": "arn:aws:s3:::bucket/*"}],
                },
            },
        },
    },
}
EXPECTED = {("CKV_AWS_20", f"{PLANTED}/OpenBucket"), ("UNKNOWN_ACTION", f"{PLANTED}/WrongPolicy")}


class NotAudited(Exception):
    """A tool is not there, could not read a template, or did not see what was planted; the message says which."""


def audit(templates: Mapping[str, Mapping[str, Any]], folder: Path) -> list[Finding]:
    """``templates``: as CloudFormation takes them, by the name that findings have. ``folder``: an empty one. Raises
    NotAudited, Unreadable."""
    everything = {**templates, PLANTED: MISTAKES}
    found = [*_of_policies(everything), *_of_resources(everything, folder)]
    if missed := EXPECTED - {(finding.rule, finding.where) for finding in found}:
        raise NotAudited(f"what was planted was not found: {sorted(missed)}")
    return sorted(finding for finding in found if not finding.where.startswith(f"{PLANTED}/"))


def _of_policies(templates: Mapping[str, Mapping[str, Any]]) -> list[Finding]:
    policies = [
        (f"{name}/{logical_id}", document)
        for name, template in templates.items()
        for logical_id, document in Policies(template["Resources"])
    ]
    script = Path(__file__).with_name("read_policies.py")
    return [Finding(*one) for one in json.loads(_run(["python", str(script)], ROOT, json.dumps(policies)))]


def _of_resources(templates: Mapping[str, Mapping[str, Any]], folder: Path) -> list[Finding]:
    for name, template in templates.items():
        (folder / f"{name}.json").write_text(json.dumps(template, indent=1), encoding="utf-8")
    quiet = ["--skip-download", "--quiet", "--compact", "--soft-fail", "--output", "json"]
    answer = json.loads(_run(["checkov", "--directory", ".", "--framework", "cloudformation", *quiet], folder))
    summary, failed = answer["summary"], answer["results"]["failed_checks"]
    if summary["parsing_errors"] or summary["skipped"]:
        raise NotAudited(f"checkov could not read a template, or one tells it what to skip: {summary}")
    return [
        Finding(it["check_id"], f"{Path(it['file_path']).stem}/{it['resource'].partition('.')[2]}", it["check_name"])
        for it in failed
    ]


def _run(command: list[str], folder: Path, given: str = "") -> str:
    program = BIN / command[0]
    if not program.exists():
        raise NotAudited(f"{program} is not there: `make audit` installs requirements/audit.txt")
    done = subprocess.run(
        [str(program), *command[1:]],
        cwd=folder,
        input=given,
        capture_output=True,
        text=True,
        env={**os.environ, "LOG_LEVEL": "ERROR"},
        check=False,
    )
    if done.returncode:
        raise NotAudited(f"{command[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout
