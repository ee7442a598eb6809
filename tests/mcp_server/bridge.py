"""Takes HTTP requests to the function as its gateway does, with a user's token, which the conformance suite cannot
send."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from neve_mcp.calls import Answered
from neve_mcp.web import Web
from tests.unit.mcp_server.host import Api, answered, event_of, token_of


@contextmanager
def bridged() -> Iterator[str]:
    """Serve until the block ends. Gives the address."""
    web = Web(Api(lambda _, path, *__: Answered(200, {}, b"Ada.") if "/pack" in path else answered(content="Found.")))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            headers["authorization"] = f"Bearer {token_of('ada')}"
            answer = web.answer(event_of(self.command, headers, body))
            content = answer["body"].encode()
            self.send_response(answer["statusCode"])
            for name, value in {**answer["headers"], "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = _answer  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
    finally:
        server.shutdown()
        server.server_close()
