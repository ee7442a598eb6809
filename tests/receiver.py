"""A receiver of webhooks on this machine, which keeps what it was sent and answers as it is told."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.patience import PATIENCE_S

Json = dict[str, Any]
Answer = int | None
"""A status; None: none, until the receiver is stopped."""


@dataclass
class Receiver:
    """``answers``: what a delivery is answered with. ``taken``: the events that were answered with 2xx, as they came,
    repeats too; ``asked``: all, with their headers and the bytes of their bodies."""

    answers: Callable[[Json], Answer] = lambda _: 204
    asked: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    taken: list[Json] = field(default_factory=list)
    moved: threading.Condition = field(default_factory=threading.Condition)
    stopped: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/neve"

    def receive(self, headers: dict[str, str], body: bytes) -> Answer:
        event = dict(json.loads(body))
        with self.moved:
            self.asked.append((headers, body))
            answer = self.answers(event)
            if answer is not None and 200 <= answer < 300:
                self.taken.append(event)
            self.moved.notify_all()
        return answer

    def first_times(self, user: str) -> list[str]:
        """The ids of the events about a user, in the order in which each came first."""
        return list(dict.fromkeys(event["id"] for event in list(self.taken) if event.get("user_id") == user))

    def wait_for(self, enough: Callable[[], bool]) -> None:
        with self.moved:
            assert self.moved.wait_for(enough, PATIENCE_S), f"{len(self.taken)} of {len(self.asked)} were taken"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_: object) -> None:
        """Whoever was killed in the middle of a request does not wait for its answer."""


@contextmanager
def receiver(answers: Callable[[Json], Answer] = lambda _: 204) -> Iterator[Receiver]:
    made = Receiver(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            answer = made.receive({name.lower(): value for name, value in self.headers.items()}, body)
            if answer is None:
                made.stopped.wait(PATIENCE_S)
                return
            with suppress(OSError):
                self.send_response(answer)
                self.send_header("content-length", "0")
                self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing: a test says what it has seen."""

    server = _Server(("127.0.0.1", 0), Handler)
    server.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    made.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
