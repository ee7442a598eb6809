"""Local servers under test controls, on the servers of the run where the stack needs some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from local.api_client import ApiClient
from local.running import EmbedderName, RunningServer, StackName, start_server
from tests.http.driving.controls import Controls
from tests.servers import servers_for


@contextmanager
def running_server(
    data: Path,
    stack: StackName,
    *,
    embedder: EmbedderName = "fixture",
    env: Mapping[str, str] | None = None,
    own_servers: bool = False,
) -> Iterator[RunningServer]:
    """Stopped in the end. ``own_servers``: not those of the run; it starts them itself, as for a user."""
    shared = {} if own_servers else servers_for(stack)
    server = start_server(data, embedder=embedder, test_controls=True, stack=stack, env={**shared, **(env or {})})
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def controlled_server(
    data: Path,
    stack: StackName,
    *,
    embedder: EmbedderName = "fixture",
    env: Mapping[str, str] | None = None,
    own_servers: bool = False,
) -> Iterator[tuple[ApiClient, Controls]]:
    """A client and the test controls of such a server on ``data``."""
    with (
        running_server(data, stack, embedder=embedder, env=env, own_servers=own_servers) as server,
        closing(ApiClient(server.base_url, server.key)) as client,
        closing(ApiClient(server.base_url)) as bare,
    ):
        yield client, Controls(bare)
