"""A service whose prompts are long enough to be cached, with a proxy in front that counts what it is asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from local.api_client import ApiClient
from local.running import start_server
from tests.loopback.server import Loopback
from tests.sdk import proxy

PREFIX = {"identity": "You are the assistant of a bakery. " * 200, "version": "1.0.0"}
"""Above the 1,024 tokens from which the model caches."""


@pytest.fixture(scope="session")
def bakery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Where the service is, for a program in Node."""
    running = start_server(tmp_path_factory.mktemp("adapters") / "data", test_controls=True)
    with closing(ApiClient(running.base_url, running.key)) as client:
        client.expect(200, "PUT", "/v1/policy", {"static_prefix": PREFIX, "chat_model": "claude-sonnet-5"})
    with proxy.running(running.base_url) as counting:
        yield {"NEVE_URL": running.base_url, "NEVE_KEY": running.key, "NEVE_PROXY": counting.url}
    running.stop()


@pytest.fixture
def places(bakery: dict[str, str], model: Loopback) -> dict[str, str]:
    """The service, the proxy and the model."""
    return bakery | {"NEVE_MODEL": model.url}
