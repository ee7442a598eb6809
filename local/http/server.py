"""The local server's side of HTTP/1.1 on 127.0.0.1: uvicorn's connections, in which h11 reads and writes, behind a
socket of our own.

Every connection has a thread, and in it an event loop for itself; ``App.handle`` runs in that thread too. One loop for
all, with threads for the work behind it, costs two more hand-overs of the interpreter lock a call: 0.3 ms on an idle
machine, 1 ms of 5 while workers are busy (an append).

A request reaches the app whole. A body over ``MAX_BODY`` is answered by ``App.refuse``; what is no well-formed HTTP is
refused here, in problem+json like everything else."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from email.utils import formatdate
from functools import partial
from typing import TYPE_CHECKING, Protocol

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from local.http.message import Headers, Request, Response, problem_response
from local.limits.payloads import MAX_HEAD, head_bytes

if TYPE_CHECKING:
    from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, HTTPScope, Scope

HOST = "127.0.0.1"
MAX_BODY = 10 * 1024 * 1024
"""API Gateway's own limit."""
MAX_HEAD_READ = 64 * 1024
"""Of request line and headers, with their names: a head that is larger than it may be (``local/limits/payloads.py``) is
read up to here, so that it is told so."""
IDLE_S = 75
"""An idle connection is closed after this long; AWS closes after 60 to 350 s, depending on the front."""
REQUEST_S = 30.0
"""From the first byte of a request to its last (*chosen*): one that is never finished would hold its thread."""
MAX_DISCARDED = 64 * 1024 * 1024
"""How much of an oversized body is read away, so that the client gets to see the answer instead of a reset."""
DISCARD_S = 2.0
BACKLOG = 128
During = Callable[[], AbstractContextManager[None]]
ACCEPT_S = 0.5
"""How often it is looked whether the server is to stop."""
CLOSE = (b"connection", b"close")
MALFORMED = "The request line, a header or the framing of the body is not HTTP/1.1."
UNFINISHED = "The request had not arrived as a whole after {seconds:g} s."
HEAD_TOO_LARGE = "The request line and the values of the headers have {size} bytes; {most} are accepted."
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
        self._lock = threading.Lock()
        self._open: dict[_Connection, threading.Thread] = {}

    def start(self, app: App, during: During = nullcontext) -> None:
        """``during``: entered when a request has arrived, left when its answer is written."""
        logging.getLogger("uvicorn").setLevel(logging.ERROR)  # the functions write the access log
        config = Config(
            _Asgi(app, during, lambda: self.stopping),
            http=_Connection,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            timeout_keep_alive=IDLE_S,
            h11_max_incomplete_event_size=MAX_HEAD_READ,
        )
        config.load()
        threading.Thread(target=self._accept, args=(config,), name="http", daemon=True).start()

    def stop(self, patience_s: float = 10.0) -> bool:
        """Accept nothing more, let the requests in flight finish, then close every connection. False when some did not
        finish within ``patience_s``."""
        self.stopping = True
        self._listening.close()
        end = time.monotonic() + patience_s
        with self._lock:
            waiting = dict(self._open)
        for connection in waiting:
            connection.close_when_done()
        for thread in waiting.values():
            thread.join(max(0.0, end - time.monotonic()))
        return not any(thread.is_alive() for thread in waiting.values())

    def _accept(self, config: Config) -> None:
        while not self.stopping:
            try:
                accepted, _ = self._listening.accept()
            except TimeoutError:
                continue
            except OSError:  # closed by a stop; or no descriptor is free, which passes
                time.sleep(0.0 if self.stopping else ACCEPT_S)
                continue
            serving = threading.Thread(target=self._serve, args=(config, accepted), name="connection", daemon=True)
            try:
                serving.start()
            except RuntimeError:  # no thread is free, which passes too
                accepted.close()
                time.sleep(ACCEPT_S)

    def _serve(self, config: Config, accepted: socket.socket) -> None:
        """One connection from its beginning to its end, in a thread of its own."""

        async def serve() -> None:
            connection = _Connection(config, ServerState(), {})
            with self._lock:
                self._open[connection] = threading.current_thread()
            try:
                await asyncio.get_running_loop().connect_accepted_socket(lambda: connection, accepted)
                if self.stopping:
                    connection.finish()
                await connection.ended.wait()
            finally:
                with self._lock:
                    del self._open[connection]

        with suppress(OSError):  # the client was gone before it was looked at
            asyncio.run(serve())


