"""The engines of the Queue and ObjectStore ports that speak AWS: local servers, and moto inside this process.

moto's memory is the process's own, so nobody else sees it and nothing is left of it in a process that was killed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from uuid import uuid4

import requests
from boto3 import Session
from botocore.exceptions import ClientError
from moto import mock_aws

from local.aws.local_servers import local_session
from local.aws.queues import create
from local.aws.sqs_consumer import SqsBroker
from local.template import QueueSpec
from neve.adapters.aws.clients import aws_client
from neve.adapters.aws.s3_objects import S3Objects
from neve.ports.objects import ObjectStore
from neve.ports.queue import Queue, QueueName
from tests.contract.engines.harnesses import (
    KINDS,
    MAX_RECEIVES,
    Delivery,
    ObjectsHarness,
    QueueHarness,
    delivery_of,
)
from tests.patience import PATIENCE_S
from tests.servers import s3_url, sqs_url

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

MOTO = "moto"
"""The location of everything inside moto."""


@cache
def nobody() -> Session:
    """One a process: making a client reads what botocore knows of its service, 0.1 s the first time and 0.006 s from
    then on."""
    return local_session()


# --- queue --------------------------------------------------------------------------------------


def queue_specs() -> dict[str, QueueSpec]:
    specs = {}
    for name, fifo, delay_s, visibility_s in KINDS:
        letters = f"{name}-dlq"
        specs[str(name)] = QueueSpec(name, fifo, delay_s, visibility_s, letters, MAX_RECEIVES)
        specs[letters] = QueueSpec(letters, fifo, 0, visibility_s, None, None)
    return specs


class SqsHarness:
    """The consumer's side is the one that the local stack works with. Its clock is the server's."""

    def __init__(self, broker: SqsBroker) -> None:
        self._broker = broker

    @property
    def queue(self) -> Queue:
        return self._broker

    def receive(self, name: QueueName, limit: int = 10) -> list[Delivery]:
        return [delivery_of(found) for found in self._broker.receive(name, limit, datetime.now(UTC))]

    def delete(self, name: QueueName, receipt: str) -> None:
        self._broker.delete(name, receipt)

    def release(self, name: QueueName, receipt: str, delay_s: int) -> None:
        self._broker.release(name, receipt, delay_s)

    def dead_letters(self, name: QueueName) -> list[Delivery]:
        return [delivery_of(found) for found in self._broker.receive(f"{name}-dlq", 10, datetime.now(UTC))]

    def pass_time(self, seconds: float) -> None:
        time.sleep(seconds)


def create_elasticmq_queues(_: Path) -> str:
    """Queues of their own on the one server."""
    url, prefix = sqs_url(), uuid4().hex[:12]
    with closing(aws_client("sqs", endpoint_url=url, session=nobody())) as client:
        urls = create(client, queue_specs().values(), prefix)
    return json.dumps({"server": url, "queues": urls})


@contextmanager
def elasticmq_queue(location: str) -> Iterator[QueueHarness]:
    found = json.loads(location)
    with closing(aws_client("sqs", endpoint_url=found["server"], session=nobody())) as client:
        yield SqsHarness(SqsBroker(client, queue_specs(), found["queues"]))


def in_moto(_: Path) -> str:
    return MOTO


class MotoHarness(SqsHarness):
    """One consumer's call at a time: moto looks for a message and hides it in two steps, so two threads at once may be
    given the same one, and it reads the set of the hidden ones while a deletion takes from it, which is an error."""

    def __init__(self, broker: SqsBroker) -> None:
        super().__init__(broker)
        self._one_at_a_time = Lock()

    def receive(self, name: QueueName, limit: int = 10) -> list[Delivery]:
        with self._one_at_a_time:
            return super().receive(name, limit)

    def delete(self, name: QueueName, receipt: str) -> None:
        with self._one_at_a_time:
            super().delete(name, receipt)

    def release(self, name: QueueName, receipt: str, delay_s: int) -> None:
        with self._one_at_a_time:
            super().release(name, receipt, delay_s)


@contextmanager
def moto_queue(_: str) -> Iterator[QueueHarness]:
    with mock_aws(), closing(aws_client("sqs", session=nobody())) as client:
        yield MotoHarness(SqsBroker(client, queue_specs(), create(client, queue_specs().values(), "contract")))


# --- objects ------------------------------------------------------------------------------------


class S3Harness:
    """Its clock is the server's. S3Mock rewrites a content type, without the blank behind the semicolon."""

    def __init__(self, client: S3Client, bucket: str) -> None:
        self._client = client
        self._bucket = bucket
        self._objects = S3Objects(client, bucket)

    @property
    def store(self) -> ObjectStore:
        return self._objects

    def content_type(self, key: str) -> str | None:
        try:
            found = self._client.head_object(Bucket=self._bucket, Key=key)["ContentType"]
            return found.replace(";charset", "; charset")
        except ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
                return None
            raise

    def upload(self, url: str, content_type: str, body: bytes, *, if_none_match: str = "*") -> bool:
        headers = {"Content-Type": content_type, "If-None-Match": if_none_match}
        return requests.put(url, data=body, headers=headers, timeout=PATIENCE_S).ok

    def download(self, url: str) -> bytes | None:
        reply = requests.get(url, timeout=PATIENCE_S)
        return reply.content if reply.ok else None

    def pass_time(self, seconds: float) -> None:
        time.sleep(seconds)


def create_bucket(_: Path) -> str:
    """A bucket of its own on the one server."""
    url, bucket = s3_url(), f"neve-{uuid4().hex}"
    with closing(aws_client("s3", endpoint_url=url, session=nobody())) as client:
        client.create_bucket(Bucket=bucket)
    return json.dumps({"server": url, "bucket": bucket})


@contextmanager
def s3mock_objects(location: str) -> Iterator[ObjectsHarness]:
    found = json.loads(location)
    with closing(aws_client("s3", endpoint_url=found["server"], session=nobody())) as client:
        yield S3Harness(client, found["bucket"])


@contextmanager
def moto_objects(_: str) -> Iterator[ObjectsHarness]:
    with mock_aws(), closing(aws_client("s3", session=nobody())) as client:
        client.create_bucket(Bucket="contract")
        yield S3Harness(client, "contract")
