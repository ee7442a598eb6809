"""The table's schema comes from the template, and from nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.aws import data_definitions
from local.aws.data_definitions import table_parameters
from local.cloudformation import TemplateError
from neve.adapters.table_rules import INDEX_KEYS
from neve.ports.table import INDEX_PROJECTION, Index

TABLE = """
Resources:
  Key: {Type: "AWS::KMS::Key", Properties: {Description: !Sub "${AWS::StackName}"}}
  Table:
    Type: AWS::DynamoDB::Table
    DeletionPolicy: Retain
    Properties:
      TableName: !Sub "${AWS::StackName}"
      BillingMode: PAY_PER_REQUEST
      DeletionProtectionEnabled: !If [IsProd, true, false]
      AttributeDefinitions: [{AttributeName: pk, AttributeType: S}, {AttributeName: gpk, AttributeType: S}]
      KeySchema: [{AttributeName: pk, KeyType: HASH}]
      GlobalSecondaryIndexes:
        - IndexName: g
          KeySchema: [{AttributeName: gpk, KeyType: HASH}]
          Projection: {ProjectionType: ALL}
          ContributorInsightsSpecification: {Enabled: true}
      StreamSpecification: {StreamViewType: NEW_AND_OLD_IMAGES}
      SSESpecification: {SSEEnabled: true, KMSMasterKeyId: !Ref Key}
"""


def test_the_deployed_table_has_the_indexes_that_the_adapter_asks() -> None:
    parameters = table_parameters("neve")
    schemas = {index["IndexName"]: index for index in parameters["GlobalSecondaryIndexes"]}
    keys = {name: tuple(key["AttributeName"] for key in index["KeySchema"]) for name, index in schemas.items()}
    projections = {name: index["Projection"] for name, index in schemas.items()}
    assert tuple(key["AttributeName"] for key in parameters["KeySchema"]) == INDEX_KEYS[Index.MAIN]
    assert keys == {index.value: pair for index, pair in INDEX_KEYS.items() if index is not Index.MAIN}
    assert projections.pop("recent") == {"ProjectionType": "ALL"}
    assert {name: set(of["NonKeyAttributes"]) for name, of in projections.items()} == {
        index.value: set(names) for index, names in INDEX_PROJECTION.items()
    }
    assert parameters["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


@pytest.fixture
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "data.yaml"
    path.write_text(TABLE)
    monkeypatch.setattr(data_definitions, "TEMPLATE", path)
    return path


def test_only_what_creates_a_table_is_taken_from_the_template(template: Path) -> None:
    assert table_parameters("mine") == {
        "TableName": "mine",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "gpk", "AttributeType": "S"},
        ],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "g",
                "KeySchema": [{"AttributeName": "gpk", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    }


def test_a_schema_that_is_not_written_out_is_refused(template: Path) -> None:
    template.write_text(TABLE.replace("AttributeName: gpk, KeyType", "AttributeName: !Ref G, KeyType"))
    with pytest.raises(TemplateError, match="not written out"):
        table_parameters("mine")


def test_a_template_without_the_table_is_an_error(template: Path) -> None:
    template.write_text("Resources: {}")
    with pytest.raises(TemplateError, match=r"data.yaml does not define Table"):
        table_parameters("mine")
