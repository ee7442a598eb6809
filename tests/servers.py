"""Real servers for the tests: each is started when the first test asks for it, shared by all of them, and stopped with
the test process. What they keep is in a temporary folder.

A test that asks where they cannot run is skipped, and the summary says loudly how many were. With
NEVE_REQUIRE_SERVERS=1 or CI=true it fails instead.

One by one and not all at once: most runs ask for one server or two, and each is up in 1-4 s."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

import pytest

from local.stack.jars import CannotFetch, Server, available, fetched_jars
from local.stack.servers import DidNotStart, start_servers

NO_SERVERS = "real servers cannot run here: "
"""How the reason of every such skip begins."""


def dynamodb_url() -> str:
    """The base URL of DynamoDB Local. Call it inside a test or a fixture; so for the others."""
    return _url(Server.DYNAMODB)


def opensearch_url() -> str:
    """The base URL of OpenSearch 2.19 with k-NN."""
    return _url(Server.OPENSEARCH)


def sqs_url() -> str:
    """The base URL of ElasticMQ."""
    return _url(Server.SQS)


def s3_url() -> str:
    """The base URL of S3Proxy."""
    return _url(Server.S3)


def need_servers() -> None:
    """Skips the test that calls it where servers cannot run, or fails it where they must. Fetches them first where
    that was never done."""
    reason = available() or _fetching_failed()
    if reason is None:
        return
    if os.environ.get("NEVE_REQUIRE_SERVERS") == "1" or os.environ.get("CI") == "true":
        pytest.fail(f"{NO_SERVERS}{reason}", pytrace=False)
    pytest.skip(f"{NO_SERVERS}{reason}")


def _url(server: Server) -> str:
    need_servers()
    return _started(server)


def _started(server: Server) -> str:
    outcome = _outcome(server)
    if isinstance(outcome, DidNotStart):
        raise outcome
    return outcome


@cache
def _outcome(server: Server) -> str | DidNotStart:
    """Tried once a process: a server that hangs at its start does not make every test wait for it."""
    try:
        running = start_servers([server], _folder())
    except DidNotStart as failure:
        return failure
    atexit.register(running.stop)
    return running.urls[server]


@cache
def _folder() -> Path:
    """Registered before any server's stop, so removed after all of them."""
    folder = Path(tempfile.mkdtemp(prefix="neve-servers-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def _fetching_failed() -> str | None:
    """Tried once a process: a machine without a network does not wait again for every test."""
    try:
        fetched_jars()
    except CannotFetch as failure:
        return str(failure)
    return None
