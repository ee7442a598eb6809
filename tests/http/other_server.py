"""Servers beside the one of the test session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from local.api_client import ApiClient
from local.running import EmbedderName, StackName, start_server
from tests.http.controls import Controls


@contextmanager
def controlled_server(
    data: Path, stack: StackName, *, embedder: EmbedderName = "fixture", env: Mapping[str, str] | None = None
) -> Iterator[tuple[ApiClient, Controls]]:
    """A client and the test controls of a server on ``data``, which is stopped in the end."""
    server = start_server(data, embedder=embedder, test_controls=True, stack=stack, env=env)
    try:
        with closing(ApiClient(server.base_url, server.key)) as client, closing(ApiClient(server.base_url)) as bare:
            yield client, Controls(bare)
    finally:
        server.stop()
