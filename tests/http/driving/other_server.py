"""Local servers under test controls, on the servers of the run where the stack needs some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal

from local.api_client import ApiClient
from local.running import EmbedderName, RunningServer, SearchName, StackName, start_server
from tests.forked_servers import ForkedServer, forked_servers
from tests.http.driving.controls import Controls
from tests.servers import servers_for

Stores = Literal["embedded", "segments", "full"]
"""What a server under test keeps its data in; segments: as embedded, with passages as on a stage without a search
domain."""


@contextmanager
def running_server(
    data: Path,
    stores: Stores,
    *,
    embedder: EmbedderName = "fixture",
    env: Mapping[str, str] | None = None,
    own_servers: bool = False,
) -> Iterator[RunningServer | ForkedServer]:
    """Stopped in the end. ``env``: of a process that has it from its beginning. ``own_servers``: it does not use those
    of the run, but starts some itself, as for a user."""
    stack: StackName = "full" if stores == "full" else "embedded"
    search: SearchName = "segments" if stores == "segments" else "embedded"
    shared = {} if own_servers else servers_for(stack)
    server: RunningServer | ForkedServer
    if env is None:
        server = forked_servers().start(data, stack=stack, embedder=embedder, search=search, env=shared)
    else:
        everything = {**shared, **env}
        server = start_server(data, embedder=embedder, test_controls=True, stack=stack, search=search, env=everything)
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def controlled_server(
    data: Path,
    stores: Stores,
    *,
    embedder: EmbedderName = "fixture",
    env: Mapping[str, str] | None = None,
    own_servers: bool = False,
) -> Iterator[tuple[ApiClient, Controls]]:
    """A client and the test controls of such a server on ``data``."""
    with (
        running_server(data, stores, embedder=embedder, env=env, own_servers=own_servers) as server,
        closing(ApiClient(server.base_url, server.key)) as client,
        closing(ApiClient(server.base_url)) as bare,
    ):
        yield client, Controls(bare)
