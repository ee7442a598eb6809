"""The Table port on DynamoDB's stand-ins."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from boto3 import Session
from moto import mock_aws
from types_boto3_dynamodb import DynamoDBClient

from local.aws.data_definitions import create_table
from local.aws.local_servers import REGION, local_session
from neve.adapters.aws.clients import aws_client
from neve.adapters.dynamodb.table import DynamoDbTable
from neve.ports import Table
from tests.servers import dynamodb_url

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
