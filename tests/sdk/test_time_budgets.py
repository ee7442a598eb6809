"""No call takes longer than its budget, whatever the other end does."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from threading import Event, Thread

import pytest

from sdk.python.neve import AsyncNeve, Neve

BUDGET_S, MOST_S = 0.5, 30.0
"""The second is the budget with all that a busy machine adds: without a budget it would be a minute."""
HEAD = b"HTTP/1.1 200 OK\r\nX-Request-Id: r\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"


def silent(connection: socket.socket, ended: Event) -> None:
    ended.wait()


def dripping(connection: socket.socket, ended: Event) -> None:
    """A byte of the body now and then: every single wait is short."""
    connection.recv(65536)
    connection.sendall(HEAD)
    while not ended.wait(0.1):
        connection.sendall(b" ")


@pytest.fixture(params=[silent, dripping], ids=["silent", "dripping"])
def slow(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a server that never comes to an end."""
    behave: Callable[[socket.socket, Event], None] = request.param
    ended = Event()

    def serve(server: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = server.accept()
                Thread(target=handle, args=(connection,), daemon=True).start()

    def handle(connection: socket.socket) -> None:
        with closing(connection), suppress(OSError):
            behave(connection, ended)

    server = socket.create_server(("127.0.0.1", 0))
    Thread(target=serve, args=(server,), daemon=True).start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}"
    ended.set()
    server.close()


CALLS = {
    "append": lambda s: s.append("hi"),
    "turn": lambda s: s.turn("hi"),
    "context": lambda s: s.context("hi"),
    "pack": lambda s: s.pack(),
    "recall": lambda s: s.recall("hi"),
    "flush": lambda s: s.flush(),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_ends_within_its_budget(call: str, slow: str) -> None:
    neve = Neve("nv_x", slow, timeouts=dict.fromkeys((*CALLS, "usage"), BUDGET_S), linger=0)
    s = neve.user("ada").session("s1")
    began = time.monotonic()
    CALLS[call](s)
    assert time.monotonic() - began < MOST_S
    s.conversation.clear()
    neve.close()


@pytest.mark.parametrize("call", CALLS)
def test_a_call_of_asyncio_ends_within_its_budget(call: str, slow: str) -> None:
    async def called() -> float:
        neve = AsyncNeve("nv_x", slow, timeouts=dict.fromkeys((*CALLS, "usage"), BUDGET_S), linger=0)
        s = neve.user("ada").session("s1")
        began = time.monotonic()
        await CALLS[call](s)
        took = time.monotonic() - began
        s.conversation.clear()
        await neve.aclose()
        return took

    assert asyncio.run(called()) < MOST_S
