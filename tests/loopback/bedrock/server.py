"""Bedrock's runtime over HTTP: what it takes is answered with a call of the request's tool, or as a test has queued."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.loopback.bedrock import rules
from tests.loopback.refusal import Json, Refused

REGION = "eu-central-1"
KEY, SECRET = "AKIDLOOPBACK", "loopback-secret"


@dataclass(frozen=True, slots=True)
class Failing:
    """An error in AWS's form: its name in a header, its sentence in the body."""

    status: int
    name: str
    sentence: str = "no"
    delay_s: float = 0.0


@dataclass(slots=True)
class Bedrock:
    """``requests``: the bodies that were taken, ``models``: what they were sent to, ``refused``: why others were not.
    ``calls``: what the model says when it calls the tool. ``failing``: what it answers first, in order."""

    url: str = ""
    calls: Json = field(default_factory=dict)
    failing: deque[Failing] = field(default_factory=deque)
    requests: list[Json] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    attempts: int = 0


@contextmanager
def running() -> Iterator[Bedrock]:
    """Serve on this machine until the block ends."""
    bedrock = Bedrock()

    class Handler(_Handler):
        provider = bedrock

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    bedrock.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield bedrock
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    provider: Bedrock

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.provider.attempts += 1
        model = rules.model_of(self.path)
        if model is None:
            self._fail(Failing(404, "UnknownOperationException", f"there is no {self.path}"))
            return
        try:
            headers = {name.lower(): value for name, value in self.headers.items()}
            rules.check_signature(self.path, headers, raw, SECRET, REGION)
            asked = rules.check(json.loads(raw), model)
        except rules.NotSigned as error:
            self.provider.refused.append(str(error))
            self._fail(Failing(403, str(error)))
        except Refused as refused:
            self.provider.refused.append(str(refused))
            self._fail(Failing(400, "ValidationException", str(refused)))
        else:
            self._answer(asked, model)

    def log_message(self, format: str, *args: object) -> None:
        """Keep what http.server would print out of a test's output."""

    def _answer(self, asked: Json, model: str) -> None:
        if self.provider.failing:
            self._fail(self.provider.failing.popleft())
            return
        self.provider.requests.append(asked)
        self.provider.models.append(model)
        call = {"type": "tool_use", "id": "toolu_bdrk_1", "name": asked["tools"][0]["name"]}
        self._json(
            200,
            {
                "id": "msg_bdrk_1",
                "type": "message",
                "role": "assistant",
                "model": model.rpartition("anthropic.")[2],
                "content": [{**call, "input": self.provider.calls}],
                "stop_reason": "tool_use",
                "stop_sequence": None,
                "usage": {
                    "input_tokens": 120,
                    "cache_read_input_tokens": 1800,
                    "cache_creation_input_tokens": 7,
                    "output_tokens": 45,
                },
            },
        )

    def _fail(self, failing: Failing) -> None:
        time.sleep(failing.delay_s)
        name = f"{failing.name}:http://internal.amazon.com/coral/com.amazon.bedrock/"
        self._json(failing.status, {"message": failing.sentence}, {"x-amzn-ErrorType": name})

    def _json(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        content = json.dumps(value).encode()
        with suppress(OSError):
            self.send_response(status)
            for name, text in {"Content-Type": "application/json", **(headers or {})}.items():
                self.send_header(name, text)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
