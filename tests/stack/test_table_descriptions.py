"""DynamoDB Local's wrapper remembers what describes a table: no other table may get what was changed of one, and nobody
the table as it was before."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from local.aws.local_servers import local_session
from neve.adapters.aws.clients import aws_client
from tests.servers import dynamodb_url, need_servers

OWNER = {"AttributeName": "owner", "AttributeType": "S"}
BY_OWNER = {
    "IndexName": "by-owner",
    "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "ALL"},
}


@pytest.fixture
def client() -> Any:
    need_servers()
    return aws_client("dynamodb", endpoint_url=dynamodb_url(), session=local_session(uuid4().hex))


def test_a_change_of_one_table_is_seen_there_and_nowhere_else(client: Any) -> None:
    for name in ("first", "second"):  # alike: their descriptions are the same bytes
        client.create_table(
            TableName=name,
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            BillingMode="PAY_PER_REQUEST",
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        )
        client.put_item(TableName=name, Item={"pk": {"S": "row"}, "owner": {"S": "ann"}})
    live = {"Enabled": True, "AttributeName": "expires_at"}
    client.update_time_to_live(TableName="first", TimeToLiveSpecification=live)
    assert _time_to_live(client, "first") == "ENABLED"
    assert _time_to_live(client, "second") == "DISABLED"
    client.update_table(
        TableName="first", AttributeDefinitions=[OWNER], GlobalSecondaryIndexUpdates=[{"Create": BY_OWNER}]
    )
    client.get_waiter("table_exists").wait(TableName="first", WaiterConfig={"Delay": 1, "MaxAttempts": 60})
    assert _indexes(client, "first") == ["by-owner"]
    assert _indexes(client, "second") == []
    client.delete_table(TableName="first")
    client.update_time_to_live(TableName="second", TimeToLiveSpecification=live)
    assert _time_to_live(client, "second") == "ENABLED"


def _time_to_live(client: Any, table: str) -> str:
    return str(client.describe_time_to_live(TableName=table)["TimeToLiveDescription"]["TimeToLiveStatus"])


def _indexes(client: Any, table: str) -> list[str]:
    described = client.describe_table(TableName=table)["Table"]
    return [index["IndexName"] for index in described.get("GlobalSecondaryIndexes", ())]
