"""The official client of the protocol over the function's events, without a network; an API that answers by rule."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from neve_mcp.calls import Answered
from neve_mcp.web import Web

ERAS = ("legacy", "2026-07-28")
"""With a handshake, as 2025-11-25 and older have it, and without one."""
OFFERED = "/v1/tools"
Answer = Callable[[str, str, Mapping[str, Any] | None, str], Answered]


def token_of(user: str, **claims: object) -> str:
    """Make a token whose claims nobody has signed."""
    parts = [json.dumps(part).encode() for part in ({"alg": "HS256"}, {"sub": user, **claims})]
    return ".".join([*(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts), "signature"])


def answered(status: int = 200, headers: Mapping[str, str] | None = None, **body: Any) -> Answered:
    return Answered(status, dict(headers or {}), json.dumps(body).encode())


class Api:
    """``asked``: the calls that were made, in order, but for what tools are offered. ``answer``: by method,
    path, body and token."""

    def __init__(self, answer: Answer) -> None:
        self.asked: list[tuple[str, str, Mapping[str, Any] | None, str]] = []
        self.answer = answer

    async def __call__(self, method: str, path: str, body: Mapping[str, Any] | None, token: str) -> Answered:
        if path != OFFERED:
            self.asked.append((method, path, body, token))
        await asyncio.sleep(0)  # others go on meanwhile
        return self.answer(method, path, body, token)


def event_of(
    method: str, headers: Mapping[str, str], body: bytes = b"", query: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Make the event that API Gateway sends for a request."""
    return {
        "httpMethod": method,
        "resource": "/mcp",
        "path": "/mcp",
        "headers": dict(headers),
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": dict(query or {}) or None,
        "body": base64.b64encode(body).decode() if body else None,
        "isBase64Encoded": bool(body),
        "requestContext": {"domainName": "neve.example", "path": "/prod/mcp"},
    }


class Events(httpx2.AsyncBaseTransport):
    """Takes the client's requests to the function."""

    def __init__(self, web: Web) -> None:
        self._web = web

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        event = event_of(request.method, dict(request.headers), await request.aread(), dict(request.url.params))
        answer = await asyncio.to_thread(self._web.answer, event)
        return httpx2.Response(answer["statusCode"], headers=answer["headers"], content=answer["body"].encode())


@asynccontextmanager
async def connected(web: Web, token: str, era: str, query: str = "") -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(transport=Events(web), headers={"Authorization": f"Bearer {token}"}) as http,
        Client(streamable_http_client(f"https://neve.example/mcp{query}", http_client=http), mode=era) as client,
    ):
        yield client
