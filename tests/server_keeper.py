"""Who starts the servers of a test run. ``keeper()`` is the one of this process: the servers are its own, or those of
the process that ``ask`` names.

Between the processes of pytest-xdist it is an HTTP server on loopback: ``GET /<server>`` answers with the server's URL,
``GET /all`` with the path of a file for ``NEVE_SERVERS``; both start what was not started yet, and 500 says why they
could not. When the process ends, however it does, so do its servers."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Protocol

from local.stack.jars import Server
from local.stack.servers import HOST, DidNotStart, start_servers
from local.stack.shared import SharedServers
from tests import in_memory

ALL = "all"


class Keeper(Protocol):
    """Both raise DidNotStart, every time once a server failed to start: tests do not wait for it again."""

    def url(self, server: Server) -> str: ...

    def file_of_all(self) -> Path:
        """For the environment variable ``NEVE_SERVERS``."""


class OwnServers:
    """Safe for threads: whoever asks while a start is going on waits for it."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._urls: dict[Server, str] = {}
        self._failures: dict[Server, DidNotStart] = {}
        self._lock = threading.Lock()

    def url(self, server: Server) -> str:
        with self._lock:
            self._start({server})
            return self._urls[server]

    def file_of_all(self) -> Path:
        with self._lock:
            folder = self._start(set(Server))
            file = folder / "servers.json"
            if not file.exists():
                SharedServers(self._urls, folder).write(file)
            return file

    def _start(self, wanted: set[Server]) -> Path:
        """All at once; the folder of everything."""
        for server in wanted & self._failures.keys():
            raise self._failures[server]
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="neve-servers-", dir=in_memory.folder()))
            atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
        missing = [server for server in Server if server in wanted and server not in self._urls]
        if missing:
            try:
                running = start_servers(missing, self._folder, for_many=True)
            except DidNotStart as failure:
                self._failures.update(dict.fromkeys(missing, failure))
                raise
            atexit.register(running.stop)
            self._urls.update(running.urls)
        return self._folder


class AskedServers:
    """Of the process that listens on ``port``."""

    def __init__(self, port: int) -> None:
        self._port = port

    def url(self, server: Server) -> str:
        return self._ask(server)

    def file_of_all(self) -> Path:
        return Path(self._ask(ALL))

    @cache  # noqa: B019 - one object a process
    def _ask(self, what: str) -> str:
        """Without a time limit: the other process has one for a start."""
        connection = HTTPConnection(HOST, self._port)
        try:
            connection.request("GET", f"/{what}")
            answer = connection.getresponse()
            output = answer.read().decode()
        finally:
            connection.close()
        if answer.status != 200:
            raise DidNotStart(output)
        return output


def answer_others(own: OwnServers) -> int:
    """Starts to answer other processes; the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = _answer(own, self.path.removeprefix("/"))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer((HOST, 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="server-keeper", daemon=True).start()
    return server.server_port


def _answer(own: OwnServers, what: str) -> tuple[int, str]:
    asked: Callable[[], object] = own.file_of_all if what == ALL else lambda: own.url(Server(what))
    try:
        return 200, str(asked())
    except DidNotStart as failure:
        return 500, str(failure)


_keeper: Keeper = OwnServers()


def keeper() -> Keeper:
    return _keeper


@cache
def answer_workers() -> int:
    """In the process that hands out the tests: the port for ``ask``. Answers once, for all of them."""
    assert isinstance(_keeper, OwnServers)
    return answer_others(_keeper)


def ask(port: int) -> None:
    """In a process that runs some of the tests of a run."""
    global _keeper
    _keeper = AskedServers(port)
