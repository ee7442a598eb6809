"""The local server's side of HTTP/1.1 on 127.0.0.1: uvicorn with h11 reads requests and writes answers, in a thread of
its own; ``App.handle`` runs in others, one a request.

A request reaches the app whole. A body over ``MAX_BODY`` is answered by ``App.refuse``; what is no well-formed HTTP is
refused here, in problem+json like everything else."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextvars import Context
from functools import partial
from typing import TYPE_CHECKING, Protocol

import h11
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from local.http.message import Headers, Request, Response, problem_response

if TYPE_CHECKING:
    from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, HTTPScope, Scope

HOST = "127.0.0.1"
MAX_BODY = 10 * 1024 * 1024
"""API Gateway's own limit."""
MAX_HEAD = 64 * 1024
"""Request line and headers together; API Gateway takes 10 KB of headers."""
IDLE_S = 75
"""An idle connection is closed after this long; AWS closes after 60 to 350 s, depending on the front."""
MAX_DISCARDED = 64 * 1024 * 1024
"""How much of an oversized body is read away, so that the client gets to see the answer instead of a reset."""
DISCARD_S = 2.0
THREADS = 256
"""Requests at work beside each other, most of them polling for a job (``wait``); the others queue. A thread is made
when no idle one is left."""
BACKLOG = 128
CLOSE = (b"connection", b"close")
MALFORMED = "The request line, a header or the framing of the body is not HTTP/1.1."
AMBIGUOUS = "A body has a Content-Length or a Transfer-Encoding, not both."


class App(Protocol):
    def handle(self, request: Request) -> Response: ...

    def refuse(self, kind: str) -> Response:
        """The answer for a gateway response type, here always ``REQUEST_TOO_LARGE``."""


class HttpServer:
    """Listens from the start and answers from ``start`` on. ``port`` 0 picks a free one; the real one is ``.port``.
    Raises OSError when the port is taken."""

    def __init__(self, port: int) -> None:
        self._listening = _listening_socket(port)
        self.port: int = self._listening.getsockname()[1]
        self.stopping = False
        self._server: Server | None = None
        self._thread: threading.Thread | None = None
        self._pool = ThreadPoolExecutor(THREADS, "http")

    def start(self, app: App) -> None:
        logging.getLogger("uvicorn").setLevel(logging.ERROR)  # the functions write the access log
        config = Config(
            _Asgi(app, self._pool, lambda: self.stopping),
            http=_Connection,
            loop="asyncio",
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            backlog=BACKLOG,
            timeout_keep_alive=IDLE_S,
            h11_max_incomplete_event_size=MAX_HEAD,
        )
        self._server = Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._listening]}, name="http", daemon=True
        )
        self._thread.start()

    def stop(self, patience_s: int = 10) -> bool:
        """Accept nothing more, let the requests in flight finish, then close every connection. False when some did not
        finish within ``patience_s``."""
        self.stopping = True
        if self._server is None or self._thread is None:
            self._listening.close()
            return True
        self._server.config.timeout_graceful_shutdown = patience_s
        self._server.should_exit = True
        self._thread.join(patience_s + 5)
        self._pool.shutdown(wait=False, cancel_futures=True)
        return not self._thread.is_alive() and not _in_flight(self._server)


def _listening_socket(port: int) -> socket.socket:
    """With its protocol named: asyncio switches Nagle's algorithm off for sockets that say they are TCP, and head and
    body of an answer are two sends, between which it would wait for 40 ms."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def _in_flight(server: Server) -> bool:
    return any(not task.done() for task in server.server_state.tasks)


class _Gone(Exception):
    """The client went away before the end of its body, or that end was refused."""


class _Asgi:
    """The ASGI application: one whole request in, one whole answer out."""

    def __init__(self, app: App, pool: Executor, stopping: Callable[[], bool]) -> None:
        self._app = app
        self._pool = pool
        self._stopping = stopping

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] != "http":
            raise NotImplementedError(scope["type"])
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        if {"content-length", "transfer-encoding"} <= {name for name, _ in headers}:
            await _write(send, problem_response("malformed_http", AMBIGUOUS), close=True)
            return
        try:
            body = None if _declares_too_much(headers) else await _read(receive)
        except _Gone:
            return
        if body is None:
            await _write(send, self._app.refuse("REQUEST_TOO_LARGE"), close=True, more=True)
            await _discard(receive)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        request = Request(scope["method"], _path(scope), scope["query_string"].decode("latin-1"), headers, bytes(body))
        # a context of its own: the threads are used again
        work = partial(Context().run, self._app.handle, request)
        response = await asyncio.get_running_loop().run_in_executor(self._pool, work)
        await _write(send, response, close=self._stopping())


def _declares_too_much(headers: Headers) -> bool:
    """Known before anything of the body is sent, if the client waits for ``100 Continue``."""
    return any(name == "content-length" and int(value) > MAX_BODY for name, value in headers)


async def _read(receive: ASGIReceiveCallable) -> bytearray | None:
    """None for a body over ``MAX_BODY``. Raises _Gone."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise _Gone
        body += message.get("body", b"")
        if len(body) > MAX_BODY:
            return None
        if not message.get("more_body", False):
            return body


async def _discard(receive: ASGIReceiveCallable) -> None:
    """Read what the client is still sending, for a while, and only then let the connection be closed."""
    left = MAX_DISCARDED
    try:
        async with asyncio.timeout(DISCARD_S):
            while left > 0:
                message = await receive()
                if message["type"] != "http.request" or not message.get("more_body", False):
                    return
                left -= len(message.get("body", b""))
    except TimeoutError:
        return


def _path(scope: HTTPScope) -> str:
    """As sent, also when the client sent an absolute URL, without any fragment."""
    target = scope["raw_path"].decode("ascii")
    if target.startswith(("http://", "https://")):
        target = "/" + target.split("://", 1)[1].partition("/")[2]
    return target.partition("#")[0]


async def _write(send: ASGISendCallable, response: Response, *, close: bool, more: bool = False) -> None:
    headers = _fields(response) + ([CLOSE] if close else [])
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body, "more_body": more})


def _fields(response: Response) -> list[tuple[bytes, bytes]]:
    """A header value cannot start a new header."""
    fields = [
        (name.encode("latin-1"), value.replace("\r", " ").replace("\n", " ").encode("latin-1", "replace"))
        for name, value in response.headers
    ]
    if response.status not in (204, 304):
        fields.append((b"content-length", str(len(response.body)).encode()))
    return fields


class _Connection(H11Protocol):
    """What h11 cannot read is refused by the one table of problems as well, and the connection is closed."""

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  (uvicorn's own words)
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            refusal = problem_response("malformed_http", MALFORMED)
            for event in (
                h11.Response(status_code=refusal.status, headers=[*_fields(refusal), CLOSE]),
                h11.Data(data=refusal.body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
