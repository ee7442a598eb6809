"""What CodeDeploy's check calls, on loopback: Lambda's Invoke, and CodeDeploy's own answer to the check."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import unquote

ACCOUNT = "arn:aws:lambda:us-east-1:123456789012:function"
VERDICT = "CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus"


class DeploymentApis:
    """A context manager. ``verdicts``: what CodeDeploy was told, in its own words."""

    def __init__(self) -> None:
        self._server = _Server()
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def run_functions_with(self, invoke: Callable[[str, Any], Any]) -> None:
        """``invoke`` runs a function by its name; what it raises is an unhandled error of the function."""
        self._server.invoke = invoke

    @property
    def verdicts(self) -> list[dict[str, str]]:
        return self._server.verdicts

    @staticmethod
    def version(function: str) -> str:
        """The ARN of a version of a function."""
        return f"{ACCOUNT}:{function}:7"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    invoke: Callable[[str, Any], Any]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.verdicts: list[dict[str, str]] = []


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = cast("_Server", self.server)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        function = re.fullmatch(rf"/2015-03-31/functions/{ACCOUNT}:(\w+):7/invocations", unquote(self.path))
        if function:
            try:
                self._answer(server.invoke(function[1], body))
            except Exception as error:
                self._answer({"errorType": type(error).__name__}, {"X-Amz-Function-Error": "Unhandled"})
        elif self.headers.get("X-Amz-Target") == VERDICT:
            server.verdicts.append(body)
            self._answer({"lifecycleEventHookExecutionId": body["lifecycleEventHookExecutionId"]})
        else:
            self.send_error(404)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a failure shows in what the check says."""

    def _answer(self, result: Any, headers: dict[str, str] | None = None) -> None:
        content = json.dumps(result).encode()
        self.send_response(200)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
