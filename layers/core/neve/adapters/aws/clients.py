"""The one place where clients of AWS services are made: how long each may wait, and how often it tries.

boto3 is imported with the first client, never with this module. Where a service is reached is boto3's own business: the
region's endpoint, or what ``AWS_ENDPOINT_URL`` and ``AWS_ENDPOINT_URL_<SERVICE>`` say."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

if TYPE_CHECKING:
    from boto3 import Session
    from types_boto3_bedrock_runtime import BedrockRuntimeClient
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodbstreams import DynamoDBStreamsClient
    from types_boto3_s3 import S3Client
    from types_boto3_secretsmanager import SecretsManagerClient
    from types_boto3_sqs import SQSClient

Service = Literal[
    "bedrock-runtime", "codedeploy", "dynamodb", "dynamodbstreams", "lambda", "s3", "secretsmanager", "sqs"
]

CONNECTIONS = 32
"""Kept open by a client: as many as ``ThreadTasks`` has threads. One that is missing would be recreated for a call."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds to connect and between two bytes of an answer, of one attempt; ``attempts`` counts the first one too.

    All attempts together last at most ``attempts · (connect_s + read_s)`` and 1 s of pauses between two of them."""

    connect_s: float
    read_s: float
    attempts: int


PATIENCE: dict[Service, Patience] = {
    "dynamodb": Patience(1, 2, 3),
    "dynamodbstreams": Patience(1, 5, 3),
    "s3": Patience(1, 3, 3),
    "sqs": Patience(1, 3, 3),
    "secretsmanager": Patience(1, 3, 3),
    "bedrock-runtime": Patience(1, 5, 2),
    "lambda": Patience(1, 65, 1),
    "codedeploy": Patience(1, 5, 3),
}
"""boto3's own numbers (60 s to connect, 60 s to read, 5 attempts; 10 for DynamoDB) outlive every request: the gateway
gives up after 29 s, a recall has 300 ms and the start of a session 500 ms (docs/rules/tenants.md#defaults), and a
thread that waits is one less for the next request.

* Connecting inside a region takes a few milliseconds; 1 s says that no server answers.
* DynamoDB answers in single milliseconds, a transaction of 100 operations in under 100; 2 s is twenty times that.
  Three attempts end after 11 s at worst, so that two calls in a row still fit the gateway's time.
* S3 and SQS answer in tens of milliseconds; 3 s is the same step above.
* A page of a stream may hold 1 MB that has to be read from storage: 5 s.
* Titan answers a text in 100 to 300 ms, a cold one in seconds. Two attempts only: the embed worker makes attempts of
  its own with pauses (``embed_texts``), and a recall has gone on without the vector long before.
* A function answers when its handler does, the workers that the check before a deployment calls at the latest after
  60 s; a second attempt would be a second run. CodeDeploy is told a verdict once a deployment.

``standard`` is the mode that also spends a budget on retries: a service that is down is not asked ever more often."""

_making = Lock()
_sessions: list[Session] = []


class Where(TypedDict, total=False):
    endpoint_url: str | None
    session: Session | None


@overload
def aws_client(service: Literal["dynamodb"], **where: Unpack[Where]) -> DynamoDBClient: ...
@overload
def aws_client(service: Literal["dynamodbstreams"], **where: Unpack[Where]) -> DynamoDBStreamsClient: ...
@overload
def aws_client(service: Literal["s3"], **where: Unpack[Where]) -> S3Client: ...
@overload
def aws_client(service: Literal["sqs"], **where: Unpack[Where]) -> SQSClient: ...
@overload
def aws_client(service: Literal["secretsmanager"], **where: Unpack[Where]) -> SecretsManagerClient: ...
@overload
def aws_client(service: Literal["bedrock-runtime"], **where: Unpack[Where]) -> BedrockRuntimeClient: ...
@overload
def aws_client(service: Literal["codedeploy", "lambda"], **where: Unpack[Where]) -> Any: ...
def aws_client(service: Service, *, endpoint_url: str | None = None, session: Session | None = None) -> Any:
    """Make a client, which any number of threads may use. ``endpoint_url``: a server other than the service's own.
    ``session``: whose credentials and region to use instead of the process's. Raises botocore's errors when there is no
    region."""
    from boto3 import Session
    from botocore.config import Config

    patience = PATIENCE[service]
    config = Config(
        connect_timeout=patience.connect_s,
        read_timeout=patience.read_s,
        retries={"mode": "standard", "total_max_attempts": patience.attempts},
        max_pool_connections=CONNECTIONS,
        tcp_keepalive=True,
        # only this version signs the content type of an upload
        signature_version="s3v4" if service == "s3" else None,
        # a signed address names the global endpoint otherwise, which sends a new bucket's callers elsewhere for hours
        # and those of a newer region for ever: the signature then fits no host
        s3={"addressing_style": "virtual"} if service == "s3" else None,
    )
    with _making:  # making clients, unlike using them, is not safe in threads
        if session is None:
            if not _sessions:
                _sessions.append(Session())
            session = _sessions[0]
        return session.client(service, endpoint_url=endpoint_url, config=config)
