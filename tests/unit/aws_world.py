"""What the tests of AWS adapters stand on: a session, moto, and a loopback server that answers in order what a test
gives it, for real clients to talk to."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from boto3 import Session

# moto only reaches clients of sessions that were made after its import: whoever uses it takes it from here
from moto import mock_aws as mock_aws

SESSION = Session(aws_access_key_id="test", aws_secret_access_key="test", region_name="us-east-1")


@dataclass(frozen=True)
class Reply:
    """``body``: bytes, or a value that is sent as JSON. ``delay_s``: before the first byte. ``lost``: the connection
    ends without an answer. ``cut``: so many bytes of the body less than announced."""

    status: int = 200
    body: Any = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    lost: bool = False
    cut: int = 0


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class AnsweringServer(ThreadingHTTPServer):
    """``replies`` are given in the order of the requests, then ``otherwise`` for ever; one that depends on an earlier
    request is a function. ``most_at_once``: how many requests were inside at the same time."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies: list[Reply | Callable[[], Reply]] = []
        self.otherwise = Reply(500)
        self.requests: list[Request] = []
        self.inside = self.most_at_once = 0
        self.guard = Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def enter(self, request: Request) -> Reply:
        with self.guard:
            self.requests.append(request)
            self.inside += 1
            self.most_at_once = max(self.inside, self.most_at_once)
            reply = self.replies.pop(0) if self.replies else self.otherwise
        return reply if isinstance(reply, Reply) else reply()

    def leave(self) -> None:
        with self.guard:
            self.inside -= 1


class _Handler(BaseHTTPRequestHandler):
    server: AnsweringServer
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.enter(Request(self.command, self.path, headers, body))
        try:
            self._send(reply)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            self.server.leave()

    def _send(self, reply: Reply) -> None:
        time.sleep(reply.delay_s)
        self.close_connection = self.close_connection or reply.lost or reply.cut > 0
        if reply.lost:
            return
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[: len(content) - reply.cut])

    def do_GET(self) -> None:
        self._answer()

    def do_PUT(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def log_message(self, *args: Any) -> None:
        """Quiet."""


@contextmanager
def answering_server(kind: type[AnsweringServer] = AnsweringServer) -> Iterator[AnsweringServer]:
    running = kind()
    thread = Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        running.shutdown()
        running.server_close()
        thread.join()


def s3_error(status: int, code: str) -> Reply:
    text = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>no</Message><RequestId>r</RequestId></Error>"
    return Reply(status, text.encode(), {"content-type": "application/xml"})


def json_error(status: int, code: str) -> Reply:
    """As the services that speak JSON refuse; the sentence is one that must not come through."""
    body = {"__type": code, "message": "ann said: a private thing"}
    return Reply(status, body, {"content-type": "application/x-amz-json-1.0", "x-amzn-errortype": code})
