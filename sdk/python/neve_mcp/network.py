"""Calls of the API over the network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx2

from neve_mcp.calls import Answered, Unreachable

TIMEOUT_S = 25.0
"""Below the 28 s of the function and the 29 s of the gateway (template.yaml)."""
KEPT_S = 20.0
"""An idle connection is closed before whoever is on its other side does so (60 s and more), also behind a frozen
function: the clock goes on while it is frozen."""


class HttpCalls:
    """Calls a service at ``base_url``, which has no slash at its end. ``client``: used within one event loop."""

    def __init__(self, base_url: str, client: httpx2.AsyncClient) -> None:
        self._base_url = base_url
        self._client = client

    async def __call__(self, method: str, path: str, body: Mapping[str, Any] | None, token: str) -> Answered:
        url, headers = f"{self._base_url}{path}", {"Authorization": f"Bearer {token}"}
        try:
            answer = await self._client.request(method, url, json=body, headers=headers)
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            raise Unreachable(f"Nobody answers at {self._base_url}: {type(error).__name__}.") from None
        return Answered(
            answer.status_code, {name.lower(): value for name, value in answer.headers.items()}, answer.content
        )


def http_client() -> httpx2.AsyncClient:
    """Make a client that follows no redirect, with which the token would go along."""
    limits = httpx2.Limits(max_connections=40, max_keepalive_connections=20, keepalive_expiry=KEPT_S)
    return httpx2.AsyncClient(timeout=TIMEOUT_S, limits=limits, follow_redirects=False)
