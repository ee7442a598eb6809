"""CloudFormation's short tags."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from local.cloudformation import TemplateError, has_intrinsics, read_yaml, resource_of, text_of

TEXT = """
Plain: {Name: text, Count: 3, Set: true, Nothing: null}
Ref: !Ref Queue.Alias
GetAtt: !GetAtt Queue.Nested.Arn
Sub: !Sub "${AWS::StackName}-x"
SubWith: !Sub ["${A}", {A: !Ref B}]
If: !If [IsProd, !GetAtt A.Arn, {Deep: !FindInMap [Stages, !Ref Stage, Days]}]
Condition: !Condition IsProd
"""


@pytest.fixture
def document(tmp_path: Path) -> Any:
    path = tmp_path / "template.yaml"
    path.write_text(TEXT)
    return read_yaml(path)


def test_short_tags_are_read_in_their_long_form(document: Any) -> None:
    assert document == {
        "Plain": {"Name": "text", "Count": 3, "Set": True, "Nothing": None},
        "Ref": {"Ref": "Queue.Alias"},
        "GetAtt": {"Fn::GetAtt": ["Queue", "Nested.Arn"]},
        "Sub": {"Fn::Sub": "${AWS::StackName}-x"},
        "SubWith": {"Fn::Sub": ["${A}", {"A": {"Ref": "B"}}]},
        "If": {
            "Fn::If": [
                "IsProd",
                {"Fn::GetAtt": ["A", "Arn"]},
                {"Deep": {"Fn::FindInMap": ["Stages", {"Ref": "Stage"}, "Days"]}},
            ]
        },
        "Condition": {"Condition": "IsProd"},
    }


def test_the_resource_that_is_meant(document: Any) -> None:
    assert (resource_of(document["Ref"]), resource_of(document["GetAtt"])) == ("Queue", "Queue")
    for other in (document["Sub"], document["If"], "Queue", None):
        with pytest.raises(TemplateError, match="neither"):
            resource_of(other)


def test_a_text_may_be_a_sub(document: Any) -> None:
    assert (text_of(document["Sub"]), text_of("plain"), text_of(3)) == ("${AWS::StackName}-x", "plain", "3")
    for other in (document["SubWith"], document["Ref"]):
        with pytest.raises(TemplateError, match="not a text"):
            text_of(other)


def test_intrinsic_functions_are_found_at_any_depth(document: Any) -> None:
    assert not has_intrinsics(document["Plain"])
    assert not has_intrinsics([{"Reference": 1}, {"Ref": 1, "other": 2}])
    assert has_intrinsics([{"a": [document["Sub"]]}])
