"""The functions of template.yaml: their code and the layers under it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.packaging.layers import LAYERS, ROOT
from local.cloudformation import read_yaml, resource_of

TEMPLATE = ROOT / "template.yaml"


@dataclass(frozen=True, slots=True)
class DeployedFunction:
    """``name`` is the folder under ``functions/``, ``layers`` are names of ``LAYERS`` in the order of the template,
    ``variables`` the names of its environment."""

    name: str
    logical_id: str
    code: Path
    handler: str
    layers: tuple[str, ...]
    variables: frozenset[str]


def deployed_functions(template: Path = TEMPLATE) -> dict[str, DeployedFunction]:
    """By name. Raises KeyError for a layer of the template that ``LAYERS`` does not have."""
    document = read_yaml(template)
    common = document.get("Globals", {}).get("Function", {})
    found = {}
    for logical_id, resource in document["Resources"].items():
        if resource["Type"] == "AWS::Serverless::Function" and "CodeUri" in resource["Properties"]:
            own = {name: value for name, value in common.items() if name not in resource.get("IgnoreGlobals", ())}
            function = _function(logical_id, own, resource["Properties"], template.parent)
            found[function.name] = function
    return found


def _function(
    logical_id: str, common: Mapping[str, Any], properties: Mapping[str, Any], folder: Path
) -> DeployedFunction:
    """SAM joins the layers and the variables of Globals and of the function; of all else the function's wins."""
    code = folder / properties["CodeUri"]
    references = [*common.get("Layers", []), *properties.get("Layers", [])]
    variables = frozenset(name for given in (common, properties) for name in _variables(given))
    handler = {**common, **properties}["Handler"]
    return DeployedFunction(code.name, logical_id, code, handler, tuple(_layer_names(references)), variables)


def _variables(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    variables: Mapping[str, Any] = properties.get("Environment", {}).get("Variables", {})
    return variables


def _layer_names(references: list[Any]) -> Iterator[str]:
    names = {layer.logical_id: layer.name for layer in LAYERS.values()}
    for reference in dict.fromkeys(map(resource_of, references)):
        yield names[reference]
