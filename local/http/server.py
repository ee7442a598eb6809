"""A small HTTP/1.1 server for 127.0.0.1: keep-alive, one thread a connection, header and body in one send.

It reads a whole request, hands it to ``App.handle`` and writes the answer. What it cannot read it refuses by itself, in
problem+json like everything else; a body over ``MAX_BODY`` is answered by the app (``App.refuse``)."""

from __future__ import annotations

import io
import json
import socket
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.utils import formatdate
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer, ThreadingMixIn
from typing import Protocol

from local.http.message import Request, Response

HOST = "127.0.0.1"
MAX_BODY = 10 * 1024 * 1024
"""API Gateway's own limit."""
IDLE_S = 75.0
"""An idle connection is closed after this long; AWS closes after 60 to 350 s, depending on the front."""
MAX_DISCARDED = 64 * 1024 * 1024
"""How much of an oversized body is read away, so that the client gets to see the answer instead of a reset."""
CHUNK_LINE = 256


class App(Protocol):
    def handle(self, request: Request) -> Response: ...

    def refuse(self, kind: str) -> Response:
        """The answer for a gateway response type, here always ``REQUEST_TOO_LARGE``."""


class TooLarge(Exception):
    """The body exceeds MAX_BODY."""


class Unreadable(Exception):
    """The bytes on the connection are not a well-formed request."""


