"""How clients of servers on this machine differ from those of AWS: any credentials will do, an answer may take long,
and what nobody here reads is not worked out for every call: botocore's description of itself, and a signature."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boto3 import Session
    from botocore.config import Config
    from botocore.loaders import Loader

REGION = "us-east-1"
NOBODY = "test"
UNSIGNED_HERE = ("dynamodb", "dynamodbstreams", "sqs")
"""A third of the processor time of a call is for the two. S3Proxy checks its signatures."""
USER_AGENT = "neve-local"
NO_SIGNATURE = "SignedHeaders=host, Signature=0"
"""DynamoDB Local reads no more than whose a request is."""
READ_S = 60.0
"""Seconds between two bytes of an answer. Servers that share two cores with everything else may take far longer than
AWS; what hangs still ends."""


def local_session(whose: str = NOBODY, *, short_way: bool = False) -> Session:
    """Talks to nobody but local servers: its credentials are none. ``whose``: on servers for many (``start_servers``)
    a table belongs to whoever made it; letters and digits. ``short_way``: see there."""
    import boto3
    from botocore import UNSIGNED
    from botocore.config import Config
    from botocore.session import get_session

    from local.aws.short_way import ShortWay

    core = get_session()
    core.register_component("data_loader", service_descriptions())
    session = boto3.Session(NOBODY, NOBODY, region_name=REGION, botocore_session=core)
    make = session.client

    def client(service: Any, *, endpoint_url: str | None, config: Config) -> Any:
        config = config.merge(Config(read_timeout=READ_S, user_agent=USER_AGENT))
        if service in UNSIGNED_HERE:
            config = config.merge(Config(signature_version=UNSIGNED))
        return make(service, endpoint_url=endpoint_url, config=config)

    def say_whose(request: Any, **_: Any) -> None:
        request.headers["Authorization"] = signed_by

    signed_by = f"AWS4-HMAC-SHA256 Credential={whose}/20260101/{REGION}/dynamodb/aws4_request, {NO_SIGNATURE}"
    for service in ("dynamodb", "dynamodb-streams"):
        session.events.register(f"before-sign.{service}", say_whose)
    if short_way:
        ShortWay({"Authorization": signed_by}, READ_S).take(session)
    session.client = client  # type: ignore[method-assign,assignment]
    return session


@cache
def service_descriptions() -> Loader:
    """What botocore has read of services, once a process: a session of its own would read a megabyte of JSON again for
    its first client of each, which takes four fifths of the time that a client takes."""
    from botocore.loaders import create_loader

    return create_loader()
