"""The provider over HTTP, and what a test steers it by: ``/_/script``, ``/_/requests``, ``/_/clock``, ``/_/reset``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

from tests.loopback import (
    anthropic_answers,
    anthropic_rules,
    openai_answers,
    openai_rules,
    responses_answers,
    responses_rules,
)
from tests.loopback.batches.batches import Batches, NoSuchBatch
from tests.loopback.prefix_cache import Accounted, PrefixCache, content_of
from tests.loopback.refusal import Json, Refused
from tests.loopback.script import Script, Step, last_text

HANGS_AT_MOST_S = 120.0
BATCHES = "/v1/messages/batches"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one endpoint checks and answers."""

    check: Callable[[object], Json]
    account: Callable[[PrefixCache, Json], Accounted]
    answer: Callable[[Json, Step, Accounted], Json]
    stream: Callable[[Json, Json], Iterator[bytes]]
    messages: str


def _openai(cache: PrefixCache, body: Json) -> Accounted:
    return cache.openai(body["model"], content_of(body))


DIALECTS = {
    "/v1/messages": Dialect(
        anthropic_rules.check,
        PrefixCache.anthropic,
        anthropic_answers.message,
        lambda _, whole: anthropic_answers.events(whole),
        "messages",
    ),
    "/v1/chat/completions": Dialect(
        openai_rules.check, _openai, openai_answers.completion, openai_answers.chunks, "messages"
    ),
    "/v1/responses": Dialect(
        responses_rules.check,
        _openai,
        responses_answers.response,
        lambda _, whole: responses_answers.events(whole),
        "input",
    ),
}


@dataclass(slots=True)
class Loopback:
    """A running provider. ``requests``: the bodies that were taken; ``refused``: why others were not."""

    minimum: int | None = None
    script: Script = field(default_factory=Script)
    requests: list[Json] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    ahead_s: float = 0.0
    cache: PrefixCache = field(init=False)
    batches: Batches = field(default_factory=Batches)
    url: str = ""
    closing: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget script, requests and cache."""
        self.script.clear()
        self.requests.clear()
        self.refused.clear()
        self.ahead_s = 0.0
        self.batches = Batches(self.url)
        self.cache = PrefixCache(lambda: time.monotonic() + self.ahead_s, self.minimum)

    def will(self, *steps: Step) -> None:
        """What it answers next."""
        self.script.put(steps)

    def end_batches(self, *, expired: bool = False) -> None:
        """Answer what was handed in, by the script."""
        self.batches.end(self._batched, expired=expired)

    def _batched(self, params: Json) -> Json:
        step, dialect = self.script.next(last_text(params["messages"])), DIALECTS["/v1/messages"]
        if step.fail is not None:
            return {"type": "errored", "error": anthropic_answers.failure(500, "the script fails here")}
        answer = dialect.answer(params, step, dialect.account(self.cache, params))
        return {"type": "succeeded", "message": answer}


@contextmanager
def running(port: int = 0, minimum: int | None = None) -> Iterator[Loopback]:
    """Serve on this machine until the block ends. ``minimum``: tokens that can be cached, else the models' own."""
    loopback = Loopback(minimum)

    class Handler(_Handler):
        provider = loopback

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    loopback.url = loopback.batches.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield loopback
    finally:
        loopback.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    provider: Loopback

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(raw or b"null")
        except ValueError:
            self._fail(400, "the body is no JSON", None)
            return
        if self.path.startswith("/_/"):
            self._steer(body)
        elif self.path.startswith(BATCHES):
            self._batches("POST", body)
        elif (dialect := DIALECTS.get(self.path)) is None:
            self._fail(404, f"there is no {self.path}", None)
        elif why := self._unauthorized():
            self._fail(401, why, None)
        else:
            self._complete(dialect, body)

    def do_GET(self) -> None:
        if self.path == "/_/requests":
            self._json(200, {"requests": self.provider.requests, "refused": self.provider.refused})
        else:
            self._batches("GET", None)

    def do_DELETE(self) -> None:
        self._batches("DELETE", None)

    def _batches(self, method: str, body: object) -> None:
        if not self.path.startswith(BATCHES):
            self._fail(404, f"there is no {self.path}", None)
        elif why := self._unauthorized():
            self._fail(401, why, None)
        else:
            try:
                self._send(200, self.provider.batches.handle(method, self.path, body))
            except NoSuchBatch as missing:
                self._fail(404, f"there is no {missing}", None)
            except Refused as refused:
                self.provider.refused.append(str(refused))
                self._fail(400, str(refused), refused.where)

    def log_message(self, format: str, *args: object) -> None:
        """Keep what http.server would print out of a test's output."""

    def _steer(self, body: Any) -> None:
        try:
            if self.path == "/_/script":
                self.provider.will(*(Step.of(step) for step in body))
            elif self.path == "/_/clock":
                self.provider.ahead_s += float(body["advance_s"])
            elif self.path == "/_/reset":
                self.provider.reset()
            else:
                raise ValueError(f"there is no {self.path}")
        except (ValueError, TypeError, KeyError) as error:
            self._json(400, {"error": str(error)})
            return
        self._json(200, {})

    def _unauthorized(self) -> str | None:
        found = self.headers.get("Authorization", "")
        bearer = found.startswith("Bearer ") and len(found) > len("Bearer ")
        if not self.path.startswith("/v1/messages"):
            return None if bearer else "You didn't provide an API key."
        if not bearer and not self.headers.get("x-api-key"):
            return "x-api-key header is required"
        return None if self.headers.get("anthropic-version") else "anthropic-version: header is required"

    def _complete(self, dialect: Dialect, body: object) -> None:
        try:
            asked = dialect.check(body)
        except Refused as refused:
            self.provider.refused.append(str(refused))
            self._fail(400, str(refused), refused.where)
            return
        step = self.provider.script.next(last_text(asked[dialect.messages]))
        if step.fail in ("429", "500"):
            self._fail(int(step.fail), "the script fails here", None)
            return
        if step.fail == "hang":
            self.provider.closing.wait(HANGS_AT_MOST_S)
            self.close_connection = True
            return
        undeclared = {call["name"] for call in step.tool_calls} - _names(asked)
        if undeclared:
            self.provider.refused.append(f"the script calls {sorted(undeclared)}, which the request does not declare")
            self._fail(400, self.provider.refused[-1], "tools")
            return
        self.provider.requests.append(asked)
        whole = dialect.answer(asked, step, dialect.account(self.provider.cache, asked))
        if asked.get("stream"):
            self._stream(dialect.stream(asked, whole), cut=step.fail == "cut")
        else:
            self._json(200, whole)

    def _stream(self, events: Iterable[bytes], *, cut: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        sent = list(events)
        with suppress(OSError):  # the caller may stop in the middle
            for event in sent[: len(sent) // 2] if cut else sent:
                self.wfile.write(event)
                self.wfile.flush()

    def _fail(self, status: int, why: str, where: str | None) -> None:
        if self.path.startswith("/v1/messages"):
            self._json(status, anthropic_answers.failure(status, why))
        else:
            self._json(status, openai_answers.failure(status, why, where))

    def _json(self, status: int, value: object) -> None:
        self._send(status, json.dumps(value))

    def _send(self, status: int, text: str) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if status == 429:
            self.send_header("Retry-After", "0")
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(content)


def _names(body: Json) -> set[str]:
    return {tool.get("name") or tool["function"]["name"] for tool in body.get("tools") or ()}
