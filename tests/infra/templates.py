"""The templates as CloudFormation reads them: short tags in their long form, the service's also as AWS expands it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from local.cloudformation import read_yaml
from local.template import ROOT

SERVICE = ROOT / "template.yaml"
DATA = ROOT / "infra" / "data.yaml"
OBSERVABILITY = ROOT / "infra" / "observability.yaml"
ACCOUNT = ROOT / "infra" / "account.yaml"
ALL = (SERVICE, DATA, OBSERVABILITY, ACCOUNT)

SAM_PYTHON = Path(os.environ.get("SAM_PYTHON", ROOT / ".venv-sam" / "bin" / "python"))
"""The environment of ``requirements/sam.txt``; ``make test`` makes it."""
BUILD_SHA = "0123456789abcdef"

Properties = Mapping[str, Any]


@cache
def written(path: Path) -> Mapping[str, Any]:
    """A template as it is in the repository."""
    return read_yaml(path)


@cache
def expanded(build_sha: str = BUILD_SHA) -> Mapping[str, Any]:
    """The service's template after the transformation, its resources by logical id. Fails where the translator is not
    installed: without it nothing here would be proven."""
    assert SAM_PYTHON.exists(), f"{SAM_PYTHON} is not there: `make .venv-sam/stamp` installs requirements/sam.txt"
    command = [str(SAM_PYTHON), str(ROOT / "infra" / "transform.py"), str(SERVICE), f"BuildSha={build_sha}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    resources: Mapping[str, Any] = json.loads(done.stdout)["Resources"]
    return resources


def of_type(resources: Mapping[str, Any], kind: str) -> Iterator[tuple[str, Properties]]:
    for logical_id, resource in resources.items():
        if resource["Type"] == kind:
            yield logical_id, resource.get("Properties", {})


def functions() -> dict[str, tuple[str, Properties]]:
    """Logical id and properties, as AWS expands them, by the name of the function's folder."""
    folders = {
        logical_id: Path(properties["CodeUri"]).name
        for logical_id, properties in of_type(written(SERVICE)["Resources"], "AWS::Serverless::Function")
    }
    return {folders[logical_id]: (logical_id, it) for logical_id, it in of_type(expanded(), "AWS::Lambda::Function")}


def queue_name(properties: Properties) -> str:
    """Without the stack's prefix and ``.fifo``."""
    name: str = properties["QueueName"]["Fn::Sub"]
    return name.removeprefix("${AWS::StackName}-").removesuffix(".fifo")
