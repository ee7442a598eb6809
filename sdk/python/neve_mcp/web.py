"""The server over streamable HTTP, for a function: an event of API Gateway in, a whole answer out, nothing kept.

The app is entered once, in an event loop of its own thread, because its session manager runs once only; every event is
a call of the app in that loop. Events may come from many threads, as on one machine."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import mcp_types as t
from mcp.server.transport_security import TransportSecuritySettings

from neve_mcp.calls import Answered, Call
from neve_mcp.memory import UNAUTHORIZED, Memory
from neve_mcp.network import HttpCalls, http_client
from neve_mcp.server import Context, server_of
from neve_mcp.tokens import EXPIRED, INVALID, Refused, memory_of

Event = Mapping[str, Any]
MEMORY = "neve.memory"
"""The entry of a request's scope that has the memory which it is about."""
ANY_HOST = TransportSecuritySettings(enable_dns_rebinding_protection=False)
"""The gateway has looked at the host, and ``_foreign`` looks at the origin."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
JSON = "application/json"


class Web:
    """``call``: how the API is called for an event; None: over the network, at the address that was called itself."""

    def __init__(self, call: Call | None = None) -> None:
        logging.getLogger("mcp").setLevel(logging.WARNING)
        self._call = call
        self._client = http_client()
        self._app = server_of(_memory_of).streamable_http_app(
            stateless_http=True, json_response=True, transport_security=ANY_HOST, streamable_http_path="/mcp"
        )
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),), name="mcp", daemon=True).start()
        self._ready.wait()

    async def _serve(self) -> None:
        async with self._app.router.lifespan_context(self._app):
            self._ready.set()
            await asyncio.Event().wait()

    def answer(self, event: Event) -> dict[str, Any]:
        """Answer a proxy integration's event. Raises what the app raises, which is a fault of ours."""
        headers = _headers(event)
        if event["httpMethod"] != "POST":
            return _refusal(
                405, "This server keeps no session and sends nothing by itself: use POST.", {"Allow": "POST"}
            )
        if _foreign(headers.get("origin"), event["requestContext"].get("domainName")):
            return _refusal(403, "The header Origin names another site.")
        call = _Watched(self._calls(event))
        try:
            memory = memory_of(headers.get("authorization"), call, _session_id(event))
        except Refused as refused:
            return _refusal(refused.status, str(refused), refused.headers)
        scope = _scope(event, headers) | {MEMORY: memory}
        answer = asyncio.run_coroutine_threadsafe(self._asked(scope, _body(event)), self._loop).result()
        return _refusal(401, EXPIRED, INVALID) if call.unauthorized else answer

    def _calls(self, event: Event) -> Call:
        if self._call is not None:
            return self._call
        asked = event["requestContext"]
        return HttpCalls(f"https://{asked['domainName']}{asked['path'].removesuffix(event['resource'])}", self._client)

    async def _asked(self, scope: dict[str, Any], body: bytes) -> dict[str, Any]:
        sent: list[Any] = []
        received = False

        async def receive() -> dict[str, Any]:
            nonlocal received
            if received:  # nobody goes away: the gateway waits for the whole answer
                await asyncio.Event().wait()
            received = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        start = next(message for message in sent if message["type"] == "http.response.start")
        content = b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body")
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in start.get("headers", ())}
        headers.pop("content-length", None)  # the gateway's
        return _proxy(start["status"], headers, content.decode("utf-8"))


class _Watched:
    """The calls of one request. ``unauthorized``: the API has refused the token, which a client hears as a status."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self.unauthorized = False

    async def __call__(self, method: str, path: str, body: Mapping[str, Any] | None, token: str) -> Answered:
        answer = await self._call(method, path, body, token)
        self.unauthorized |= answer.status == UNAUTHORIZED
        return answer


def _memory_of(ctx: Context) -> Memory:
    request: Any = ctx.request
    memory: Memory = request.scope[MEMORY]
    return memory


def _headers(event: Event) -> dict[str, str]:
    """By their names in lower case."""
    return {name.lower(): value for name, value in (event.get("headers") or {}).items()}


def _scope(event: Event, headers: Mapping[str, str]) -> dict[str, Any]:
    many = event.get("multiValueHeaders") or {name: [value] for name, value in headers.items()}
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "https",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "query_string": b"",
        "root_path": "",
        "headers": [
            (name.lower().encode("latin-1"), value.strip().encode("latin-1"))
            for name, values in many.items()
            for value in values
        ],
        "client": None,
        "server": None,
    }


def _body(event: Event) -> bytes:
    body = event.get("body") or ""
    return base64.b64decode(body) if event.get("isBase64Encoded") else body.encode()


def _session_id(event: Event) -> str | None:
    return (event.get("queryStringParameters") or {}).get("session_id")


def _foreign(origin: str | None, own: str | None) -> bool:
    """Say whether a page of another site asks, as MCP wants it looked at; a page of this machine may."""
    return bool(origin) and urlsplit(str(origin)).hostname not in (own, *LOOPBACK)


def _refusal(status: int, message: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Write what a client of the protocol shows: an error that belongs to no request."""
    error = {"code": t.INVALID_REQUEST, "message": message}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error})
    return _proxy(status, {"content-type": JSON} | dict(headers or {}), body)


def _proxy(status: int, headers: Mapping[str, str], body: str) -> dict[str, Any]:
    fields = {"Cache-Control": "no-store"} | dict(headers)
    return {"statusCode": status, "headers": fields, "body": body, "isBase64Encoded": False}
