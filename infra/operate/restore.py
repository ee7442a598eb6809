"""Makes a copy of a stage's table as it was at a moment, with all that a restored table lacks, and has the next
deployment use it (docs/runbooks/restore.md)."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boto3 import Session

LOOK_S = 15.0
EXPIRES = "expires_at"
STREAM: Any = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


def restore_table(
    session: Session, stage: str, at: datetime | None, sleep: Callable[[float], None] = time.sleep
) -> Generator[str, None, None]:
    """Say each thing once it is done; broken off, it goes on where it was. ``at``: aware; None: the last moment that
    there is. The table that was in use stays as it is."""
    dynamodb, parameters = session.client("dynamodb"), session.client("ssm")
    source = str(parameters.get_parameter(Name=f"/neve/{stage}/table-name")["Parameter"]["Value"])
    target = f"{source}-restored"
    if _table(dynamodb, target) is None:
        moment = {"UseLatestRestorableTime": True} if at is None else {"RestoreDateTime": at}
        dynamodb.restore_table_to_point_in_time(SourceTableName=source, TargetTableName=target, **moment)
    table = _ready(dynamodb, target, sleep)
    yield f"{target}: {source} as it was at {at or 'the last moment'}."
    if not table.get("StreamSpecification", {}).get("StreamEnabled"):
        dynamodb.update_table(TableName=target, StreamSpecification=STREAM)
        table = _ready(dynamodb, target, sleep)
    if not table.get("DeletionProtectionEnabled"):
        dynamodb.update_table(TableName=target, DeletionProtectionEnabled=True)
        table = _ready(dynamodb, target, sleep)
    if not _expires(dynamodb, target):
        dynamodb.update_time_to_live(
            TableName=target, TimeToLiveSpecification={"Enabled": True, "AttributeName": EXPIRES}
        )
    dynamodb.update_continuous_backups(
        TableName=target, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    yield f"{target} has a stream, an expiry, protection from deletion and point-in-time recovery."
    # The name last: until it is there, this begins again with the table that was in use.
    for name, value in (("table-stream", table["LatestStreamArn"]), ("table-name", target)):
        parameters.put_parameter(Name=f"/neve/{stage}/{name}", Value=value, Type="String", Overwrite=True)
        yield f"/neve/{stage}/{name} is {value}."


def _table(dynamodb: Any, name: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = dynamodb.describe_table(TableName=name)["Table"]
    except dynamodb.exceptions.ResourceNotFoundException:
        return None
    return found


def _ready(dynamodb: Any, name: str, sleep: Callable[[float], None]) -> dict[str, Any]:
    """Wait, for hours where the table is large, and give it."""
    while (table := _table(dynamodb, name)) is None or table["TableStatus"] != "ACTIVE":
        sleep(LOOK_S)
    return table


def _expires(dynamodb: Any, name: str) -> bool:
    """DynamoDB refuses what is so already."""
    state = dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"]["TimeToLiveStatus"]
    return state in ("ENABLED", "ENABLING")
