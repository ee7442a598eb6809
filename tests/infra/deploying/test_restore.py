"""A copy of the table: it has what a restored table lacks, and Parameter Store names it last."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import boto3
from moto import mock_aws

from infra.operate.restore import restore_table

NAME = "neve-dev-table"
AT = datetime(2026, 11, 21, 9, tzinfo=UTC)


def stage() -> Any:
    """A session on a stage whose table holds one row."""
    session = boto3.Session("a", "b", region_name="eu-central-1")
    dynamodb, parameters = session.client("dynamodb"), session.client("ssm")
    keys: Any = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]
    attributes: Any = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")]
    dynamodb.create_table(
        TableName=NAME, KeySchema=keys, AttributeDefinitions=attributes, BillingMode="PAY_PER_REQUEST"
    )
    recoverable: Any = {"PointInTimeRecoveryEnabled": True}
    dynamodb.update_continuous_backups(TableName=NAME, PointInTimeRecoverySpecification=recoverable)
    dynamodb.put_item(TableName=NAME, Item={"pk": {"S": "T#acme"}, "sk": {"S": "TENANT"}})
    for name, value in (("table-name", NAME), ("table-stream", "arn:old")):
        parameters.put_parameter(Name=f"/neve/dev/{name}", Value=value, Type="String")
    return session


def parameter(session: Any, name: str) -> str:
    return str(session.client("ssm").get_parameter(Name=f"/neve/dev/{name}")["Parameter"]["Value"])


@mock_aws
def test_a_copy_has_what_a_restored_table_lacks_and_the_next_deployment_is_told() -> None:
    session = stage()
    said = list(restore_table(session, "dev", AT, lambda _: None))
    dynamodb = session.client("dynamodb")
    table = dynamodb.describe_table(TableName=f"{NAME}-restored")["Table"]
    assert (table["StreamSpecification"]["StreamEnabled"], table["DeletionProtectionEnabled"]) == (True, True)
    expiry = dynamodb.describe_time_to_live(TableName=f"{NAME}-restored")["TimeToLiveDescription"]
    assert (expiry["TimeToLiveStatus"], expiry["AttributeName"]) == ("ENABLED", "expires_at")
    backups = dynamodb.describe_continuous_backups(TableName=f"{NAME}-restored")["ContinuousBackupsDescription"]
    assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
    assert dynamodb.scan(TableName=f"{NAME}-restored")["Count"] == 1
    assert (parameter(session, "table-name"), parameter(session, "table-stream")) == (
        f"{NAME}-restored",
        table["LatestStreamArn"],
    )
    assert said[-1] == f"/neve/dev/table-name is {NAME}-restored."


@mock_aws
def test_broken_off_it_goes_on_with_the_same_copy() -> None:
    session = stage()
    begun = restore_table(session, "dev", None, lambda _: None)
    next(begun)
    begun.close()
    assert parameter(session, "table-name") == NAME
    list(restore_table(session, "dev", None, lambda _: None))
    assert sorted(session.client("dynamodb").list_tables()["TableNames"]) == [NAME, f"{NAME}-restored"]
