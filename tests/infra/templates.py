"""The templates as CloudFormation reads them: short tags in their long form, the service's also as AWS expands it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from infra.expand import expand
from local.cloudformation import read_yaml
from local.template import ROOT

SERVICE = ROOT / "template.yaml"
DATA = ROOT / "infra" / "data.yaml"
OBSERVABILITY = ROOT / "infra" / "observability.yaml"
ACCOUNT = ROOT / "infra" / "account.yaml"
CONSOLE = ROOT / "infra" / "console.yaml"
PIPELINE = ROOT / "infra" / "pipeline.yaml"
ALL = (SERVICE, DATA, OBSERVABILITY, ACCOUNT, CONSOLE, PIPELINE)

BUILD_SHA = "0123456789abcdef"

Properties = Mapping[str, Any]


@cache
def written(path: Path) -> Mapping[str, Any]:
    """A template as it is in the repository."""
    return read_yaml(path)


@cache
def expanded(build_sha: str = BUILD_SHA, stage: str = "dev") -> Mapping[str, Any]:
    """The service's template after the transformation, its resources by logical id. Raises NotExpanded where the
    translator is not installed: without it nothing here would be proven."""
    resources: Mapping[str, Any] = expand(BuildSha=build_sha, Stage=stage)["Resources"]
    return resources


def of_type(resources: Mapping[str, Any], kind: str) -> Iterator[tuple[str, Properties]]:
    for logical_id, resource in resources.items():
        if resource["Type"] == kind:
            yield logical_id, resource.get("Properties", {})


def made_before(logical_id: str) -> frozenset[str]:
    """What CloudFormation has made by the time that it makes a resource: all that this one refers to or depends on, and
    so on."""
    found: set[str] = set()
    waiting = [logical_id]
    while waiting:
        new = _needs(expanded()[waiting.pop()]) - found
        found |= new
        waiting += new
    return frozenset(found)


def _needs(resource: Any) -> set[str]:
    """The resources that one names."""
    needed: set[str] = set()
    if isinstance(resource, Mapping):
        after = resource.get("DependsOn", []) if "Type" in resource else []
        needed |= {after} if isinstance(after, str) else set(after)
        match resource:
            case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), *_]}:
                needed.add(name)
            case {"Fn::Sub": str(text)} | {"Fn::Sub": [str(text), _]}:
                needed |= set(re.findall(r"\$\{(\w+)", text))
        needed |= {name for value in resource.values() for name in _needs(value)}
    elif isinstance(resource, list):
        needed |= {name for value in resource for name in _needs(value)}
    return needed & expanded().keys()


def function_names() -> dict[str, str]:
    """Its folder's, by logical id. It needs no transformation, which takes seconds: for what is said before the first
    test, in every process that runs tests."""
    written_there = of_type(written(SERVICE)["Resources"], "AWS::Serverless::Function")
    return {logical_id: Path(properties["CodeUri"]).name for logical_id, properties in written_there}


def functions() -> dict[str, tuple[str, Properties]]:
    """Logical id and properties, as AWS expands them, by the name of the function's folder."""
    folders = function_names()
    return {folders[logical_id]: (logical_id, it) for logical_id, it in of_type(expanded(), "AWS::Lambda::Function")}


def queue_name(properties: Properties) -> str:
    """Without the stack's prefix and ``.fifo``."""
    name: str = properties["QueueName"]["Fn::Sub"]
    return name.removeprefix("${AWS::StackName}-").removesuffix(".fifo")
