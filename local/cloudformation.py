"""CloudFormation templates as values, their short tags in the long form that it takes in JSON: ``!Ref X`` is
``{"Ref": "X"}``, ``!GetAtt X.Arn`` is ``{"Fn::GetAtt": ["X", "Arn"]}``, ``!Sub text`` is ``{"Fn::Sub": "text"}``.

cfn-lint and SAM have readers of their own, but the local server is installed with neither."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

Document = Mapping[str, Any]


class TemplateError(Exception):
    """A template says something that its reader does not understand."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    pass


def _long_form(loader: Any, tag: str, node: yaml.Node) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        text = loader.construct_scalar(node)
        value = text.split(".", 1) if tag == "GetAtt" else text
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)
    return {tag if tag in ("Ref", "Condition") else f"Fn::{tag}": value}


_Loader.add_multi_constructor("!", _long_form)


def read_yaml(path: Path) -> Document:
    """Raises OSError when there is no such file, yaml.YAMLError for one that is not YAML."""
    document: Document = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506  (a subclass of the safe loader)
    return document


def is_intrinsic(value: Any) -> bool:
    """Whether a value is one of CloudFormation's intrinsic functions, which only a deployment can compute."""
    if not isinstance(value, dict) or len(value) != 1:
        return False
    [name] = value
    return name == "Ref" or str(name).startswith("Fn::")


def has_intrinsics(value: Any) -> bool:
    """Whether an intrinsic function stands anywhere in a value."""
    if isinstance(value, list):
        return any(map(has_intrinsics, value))
    return is_intrinsic(value) or (isinstance(value, dict) and any(map(has_intrinsics, value.values())))


def resource_of(value: Any) -> str:
    """The logical id that ``!Ref X``, ``!Ref X.Alias`` or ``!GetAtt X.Attribute`` names. Raises TemplateError for
    anything else."""
    match value:
        case {"Ref": str(name)}:
            return name.partition(".")[0]
        case {"Fn::GetAtt": [str(name), *_]}:
            return name
        case _:
            raise TemplateError(f"neither !Ref nor !GetAtt: {value}")


def text_of(value: Any) -> str:
    """A plain value, or the text of ``!Sub`` with its ``${...}``. Raises TemplateError for another function."""
    match value:
        case {"Fn::Sub": str(text)}:
            return text
        case _ if is_intrinsic(value):
            raise TemplateError(f"not a text: {value}")
        case _:
            return str(value)