def _listening_socket(port: int) -> socket.socket:
    """With its protocol named: asyncio switches Nagle's algorithm off for sockets that say they are TCP, and head and
    body of an answer are two sends, between which it would wait for 40 ms."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(BACKLOG)
        listening.settimeout(ACCEPT_S)
    except OSError:
        listening.close()
        raise
    return listening


class _Gone(Exception):
    """The client went away before the end of its body, or that end was refused."""


class _Asgi:
    """The ASGI application: one whole request in, one whole answer out."""

    def __init__(self, app: App, during: During, stopping: Callable[[], bool]) -> None:
        self._app = app
        self._during = during
        self._stopping = stopping

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] != "http":
            raise NotImplementedError(scope["type"])
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        if {"content-length", "transfer-encoding"} <= {name for name, _ in headers}:
            await _write(send, problem_response("malformed_http", AMBIGUOUS), close=True)
            return
        size = head_bytes(scope["method"], _target(scope), (value for _, value in headers))
        if size > MAX_HEAD:
            detail = HEAD_TOO_LARGE.format(size=size, most=MAX_HEAD)
            await _write(send, problem_response("head_too_large", detail), close=True)
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
        with self._during():
            response = self._app.handle(request)
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


def _target(scope: HTTPScope) -> str:
    query = scope["query_string"].decode("latin-1")
    return scope["raw_path"].decode("latin-1") + (f"?{query}" if query else "")


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
    """With the time. A header value cannot start a new header."""
    fields = [(b"date", formatdate(usegmt=True).encode())]
    fields += [
        (name.encode("latin-1"), value.replace("\r", " ").replace("\n", " ").encode("latin-1", "replace"))
        for name, value in response.headers
    ]
    if response.status not in (204, 304):
        fields.append((b"content-length", str(len(response.body)).encode()))
    return fields


class _Connection(H11Protocol):
    """Ends after ``IDLE_S`` without a request, also without a first one, and ``REQUEST_S`` into one that is not
    finished. What h11 cannot read is refused by the one table of problems as well, and the connection is closed."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.ended = asyncio.Event()
        self.unfinished: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(IDLE_S, self.timeout_keep_alive_handler)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._finished()
        self.ended.set()

    def handle_events(self) -> None:
        super().handle_events()
        if self.transport.is_closing() or not self._is_unfinished():
            self._finished()
        elif self.unfinished is None:
            refuse = partial(self._refuse, UNFINISHED.format(seconds=REQUEST_S))
            self.unfinished = self.loop.call_later(REQUEST_S, refuse)

    def _is_unfinished(self) -> bool:
        """Whether a part of a request is there, of its head or of its body."""
        part_of_a_head = self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]
        return bool(part_of_a_head) or self.conn.their_state is h11.SEND_BODY

    def _finished(self) -> None:
        if self.unfinished is not None:
            self.unfinished.cancel()
            self.unfinished = None

    def close_when_done(self) -> None:
        """From any thread: at once, or behind the answer that is being made."""
        with suppress(RuntimeError):  # its loop has ended
            self.loop.call_soon_threadsafe(self.finish)

    def finish(self) -> None:
        """Also before there is a connection, and when it is closing already."""
        if self.transport is not None and not self.transport.is_closing():
            self.shutdown()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  (uvicorn's own words)
        self._refuse(MALFORMED)

    def _refuse(self, detail: str) -> None:
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            refusal = problem_response("malformed_http", detail)
            for event in (
                h11.Response(status_code=refusal.status, headers=[*_fields(refusal), CLOSE]),
                h11.Data(data=refusal.body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
