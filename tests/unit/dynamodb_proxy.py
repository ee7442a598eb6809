"""A DynamoDB endpoint on loopback that answers as a test says, or passes a request on and may lose the answer: the SDK
and its retries are the real ones."""

from __future__ import annotations

import http.client
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from tests.patience import PATIENCE_S

ERRORS = "com.amazonaws.dynamodb.v20120810#"


@dataclass(frozen=True)
class Answer:
    """What is answered instead of asking the server behind."""

    status: int
    body: Mapping[str, Any]


@dataclass(frozen=True)
class LoseAnswer:
    """The request is carried out (or not), then ``meanwhile`` runs, and the connection ends without an answer."""

    meanwhile: Callable[[], object] = lambda: None
    carried_out: bool = True


class PassOn:
    """The server behind answers."""


Step = Answer | LoseAnswer | PassOn


def refusal(code: str, status: int = 400, **more: Any) -> Answer:
    return Answer(status, {"__type": ERRORS + code, "message": "as the test says", **more})


def cancellation(*codes: str) -> Answer:
    """A cancelled transaction with one reason for each operation."""
    reasons = [{"Code": code} | ({} if code == "None" else {"Message": "as the test says"}) for code in codes]
    return refusal("TransactionCanceledException", CancellationReasons=reasons)


@dataclass
class DynamoDbProxy:
    """``script``: one step for each request to come; a request without one is passed on to ``behind``."""

    behind: str | None = None
    script: deque[Step] = field(default_factory=deque)
    url: str = ""
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def operations(self) -> list[str]:
        return [operation for operation, _ in self.requests]

    def pass_on(self, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        assert self.behind is not None, "no server behind this proxy, and no step in its script"
        connection = http.client.HTTPConnection(urlsplit(self.behind).netloc, timeout=PATIENCE_S)
        try:
            connection.request("POST", "/", body, dict(headers))
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


@contextmanager
def dynamodb_proxy(behind: str | None = None) -> Iterator[DynamoDbProxy]:
    proxy = DynamoDbProxy(behind)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            proxy.requests.append((self.headers["X-Amz-Target"].partition(".")[2], json.loads(body)))
            step = proxy.script.popleft() if proxy.script else PassOn()
            if isinstance(step, Answer):
                self._answer(step.status, json.dumps(step.body).encode())
            elif isinstance(step, PassOn):
                self._answer(*proxy.pass_on(dict(self.headers), body))
            else:
                if step.carried_out:
                    status, answer = proxy.pass_on(dict(self.headers), body)
                    assert status == 200, answer
                step.meanwhile()
                self.close_connection = True

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.0")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    proxy.url = f"http://127.0.0.1:{server.server_address[1]}"
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    serving.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
