"""A service with a user who has said something, for the tests over MCP's transports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from local.api_client import ApiClient
from local.running import RunningServer, start_server


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    running = start_server(tmp_path_factory.mktemp("mcp") / "data", test_controls=True)
    with closing(ApiClient(running.base_url, running.key)) as client:
        for user, city in {"ada": "Lisbon", "bob": "Oslo"}.items():
            client.expect(201, "POST", f"/v1/users/{user}/memories", {"text": f"The user lives in {city}."})
    yield running
    running.stop()


@pytest.fixture(scope="session")
def api(service: RunningServer) -> Iterator[ApiClient]:
    with closing(ApiClient(service.base_url, service.key)) as client:
        yield client
