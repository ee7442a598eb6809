"""A proxy in front of the service that injects faults: sdk/scenarios/README.md#steps.

``python -m tests.sdk.proxy --upstream URL`` runs it as a process of its own, for tests in other languages; it prints
its address. ``POST /_/fault``, ``POST /_/heal`` and ``GET /_/sent`` steer it."""

from __future__ import annotations

import argparse
import http.client
import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any
from urllib.parse import urlsplit

NOT_PASSED_ON = {"host", "connection", "content-length", "transfer-encoding", "keep-alive"}
UPSTREAM_WAITS_S = 60.0


@dataclass(slots=True)
class Fault:
    """``match``: found in ``METHOD path?query``; ``times``: None for always."""

    match: str
    do: str
    times: int | None = None
    ms: int = 0
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None


@dataclass(slots=True)
class Proxy:
    """What was sent, and which faults are left."""

    upstream: str
    url: str = ""
    faults: list[Fault] = field(default_factory=list)
    sent: list[dict[str, Any]] = field(default_factory=list)
    closing: Event = field(default_factory=Event)
    lock: Lock = field(default_factory=Lock)

    def inject(self, **fault: Any) -> None:
        with self.lock:
            self.faults.append(Fault(**fault))

    def heal(self) -> None:
        """Take all faults away, and forget what was sent."""
        with self.lock:
            self.faults.clear()
            self.sent.clear()

    def note(self, request: dict[str, Any]) -> Fault | None:
        """Keep a request; the fault that it is to have."""
        with self.lock:
            self.sent.append(request)
            for fault in self.faults:
                if re.search(fault.match, request["line"]) and fault.times != 0:
                    if fault.times is not None:
                        fault.times -= 1
                    return fault
        return None


@contextmanager
def running(upstream: str, port: int = 0) -> Iterator[Proxy]:
    """Serve on this machine until the block ends."""
    proxy = Proxy(upstream)

    class Handler(_Handler):
        injecting = proxy

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    proxy.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    injecting: Proxy

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path.startswith("/_/"):
            self._steer(body)
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        line = f"{self.command} {self.path}"
        fault = self.injecting.note({"line": line, "headers": headers, "body": body.decode(errors="replace")})
        if fault is None:
            self._pass_on(body, headers)
        elif fault.do == "refuse":
            self._break_off()
        elif fault.do == "lose":
            self._ask(body, headers)
            self._break_off()
        elif fault.do == "delay":
            if not self.injecting.closing.wait(fault.ms / 1000):
                self._pass_on(body, headers)
        else:
            self._answer(fault)

    def log_message(self, format: str, *args: object) -> None:
        """Keep what http.server would print out of a test's output."""

    def _steer(self, body: bytes) -> None:
        sent: object = {}
        if self.path == "/_/fault":
            self.injecting.inject(**json.loads(body))
        elif self.path == "/_/heal":
            self.injecting.heal()
        else:
            sent = self.injecting.sent
        self._write(200, {"Content-Type": "application/json"}, json.dumps(sent).encode())

    def _ask(self, body: bytes, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        upstream = urlsplit(self.injecting.upstream)
        connection = http.client.HTTPConnection(upstream.netloc, timeout=UPSTREAM_WAITS_S)
        try:
            passed = {name: value for name, value in headers.items() if name not in NOT_PASSED_ON}
            connection.request(self.command, self.path, body or None, passed)
            answer = connection.getresponse()
            kept = {name: value for name, value in answer.getheaders() if name.lower() not in NOT_PASSED_ON}
            return answer.status, kept, answer.read()
        finally:
            connection.close()

    def _pass_on(self, body: bytes, headers: dict[str, str]) -> None:
        try:
            answer = self._ask(body, headers)
        except (OSError, http.client.HTTPException):
            self._break_off()
        else:
            self._write(*answer)

    def _answer(self, fault: Fault) -> None:
        text = fault.body if isinstance(fault.body, str) else json.dumps(fault.body)
        kind = {} if isinstance(fault.body, str) else {"Content-Type": "application/json"}
        self._write(fault.status, kind | fault.headers, text.encode())

    def _write(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        with suppress(OSError):  # the caller may have given up
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    def _break_off(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


for _method in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"):
    setattr(_Handler, f"do_{_method}", _Handler._any)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.sdk.proxy", description=__doc__)
    parser.add_argument("--upstream", required=True, help="the service's address")
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    given = parser.parse_args()
    with running(given.upstream, given.port) as proxy, suppress(KeyboardInterrupt):
        print(proxy.url, flush=True)
        while True:
            time.sleep(3600)


if __name__ == "__main__":
    main()
