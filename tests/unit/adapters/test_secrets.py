"""Secrets: read once in a while, never told."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from neve.adapters.aws.clients import aws_client
from neve.adapters.aws.secrets import SECRET_CACHE, Secrets
from neve.caching import Caches
from neve.ports.errors import ModelUnavailable
from tests.unit.aws_world import SESSION, AnsweringServer, Reply, answering_server, json_error
from tests.unit.world import HandClock

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
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def secrets(client: SecretsManagerClient, clock: HandClock) -> Secrets:
    return Secrets(client, Caches(clock.now))


ARN = "arn:aws:secretsmanager:us-east-1:000000000000:secret:neve"


def holding(**value: Any) -> Reply:
    return Reply(body={"ARN": "a", "Name": "n", **value}, headers={"content-type": "application/x-amz-json-1.1"})


def test_a_value_is_read_once_and_again_when_it_is_old(
    server: AnsweringServer, secrets: Secrets, clock: HandClock
) -> None:
    server.replies = [holding(SecretString="first\n"), holding(SecretString="second")]
    assert secrets.read(ARN) == "first"
    assert SECRET_CACHE.ttl is not None
    clock.move(seconds=SECRET_CACHE.ttl.total_seconds() - 1)
    assert secrets.read(ARN) == "first"
    clock.move(seconds=1)
    assert secrets.read(ARN) == "second"
    assert [request.json()["SecretId"] for request in server.requests] == [ARN, ARN]


def test_secrets_do_not_mix(server: AnsweringServer, secrets: Secrets) -> None:
    server.replies = [holding(SecretString="one"), holding(SecretString="other")]
    assert [secrets.read(ARN), secrets.read(f"{ARN}2"), secrets.read(ARN)] == [
        "one",
        "other",
        "one",
    ]


def test_what_one_process_keeps_another_one_reads(
    server: AnsweringServer, client: SecretsManagerClient, clock: HandClock
) -> None:
    """Two of them in one interpreter have credentials, and regions, of their own."""
    server.replies = [holding(SecretString="one"), holding(SecretString="other")]
    one, other = Secrets(client, Caches(clock.now)), Secrets(client, Caches(clock.now))
    assert [one.read(ARN), other.read(ARN), one.read(ARN)] == ["one", "other", "one"]


def test_threads_that_ask_at_once_cause_one_read(server: AnsweringServer, secrets: Secrets) -> None:
    server.replies = [holding(SecretString="key")]
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: secrets.read(ARN), range(8))) == {"key"}
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, "ResourceNotFoundException"), (400, "AccessDeniedException"), (500, "InternalServiceError")],
)
def test_a_secret_that_cannot_be_read_is_unavailable_and_asked_for_again(
    server: AnsweringServer, secrets: Secrets, status: int, code: str
) -> None:
    server.otherwise = json_error(status, code)
    with pytest.raises(ModelUnavailable, match=f"GetSecretValue: {code}"):
        secrets.read(ARN)
    server.otherwise = holding(SecretString="key")
    assert secrets.read(ARN) == "key"


@pytest.mark.parametrize(
    "value", [{"SecretString": '{"api_key": "sk-123"}'}, {"SecretString": " "}, {"SecretBinary": "c2stMTIz"}, {}]
)
def test_a_secret_that_is_not_plain_text_is_unavailable_and_not_told(
    server: AnsweringServer, secrets: Secrets, value: dict[str, str]
) -> None:
    server.otherwise = holding(**value)
    with pytest.raises(ModelUnavailable, match="must hold the key alone") as caught:
        secrets.read(ARN)
    assert "sk-123" not in str(caught.value)


def test_no_server_is_unavailable(clock: HandClock) -> None:
    with answering_server() as gone:
        url = gone.url
    gone_client = aws_client("secretsmanager", endpoint_url=url, session=SESSION)
    with closing(gone_client) as client, pytest.raises(ModelUnavailable, match="EndpointConnectionError"):
        Secrets(client, Caches(clock.now)).read(ARN)
