"""The Table port on DynamoDB's stand-ins."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from boto3 import Session
from moto import mock_aws
from types_boto3_dynamodb import DynamoDBClient

from local.aws.data_definitions import create_table
from local.aws.local_servers import REGION, local_session
from neve.adapters.aws.clients import aws_client
from neve.adapters.dynamodb.table import DynamoDbTable
from neve.ports.table import Table
from tests.servers import dynamodb_url

DELETES_A_BATCH = 25
"""The most that one BatchWriteItem takes."""

# --- DynamoDB Local -----------------------------------------------------------------------------


@cache
def anybody() -> Session:
    """DynamoDB Local takes any credentials. Clients made with it have the timeouts of production."""
    return Session("test", "test", region_name=REGION)


@cache
def local_client(url: str) -> DynamoDBClient:
    """With the retries of production."""
    return aws_client("dynamodb", endpoint_url=url, session=local_session())


def create_local_table(_: Path) -> str:
    """A table of its own for every test: ``<url> <name>``."""
    url, name = dynamodb_url(), f"neve-{uuid.uuid4().hex}"
    create_table(local_client(url), name)
    return f"{url} {name}"


@cache
def _table_of_this_process() -> str:
    return create_local_table(Path())


def empty_local_table(_: Path) -> str:
    """A table without rows, for a test that uses one and asks for nothing but rows. It is the same one for all tests of
    this process: to make one takes the server longer than most tests, and ever longer the more there are."""
    location = _table_of_this_process()
    url, name = location.split()
    client = local_client(url)
    for page in client.get_paginator("scan").paginate(TableName=name, AttributesToGet=["pk", "sk"]):
        for start in range(0, len(page["Items"]), DELETES_A_BATCH):
            deletes: Any = [{"DeleteRequest": {"Key": key}} for key in page["Items"][start : start + DELETES_A_BATCH]]
            left = client.batch_write_item(RequestItems={name: deletes})["UnprocessedItems"]
            assert not left, "the server does not throttle"
    return location


@contextmanager
def open_local_table(location: str) -> Iterator[Table]:
    url, name = location.split()
    yield DynamoDbTable(local_client(url), name)


# --- moto ---------------------------------------------------------------------------------------


@cache
def moto_client() -> DynamoDBClient:
    return aws_client("dynamodb", session=anybody())


def name_moto_table(_: Path) -> str:
    return "neve"


@contextmanager
def open_moto_table(location: str) -> Iterator[Table]:
    """The table lives as long as this context, inside this process."""
    with mock_aws():
        create_table(moto_client(), location)
        yield DynamoDbTable(moto_client(), location)
