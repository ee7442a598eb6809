"""The one place where a client of OpenSearch is made: how long it may wait, how often it tries, how it signs."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from opensearchpy import OpenSearch, Urllib3AWSV4SignerAuth, Urllib3HttpConnection
from urllib3 import Timeout

CONNECT_S: Final = 1.0
SEARCH_READ_S: Final = 3.0
"""A leg answers in milliseconds, and recall has gone on without it long before; a thread that waits is one less."""
WRITE_READ_S: Final = 20.0
"""A bulk request waits up to a second until what it wrote can be found."""
CONNECTIONS: Final = 32
"""Kept open: as many as ``ThreadTasks`` has threads."""
SERVICE: Final = "es"
_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})

PATIENT: Final = Timeout(connect=CONNECT_S, read=WRITE_READ_S)
"""The timeouts of writes."""


def open_search_client(endpoint: str, *, region: str | None = None, read_s: float = SEARCH_READ_S) -> OpenSearch:
    """Make a client that any number of threads may use; it connects with the first call. A lost or refused connection
    is tried once more, an answer that is late (``read_s``, for searches) or bad is not. https is signed with the
    process's AWS credentials; http is for loopback. ``region`` None is the process's. Raises ValueError for an endpoint
    that is neither, and where no region or credentials are."""
    address = urlsplit(endpoint)
    if address.scheme == "https":
        signer = _signer(region)
    elif address.scheme == "http" and address.hostname in _LOOPBACK:
        signer = None
    else:
        raise ValueError(f"{endpoint}: https, or http on loopback")
    return OpenSearch(
        hosts=[endpoint],
        connection_class=Urllib3HttpConnection,
        http_auth=signer,
        timeout=Timeout(connect=CONNECT_S, read=read_s),
        pool_maxsize=CONNECTIONS,
        http_compress=False,
        max_retries=1,
        retry_on_status=(),
        retry_on_timeout=False,
    )


def _signer(region: str | None) -> Any:
    """Make the signer. Botocore is imported with the first signed client, never with this module."""
    from botocore.session import get_session

    session = get_session()
    region = region or session.get_config_variable("region")
    credentials = session.get_credentials()
    if region is None or credentials is None:
        raise ValueError("no AWS region or no AWS credentials to sign requests to OpenSearch with")
    return Urllib3AWSV4SignerAuth(credentials, region, SERVICE)
