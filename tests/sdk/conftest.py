"""One service for the tests of the SDKs, and a proxy in front of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from local.api_client import ApiClient
from local.running import RunningServer, start_server
from tests.loopback import server as loopback
from tests.sdk import proxy


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """With the test controls, whose clock lets no time budget end because the machine is busy."""
    running = start_server(tmp_path_factory.mktemp("sdk") / "data", test_controls=True)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def proxied(service: RunningServer) -> Iterator[proxy.Proxy]:
    with proxy.running(service.base_url) as running:
        yield running


@pytest.fixture
def faulty(proxied: proxy.Proxy) -> proxy.Proxy:
    """Without faults at first."""
    proxied.heal()
    return proxied


@pytest.fixture(scope="session")
def api(service: RunningServer) -> Iterator[ApiClient]:
    with closing(ApiClient(service.base_url, service.key)) as client:
        yield client


@pytest.fixture
def model() -> Iterator[loopback.Loopback]:
    with loopback.running() as running:
        yield running
