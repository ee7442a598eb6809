"""Stores for functions under Lambda's runtime client: the stand-ins' table, queues and bucket, and a tenant in them."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from boto3 import Session

from local.aws.data_definitions import create_table
from local.aws.queues import create
from local.aws.sqs_consumer import SqsBroker
from local.functions import STAGE
from local.stack.jars import Server
from local.template import Template
from neve.adapters.aws.clients import aws_client
from neve.adapters.dynamodb.table import DynamoDbTable
from neve.aws_ports import AwsPorts, queue_field
from neve.config import Settings, variable
from neve.ports.queue import QueueName
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.work.background.probe_versions import TENANT as PROBE

REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class Stores:
    """``key``: an API key of every scope. ``variables``: what settings read, by name, without the layers' folders.
    ``endpoints``: what boto3 reads. ``broker``: the receiving end of the queues."""

    session: Session
    urls: Mapping[Server, str]
    table: str
    key: str
    variables: Mapping[str, str]
    broker: SqsBroker

    @property
    def endpoints(self) -> Mapping[str, str]:
        return {
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL_DYNAMODB": self.urls[Server.DYNAMODB],
            "AWS_ENDPOINT_URL_SQS": self.urls[Server.SQS],
            "AWS_ENDPOINT_URL_S3": self.urls[Server.S3],
        }

    def changes(self) -> dict[str, Any]:
        """Everything that was written to the table, as the event of its stream."""
        client = aws_client("dynamodbstreams", endpoint_url=self.urls[Server.DYNAMODB], session=self.session)
        arn = client.list_streams(TableName=self.table)["Streams"][0]["StreamArn"]
        records: list[dict[str, Any]] = []
        for shard in client.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
            first = client.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")
            found = client.get_records(ShardIterator=first["ShardIterator"])["Records"]
            records += [{**_as_event(record), "eventSourceARN": arn} for record in found]
        return {"Records": records}


def make_stores(urls: Mapping[Server, str], template: Template) -> Stores:
    """Of their own on servers that others may use too; the one search index is shared by tenants anyway. The tenant of
    the check before a deployment is in them as well."""
    name, session = f"neve-{uuid.uuid4().hex[:12]}", Session("test", "test", region_name=REGION)
    dynamodb = aws_client("dynamodb", endpoint_url=urls[Server.DYNAMODB], session=session)
    create_table(dynamodb, name)
    sqs = aws_client("sqs", endpoint_url=urls[Server.SQS], session=session)
    queues = create(sqs, template.queues.values(), name)
    aws_client("s3", endpoint_url=urls[Server.S3], session=session).create_bucket(Bucket=name)
    ports = AwsPorts(Settings())
    ports.table = DynamoDbTable(dynamodb, name)
    create_tenant(ports, PROBE)
    given = {
        "stage": STAGE,
        "table": name,
        "bucket": name,
        "search": "opensearch",
        "search_endpoint": urls[Server.OPENSEARCH],
        "embedder": "bge-small",
        "observer": "extractive",
        "anthropic_secret": f"arn:aws:secretsmanager:{REGION}:123456789012:secret:anthropic",
        "anthropic_base_url": "",
        "bedrock_model": "global.anthropic.claude-haiku-5-5",
        "bedrock_region": "",
        **{queue_field(queue): queues[queue] for queue in QueueName},
    }
    return Stores(
        session=session,
        urls=urls,
        table=name,
        key=create_tenant(ports, name).key,
        variables={variable(field): value for field, value in given.items()},
        broker=SqsBroker(sqs, template.queues, queues),
    )


def _as_event(record: Mapping[str, Any]) -> dict[str, Any]:
    """A stream record as Lambda hands it on: the time in seconds, bytes in base64."""
    changed = dict(record["dynamodb"])
    changed["ApproximateCreationDateTime"] = changed["ApproximateCreationDateTime"].timestamp()
    for part in {"Keys", "OldImage", "NewImage"} & changed.keys():
        changed[part] = {name: _typed(value) for name, value in changed[part].items()}
    return {**record, "dynamodb": changed}


def _typed(value: Mapping[str, Any]) -> dict[str, Any]:
    """DynamoDB Local's streams leave the type of an empty map out, which DynamoDB does not."""
    if not value or "M" in value:
        return {"M": {name: _typed(part) for name, part in value.get("M", {}).items()}}
    if "L" in value:
        return {"L": [_typed(part) for part in value["L"]]}
    return {"B": base64.b64encode(value["B"]).decode("ascii")} if "B" in value else dict(value)
