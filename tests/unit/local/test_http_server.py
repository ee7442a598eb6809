"""What the local HTTP server does when the machine has nothing left to give it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPException

import pytest

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
