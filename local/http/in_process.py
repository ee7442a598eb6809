"""Calls of the API by the MCP server in this process: through the gateway with its authorizer, past the network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any

from local.http.gateway import Gateway
from local.http.message import Request
from neve_mcp.calls import Answered

AT_ONCE = 40
"""Calls beside each other (*chosen*): each waits for stores in a thread of its own."""


class InProcess:
    """The port ``Call`` of neve_mcp."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._threads = ThreadPoolExecutor(AT_ONCE, "mcp-call")

    async def __call__(self, method: str, path: str, body: Mapping[str, Any] | None, token: str) -> Answered:
        path, _, query = path.partition("?")
        content = b"" if body is None else json.dumps(body).encode()
        request = Request(method, path, query, [("authorization", f"Bearer {token}")], content)
        handle = partial(copy_context().run, self._gateway.handle, request)
        response = await asyncio.get_running_loop().run_in_executor(self._threads, handle)
        return Answered(response.status, {name.lower(): value for name, value in response.headers}, response.body)
