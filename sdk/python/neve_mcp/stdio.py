"""The server on standard input and output, for one user whom its start names."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio
from mcp.server.stdio import stdio_server

from neve_mcp.memory import Memory
from neve_mcp.network import HttpCalls, http_client
from neve_mcp.server import server_of


@dataclass(frozen=True, slots=True)
class Served:
    """``token``: of the user, or an API key of the tenant, with which the user is named here."""

    base_url: str
    token: str = field(repr=False)
    user: str
    session_id: str | None = None


def serve(served: Served) -> None:
    """Answer until standard input ends."""
    anyio.run(_serve, served)


async def _serve(served: Served) -> None:
    async with http_client() as client, stdio_server() as (incoming, outgoing):
        calls = HttpCalls(served.base_url.rstrip("/"), client)
        memory = Memory(calls, served.token, served.user, served.session_id)
        server = server_of(lambda _: memory)
        await server.run(incoming, outgoing, server.create_initialization_options())
