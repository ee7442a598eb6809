"""How clients of servers on this machine differ from those of AWS: any credentials will do, and an answer may take
long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boto3 import Session
    from botocore.config import Config

REGION = "us-east-1"
NOBODY = "test"
OWNED = ("dynamodb", "dynamodbstreams")
READ_S = 60.0
"""Seconds between two bytes of an answer. Servers that share two cores with everything else may take far longer than
AWS; what hangs still ends."""


def local_session(whose: str = NOBODY) -> Session:
    """Talks to nobody but local servers: its credentials are none. ``whose``: on servers for many (``start_servers``)
    a table belongs to whoever made it; letters and digits."""
    import boto3
    from botocore.config import Config

    session = boto3.Session(aws_access_key_id=NOBODY, aws_secret_access_key=NOBODY, region_name=REGION)
    make = session.client

    def client(service: Any, *, endpoint_url: str | None, config: Config) -> Any:
        patient = config.merge(Config(read_timeout=READ_S))
        key = whose if service in OWNED else NOBODY
        given: Any = {"aws_access_key_id": key, "aws_secret_access_key": NOBODY}
        return make(service, endpoint_url=endpoint_url, config=patient, **given)

    session.client = client  # type: ignore[method-assign,assignment]
    return session
