"""What the local HTTP server does when the machine has nothing left to give it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPException

import pytest

from local.http import server as serving
from local.http.message import Request, Response
from local.http.server import HttpServer
from tests.patience import PATIENCE_S


class Hello:
    def handle(self, request: Request) -> Response:
        return Response(200, [], b"hello")

    def refuse(self, kind: str) -> Response:
        raise AssertionError(kind)


@pytest.fixture
def server() -> Iterator[HttpServer]:
    made = HttpServer(0)
    made.start(Hello())
    yield made
    made.stop()


def ask(server: HttpServer) -> bytes:
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)) as connection:
        connection.request("GET", "/")
        return connection.getresponse().read()


def test_a_connection_that_gets_no_thread_is_closed_and_the_next_one_is_served(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container may have so many threads, and every open connection has one."""
    start, refused = threading.Thread.start, [RuntimeError("can't start new thread")]

    def starting(thread: threading.Thread) -> None:
        if thread.name == "connection" and refused:
            raise refused.pop()
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", starting)
    with pytest.raises((OSError, HTTPException)):
        ask(server)
    assert refused == []
    assert ask(server) == b"hello"


HEAD = b"POST / HTTP/1.1\r\nHost: neve\r\nContent-Length: 4\r\n"
UNFINISHED = {
    "a line": b"POST / HT",
    "a head": HEAD,
    "no body": HEAD + b"\r\n",
    "a part of a body": HEAD + b"\r\nab",
    "a chunk": b"POST / HTTP/1.1\r\nHost: neve\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
}


def answers(server: HttpServer, *parts: bytes) -> bytes:
    """All that comes back until the server closes the connection."""
    with closing(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)) as client:
        for part in parts:
            client.sendall(part)
        return b"".join(iter(lambda: client.recv(65536), b""))


@pytest.mark.parametrize("sent", UNFINISHED.values(), ids=UNFINISHED.keys())
def test_a_request_that_is_never_finished_ends(
    server: HttpServer, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else whoever sends half of one would hold a thread for ever."""
    monkeypatch.setattr(serving, "REQUEST_S", 0.05)
    told = answers(server, sent)
    assert told.startswith(b"HTTP/1.1 400")
    assert b"had not arrived as a whole after 0.05 s" in told
    assert ask(server) == b"hello"


def test_the_next_request_of_a_connection_has_a_time_of_its_own(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "REQUEST_S", 0.05)
    told = answers(server, HEAD + b"\r\nabcd", b"GET / HTTP/1.1\r\nHost: ne")
    assert told.startswith(b"HTTP/1.1 200")
    assert told.count(b"HTTP/1.1 ") <= 2 and b"hello" in told


def test_a_request_in_parts_is_answered(server: HttpServer) -> None:
    told = answers(
        server, b"POST / HT", b"TP/1.1\r\nHost: neve\r\nConnection: close\r\nContent-Length: 4\r\n\r\na", b"bcd"
    )
    assert told.startswith(b"HTTP/1.1 200")
    assert told.endswith(b"hello")
