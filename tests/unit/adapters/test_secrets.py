"""Secrets: read once in a while, never told."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from neve.adapters.aws import secrets
from neve.adapters.aws.clients import aws_client
from neve.adapters.aws.secrets import TTL_S, read_secret
from neve.ports import ModelUnavailable
from tests.unit.aws_world import SESSION, AnsweringServer, Reply, answering_server, json_error

if TYPE_CHECKING:
    from types_boto3_secretsmanager import SecretsManagerClient


@pytest.fixture
def server() -> Iterator[AnsweringServer]:
    with answering_server() as running:
        yield running


@pytest.fixture
def client(server: AnsweringServer) -> Iterator[SecretsManagerClient]:
    with closing(aws_client("secretsmanager", endpoint_url=server.url, session=SESSION)) as made:
        yield made


@pytest.fixture
def arn() -> str:
    """The values that are kept belong to the process: every test has a secret of its own."""
    return f"arn:aws:secretsmanager:us-east-1:000000000000:secret:{uuid4().hex}"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What ``monotonic`` says, as the only element."""
    now = [1000.0]
    monkeypatch.setattr(secrets, "monotonic", lambda: now[0])
    return now


def holding(**value: Any) -> Reply:
    return Reply(body={"ARN": "a", "Name": "n", **value}, headers={"content-type": "application/x-amz-json-1.1"})


def test_a_value_is_read_once_and_again_when_it_is_old(
    server: AnsweringServer, client: SecretsManagerClient, arn: str, clock: list[float]
) -> None:
    server.replies = [holding(SecretString="first\n"), holding(SecretString="second")]
    assert read_secret(client, arn) == "first"
    clock[0] += TTL_S - 1
    assert read_secret(client, arn) == "first"
    clock[0] += 1
    assert read_secret(client, arn) == "second"
    assert [request.json()["SecretId"] for request in server.requests] == [arn, arn]


def test_secrets_do_not_mix(server: AnsweringServer, client: SecretsManagerClient, arn: str) -> None:
    server.replies = [holding(SecretString="one"), holding(SecretString="other")]
    assert [read_secret(client, arn), read_secret(client, f"{arn}2"), read_secret(client, arn)] == [
        "one",
        "other",
        "one",
    ]


def test_threads_that_ask_at_once_cause_one_read(
    server: AnsweringServer, client: SecretsManagerClient, arn: str
) -> None:
    server.replies = [holding(SecretString="key")]
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: read_secret(client, arn), range(8))) == {"key"}
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, "ResourceNotFoundException"), (400, "AccessDeniedException"), (500, "InternalServiceError")],
)
def test_a_secret_that_cannot_be_read_is_unavailable_and_asked_for_again(
    server: AnsweringServer, client: SecretsManagerClient, arn: str, status: int, code: str
) -> None:
    server.otherwise = json_error(status, code)
    with pytest.raises(ModelUnavailable, match=f"GetSecretValue: {code}"):
        read_secret(client, arn)
    server.otherwise = holding(SecretString="key")
    assert read_secret(client, arn) == "key"


@pytest.mark.parametrize(
    "value", [{"SecretString": '{"api_key": "sk-123"}'}, {"SecretString": " "}, {"SecretBinary": "c2stMTIz"}, {}]
)
def test_a_secret_that_is_not_plain_text_is_unavailable_and_not_told(
    server: AnsweringServer, client: SecretsManagerClient, arn: str, value: dict[str, str]
) -> None:
    server.otherwise = holding(**value)
    with pytest.raises(ModelUnavailable, match="must hold the key alone") as caught:
        read_secret(client, arn)
    assert "sk-123" not in str(caught.value)


def test_no_server_is_unavailable(arn: str) -> None:
    with answering_server() as gone:
        url = gone.url
    gone_client = aws_client("secretsmanager", endpoint_url=url, session=SESSION)
    with closing(gone_client) as client, pytest.raises(ModelUnavailable, match="EndpointConnectionError"):
        read_secret(client, arn)
