"""Clients of AWS services: patience, endpoints, and nothing imported before the first."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from boto3 import Session

from neve.adapters.aws import clients as aws_clients
from neve.adapters.aws.clients import PATIENCE, Service, aws_client
from tests.unit.aws_world import SESSION, Reply, answering_server

CORE = Path(__file__).resolve().parents[3] / "layers" / "core"
FUNCTION_S = 28
PAUSES_S = 1
"""At most, between two attempts of the SDK."""
NOT_OF_REQUESTS: frozenset[Service] = frozenset({"lambda", "codedeploy"})
"""No request waits for these: deployments call them."""


@pytest.mark.parametrize("service", PATIENCE)
def test_a_client_has_the_patience_of_its_service(service: Service) -> None:
    with closing(aws_client(service, session=SESSION)) as client:
        config: Any = client.meta.config
        patience = PATIENCE[service]
        assert (config.connect_timeout, config.read_timeout) == (patience.connect_s, patience.read_s)
        assert config.retries == {"mode": "standard", "total_max_attempts": patience.attempts}
        assert client.meta.service_model.service_name == service


@pytest.mark.parametrize("service", sorted(set(PATIENCE) - NOT_OF_REQUESTS))
def test_a_service_that_is_down_is_given_up_before_the_gateway_does(service: Service) -> None:
    patience = PATIENCE[service]
    attempts = patience.attempts * (patience.connect_s + patience.read_s)
    assert attempts + (patience.attempts - 1) * PAUSES_S < FUNCTION_S


def test_uploads_are_signed_with_version_4() -> None:
    with closing(aws_client("s3", session=SESSION)) as client:
        config: Any = client.meta.config
        assert config.signature_version == "s3v4"


def test_a_signed_address_names_the_region_of_its_bucket() -> None:
    """The global endpoint sends callers of a new bucket to another host, for which the signature is not good."""
    session = Session("id", "secret", region_name="eu-central-1")
    with closing(aws_client("s3", session=session)) as client:
        address = client.generate_presigned_url("put_object", Params={"Bucket": "neve-dev", "Key": "uploads/a/b"})
    assert urlsplit(address).netloc == "neve-dev.s3.eu-central-1.amazonaws.com"


def test_the_environment_says_where_a_service_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setattr(aws_clients, "_sessions", [])
    with answering_server() as server:
        server.otherwise = Reply(body={"QueueUrls": []}, headers={"content-type": "application/x-amz-json-1.0"})
        monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", server.url)
        with closing(aws_client("sqs")) as client:
            client.list_queues()
        with closing(aws_client("sqs", endpoint_url="http://127.0.0.1:1")) as client:
            assert client.meta.endpoint_url == "http://127.0.0.1:1"
        assert len(server.requests) == 1


def test_boto3_is_imported_with_the_first_client() -> None:
    code = "import sys; import neve.adapters.aws.clients; print(sorted({'boto3', 'botocore'} & set(sys.modules)))"
    environment = {**os.environ, "PYTHONPATH": str(CORE)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "[]"
