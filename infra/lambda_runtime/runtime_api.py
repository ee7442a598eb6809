"""The Lambda Runtime API on loopback: hands events to one runtime client and takes its answers.

https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html, version 2018-06-01."""

from __future__ import annotations

import json
import queue
import sys
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, cast

PREFIX = "/2018-06-01/runtime"
HOST = "127.0.0.1"
LOOK_S = 0.5
"""Between looks at a client that does not answer."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """``deadline_ms``: a Unix time."""

    request_id: str
    event: bytes
    arn: str
    deadline_ms: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an invocation, or of the start when ``request_id`` is None. ``error`` is what the runtime client
    reported: ``errorType``, ``errorMessage``, ``stackTrace``. ``at``: when, as a ``time.perf_counter()``."""

    request_id: str | None
    result: Any
    error: dict[str, Any] | None
    at: float


class NoOutcome(Exception):
    """The function answered nothing in the time that it had."""


class RuntimeApi:
    """A context manager. One runtime client at a time may use it."""

    def __init__(self) -> None:
        self._server = _Server()
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def address(self) -> str:
        """For ``AWS_LAMBDA_RUNTIME_API``."""
        return f"{HOST}:{self._server.server_address[1]}"

    @property
    def first_asked(self) -> float | None:
        """When the client asked for its first event, as a ``time.perf_counter()``: the end of its start."""
        return self._server.first_asked

    def invoke(self, function: str, event: Any, timeout_s: float, alive: Callable[[], bool]) -> Outcome:
        """Hand over an event and wait for what becomes of it. Raises NoOutcome after ``timeout_s``, or once the client
        is no longer ``alive``."""
        arn = f"arn:aws:lambda:eu-central-1:123456789012:function:{function}"
        deadline_ms = int((time.time() + timeout_s) * 1000)
        self._server.events.put(Invocation(str(uuid.uuid4()), json.dumps(event).encode(), arn, deadline_ms))
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            ended = not alive()
            try:
                return self._server.outcomes.get(timeout=LOOK_S)
            except queue.Empty:
                if ended:
                    raise NoOutcome(f"{function} ended without an answer") from None
        raise NoOutcome(f"{function} did not answer in {timeout_s:.0f} s")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.events.put(None)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__((HOST, 0), _Handler)
        self.events: queue.Queue[Invocation | None] = queue.Queue()
        self.outcomes: queue.Queue[Outcome] = queue.Queue()
        self.first_asked: float | None = None

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was ended while it waited for an event is no error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """The next event; answered when there is one."""
        if self.path != f"{PREFIX}/invocation/next":
            self._answer(404, {}, b"")
            return
        if self._api.first_asked is None:
            self._api.first_asked = time.perf_counter()
        invocation = self._api.events.get()
        if invocation is None:
            self.close_connection = True
            return
        headers = {
            "Content-Type": "application/json",
            "Lambda-Runtime-Aws-Request-Id": invocation.request_id,
            "Lambda-Runtime-Deadline-Ms": str(invocation.deadline_ms),
            "Lambda-Runtime-Invoked-Function-Arn": invocation.arn,
            "Lambda-Runtime-Trace-Id": "Root=1-691f8a00-0123456789abcdef01234567;Parent=0123456789abcdef;Sampled=0",
        }
        self._answer(200, headers, invocation.event)

    def do_POST(self) -> None:
        """A result, an error of an invocation, or of the start."""
        at, body = time.perf_counter(), self._body()
        parts = self.path.removeprefix(PREFIX).strip("/").split("/")
        match parts:
            case ["invocation", request_id, "response"]:
                outcome = Outcome(request_id, json.loads(body), None, at)
            case ["invocation", request_id, "error"]:
                outcome = Outcome(request_id, None, json.loads(body), at)
            case ["init", "error"]:
                outcome = Outcome(None, None, json.loads(body), at)
            case _:
                self._answer(404, {}, b"")
                return
        self._answer(202, {"Content-Type": "application/json"}, b'{"status":"OK"}')
        self._api.outcomes.put(outcome)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the functions' own output is what matters."""

    @property
    def _api(self) -> _Server:
        return cast("_Server", self.server)

    def _body(self) -> bytes:
        """With its length in front, or in chunks, as the runtime client sends large answers."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        """In one write: header and body apart would wait 40 ms for the client's delayed acknowledgement."""
        lines = [f"HTTP/1.1 {status} {self.responses[status][0]}", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.wfile.write("\r\n".join([*lines, "", ""]).encode() + body)
