"""The HTTP client when its kept connection breaks: what it sends once more, and what it must not."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from local.api_client import ApiClient, json_body

PATIENCE_S = 30.0
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


class ClosingServer:
    """Answers the first request on a connection. It reads the second one and hangs up, or hangs up before it
    (``when_idle``). ``requests``: all that it read, by their first line and Idempotency-Key."""

    def __init__(self) -> None:
        self.when_idle = False
        self.hung_up = threading.Event()
        self.requests: list[tuple[str, str | None]] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(PATIENCE_S)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(PATIENCE_S)
                if self._read(connection):
                    connection.sendall(ANSWER)
                    if not self.when_idle:
                        self._read(connection)
            self.hung_up.set()

    def _read(self, connection: socket.socket) -> bool:
        with connection.makefile("rb") as stream:
            first = stream.readline().decode().strip()
            headers = {}
            while line := stream.readline().decode().strip():
                name, _, value = line.partition(": ")
                headers[name.lower()] = value
            stream.read(int(headers.get("content-length", 0)))
        if first:
            self.requests.append((first.removesuffix(" HTTP/1.1"), headers.get("idempotency-key")))
        return bool(first)


@pytest.fixture
def server() -> Iterator[ClosingServer]:
    with closing(ClosingServer()) as server:
        yield server


@pytest.fixture
def client(server: ClosingServer) -> Iterator[ApiClient]:
    with closing(ApiClient(server.base_url)) as client:
        yield client
        client.close()


@pytest.mark.parametrize("method", ["POST", "PATCH", "PUT", "DELETE"])
def test_a_write_that_may_have_been_carried_out_is_not_repeated(
    server: ClosingServer, client: ApiClient, method: str
) -> None:
    client.expect(200, "GET", "/first")
    with pytest.raises(ConnectionError):
        client.call(method, "/write", {"text": "once"})
    assert server.requests == [("GET /first", None), (f"{method} /write", None)]
    assert client.call("POST", "/write", {"text": "again"}).status == 200


def test_a_read_is_repeated(server: ClosingServer, client: ApiClient) -> None:
    client.expect(200, "GET", "/first")
    assert client.call("GET", "/second").status == 200
    assert server.requests == [("GET /first", None), ("GET /second", None), ("GET /second", None)]


def test_a_write_with_an_idempotency_key_is_repeated_with_it(server: ClosingServer, client: ApiClient) -> None:
    client.expect(200, "GET", "/first")
    assert client.call("POST", "/write", {}, headers={"idempotency-key": "k1"}).status == 200
    assert server.requests == [("GET /first", None), ("POST /write", "k1"), ("POST /write", "k1")]


def test_a_connection_that_was_closed_while_idle_is_opened_again(server: ClosingServer, client: ApiClient) -> None:
    server.when_idle = True
    client.expect(200, "GET", "/first")
    assert server.hung_up.wait(PATIENCE_S)
    assert client.call("POST", "/write", {}).status == 200
    assert server.requests == [("GET /first", None), ("POST /write", None)]


def test_a_body_is_no_longer_than_what_it_says() -> None:
    """A text of 900 KB is below the 1 MiB that a call takes; as escapes it would be twice as long."""
    document = {"text": "\u96ea" * 300_000}
    assert len(json_body(document)) < 1024 * 1024
    assert json.loads(json_body(document)) == document
    half = {"text": "\ud800"}
    assert json.loads(json_body(half)) == half, "the service says what is wrong with it"
