"""Real servers for the tests: one set a run, whatever the number of processes that run tests.

Each server is started when the first test asks for it, and stopped at the end of the run by the process that started
it: the one that hands out the tests, which the others ask over ``tests.server_keeper``. Tests keep apart by the names
of their tables, indexes, queues and buckets. What the servers keep is in a temporary folder (``tests.in_memory``).

A test that asks where they cannot run is skipped, and the summary says loudly how many were. With
NEVE_REQUIRE_SERVERS=1 or CI=true it fails instead."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache

import pytest

from local.running import StackName
from local.stack.jars import CannotFetch, Server, available, fetched_jars
from local.stack.shared import VARIABLE
from tests.server_keeper import keeper

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


def servers_for(stack: StackName) -> Mapping[str, str]:
    """The environment in which a service of this stack, in a process of its own, works on the servers of the run."""
    if stack == "embedded":
        return {}
    need_servers()
    return {VARIABLE: str(keeper().file_of_all())}


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
    return keeper().url(server)


@cache
def _fetching_failed() -> str | None:
    """Tried once a process: a machine without a network does not wait again for every test."""
    try:
        fetched_jars()
    except CannotFetch as failure:
        return str(failure)
    return None