class HttpServer(ThreadingMixIn, TCPServer):
    """Listens from the start and answers from ``start`` on. ``port`` 0 picks a free one; the real one is ``.port``.
    Raises OSError when the port is taken."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    app: App

    def __init__(self, port: int) -> None:
        self._connections: set[socket.socket] = set()
        self._busy = 0
        self._state = threading.Condition()
        self.stopping = False
        super().__init__((HOST, port), _Connection)
        self.port: int = self.server_address[1]

    def start(self, app: App) -> None:
        self.app = app
        threading.Thread(target=self.serve_forever, args=(0.5,), name="http", daemon=True).start()

    def stop(self, patience_s: float = 10.0) -> None:
        """Accept nothing more, let the requests in flight finish, then close every connection."""
        self.stopping = True
        self.shutdown()
        self.server_close()
        with self._state:
            self._state.wait_for(lambda: self._busy == 0, timeout=patience_s)
            for connection in self._connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    @contextmanager
    def in_flight(self) -> Iterator[None]:
        with self._state:
            self._busy += 1
        try:
            yield
        finally:
            with self._state:
                self._busy -= 1
                self._state.notify_all()

    @contextmanager
    def tracked(self, connection: socket.socket) -> Iterator[None]:
        with self._state:
            self._connections.add(connection)
        try:
            yield
        finally:
            with self._state:
                self._connections.discard(connection)


class _Connection(BaseHTTPRequestHandler):
    """The standard library parses the request line and the headers; the rest is done here."""

    server: HttpServer
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    disable_nagle_algorithm = True

    def handle(self) -> None:
        with self.server.tracked(self.connection), suppress(OSError):
            super().handle()

    def handle_one_request(self) -> None:
        try:
            self.raw_requestline = self.rfile.readline(65537)
        except TimeoutError:
            self.close_connection = True
            return
        if not self.raw_requestline:
            self.close_connection = True
            return
        with self.server.in_flight():
            if len(self.raw_requestline) > 65536:
                self.send_error(HTTPStatus.REQUEST_URI_TOO_LONG)
            elif self.parse_request():
                self._serve()

    def _serve(self) -> None:
        try:
            body = self._read_body()
        except Unreadable as error:
            self.send_error(HTTPStatus.BAD_REQUEST, explain=str(error))
            return
        except TooLarge:
            self.close_connection = True
            self._write(self.server.app.refuse("REQUEST_TOO_LARGE"))
            self._discard_rest()
            return
        path, _, query = self._target().partition("?")
        self._write(self.server.app.handle(Request(self.command, path, query, self.headers.items(), body)))

    def _target(self) -> str:
        """The path and the query, also when the client sent an absolute URL, without any fragment."""
        target = self.path
        if target.startswith(("http://", "https://")):
            target = "/" + target.split("://", 1)[1].partition("/")[2]
        return target.partition("#")[0]

    # --- the body -------------------------------------------------------------------------------

    def handle_expect_100(self) -> bool:
        """``100 Continue`` only for a body that will be read."""
        try:
            self._declared_length()
        except (TooLarge, Unreadable):
            return True
        self.connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        return True

    def _declared_length(self) -> int | None:
        """None for a chunked body. Raises Unreadable, TooLarge."""
        lengths, codings = self.headers.get_all("Content-Length", []), self.headers.get_all("Transfer-Encoding", [])
        if codings:
            if lengths or [coding.strip().lower() for coding in codings] != ["chunked"]:
                raise Unreadable("Transfer-Encoding must be 'chunked', and without a Content-Length")
            return None
        if not lengths:
            return 0
        digits = lengths[0].strip()
        if len(set(lengths)) > 1 or not (digits.isascii() and digits.isdigit()):
            raise Unreadable("Content-Length is not one number")
        if len(digits) > 18 or int(digits) > MAX_BODY:
            raise TooLarge
        return int(digits)

    def _read_body(self) -> bytes:
        length = self._declared_length()
        return _read_chunked(self.rfile) if length is None else _read_exactly(self.rfile, length)

    def _discard_rest(self) -> None:
        """Read what the client is still sending, for a while, and only then let the connection be closed."""
        self.connection.shutdown(socket.SHUT_WR)
        self.connection.settimeout(2.0)
        left = MAX_DISCARDED
        while left > 0 and (part := self.rfile.read1(65536)):
            left -= len(part)

    # --- the answer -----------------------------------------------------------------------------

    def _write(self, response: Response) -> None:
        if self.server.stopping:
            self.close_connection = True
        lines = [f"HTTP/1.1 {response.status} {_phrase(response.status)}", f"Date: {formatdate(usegmt=True)}"]
        lines += [f"{name}: {_one_line(value)}" for name, value in response.headers]
        bodiless = response.status in (204, 304) or response.status < 200
        if not bodiless:
            lines.append(f"Content-Length: {len(response.body)}")
        if self.close_connection:
            lines.append("Connection: close")
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
        self.connection.sendall(head if bodiless or self.command == "HEAD" else head + response.body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Called by the standard library too, for request lines and headers that it cannot parse."""
        self.close_connection = True
        self.command = getattr(self, "command", None) or "GET"
        request_id = str(uuid.uuid4())
        problem = {
            "type": "about:blank",
            "title": _phrase(code),
            "status": code,
            "detail": explain or message or "The request is not well-formed HTTP.",
            "code": "malformed_http",
            "request_id": request_id,
        }
        headers = [("Content-Type", "application/problem+json"), ("X-Request-Id", request_id)]
        self._write(Response(int(code), headers, json.dumps(problem).encode()))

    def log_message(self, format: str, *args: object) -> None:
        """No access log: the functions write theirs."""


def _read_exactly(stream: io.BufferedIOBase, length: int) -> bytes:
    body = stream.read(length)
    if len(body) < length:
        raise Unreadable("the body ended early")
    return body


def _read_chunked(stream: io.BufferedIOBase) -> bytes:
    """A chunked body with its trailers read away. Raises Unreadable, TooLarge."""
    parts: list[bytes] = []
    total = 0
    while size := _chunk_size(stream.readline(CHUNK_LINE)):
        total += size
        if total > MAX_BODY:
            raise TooLarge
        parts.append(_read_exactly(stream, size))
        if stream.readline(3) != b"\r\n":
            raise Unreadable("a chunk does not end where its size says")
    for _ in range(100):
        if stream.readline(65537) in (b"\r\n", b"\n", b""):
            return b"".join(parts)
    raise Unreadable("too many trailers")


def _chunk_size(line: bytes) -> int:
    digits = line.partition(b";")[0].strip()
    if not line.endswith(b"\n") or not digits or digits.strip(b"0123456789abcdefABCDEF"):
        raise Unreadable("a chunk without a size")
    return int(digits, 16)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def _one_line(value: str) -> str:
    """A header value cannot start a new header."""
    return value.replace("\r", " ").replace("\n", " ")
